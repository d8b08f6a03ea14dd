package demo

import "time"

// sessionKind says how a session spends its life.
type sessionKind uint8

const (
	lasting sessionKind = iota // runs until the demo ends
	turning                    // ends after some minutes; another run takes its place
	resting                    // has no live registry: paused, suspended, hibernated or done
)

// session is one agent run, or for a turning one a row of runs.
type session struct {
	kind    sessionKind
	where   instance
	first   int32 // index of its first workspace; resting sessions have none
	count   int32
	started time.Duration // of a turning session: shift of its cycles
	period  time.Duration // of a turning session: length of one run
	alias   string        // an id that needs escaping, instead of a made one
	runtime runtime
}

// runtime is where the agent of a session runs. It decides which providers its workspaces may have.
type runtime uint8

const (
	jsRuntime runtime = iota
	durableObject
)

func (r runtime) String() string { return [...]string{"js", "durable-object"}[r] }

// marks are oddities of one workspace.
type marks uint8

const (
	markLegacy  marks = 1 << iota // its server reports lastOpAt only
	markHostile                   // its name tries to harm a terminal
	markUnnamed                   // its session speaks the edition without names
	markShared                    // its sandbox id is shared across sessions
)

// workspace is one registry entry.
type workspace struct {
	session   int32
	trouble   int32 // index into fleet.troubles, or noIndex
	position  uint8 // position within its session
	provider  provider
	behaviour behaviour
	marks     marks
	rhythm    rhythm
}

type provider uint8

const (
	inMemory provider = iota
	localBash
	localSandbox
	dockerHost
	filestore
	cloudSandbox
	providers
)

func (p provider) String() string {
	return [...]string{"in-memory", "local-bash", "local-sandbox", "docker", "cloudflare-filestore", "cloudflare-sandbox"}[p]
}

// hasShell reports whether a provider runs commands.
func (p provider) hasShell() bool { return p != inMemory && p != filestore }

// behaviour is the pace of a workspace's operations while it has no trouble.
type behaviour uint8

const (
	steady  behaviour = iota // short operations at an even pace
	builder                  // operations that take minutes
	sleeper                  // long idle, then one slow operation
	unused                   // declared, never opened
	hiccup                   // evicted every ten minutes, recovers by retry
)

// createSessions creates sessions until exactly size workspaces have a live registry.
func (f *fleet) createSessions(size int) {
	f.workspaces = make([]workspace, 0, size)
	for left := size; left > 0; {
		h := f.random.value(saltSession, len(f.sessions), 0)
		s := session{kind: lasting, where: eu, first: int32(len(f.workspaces))}
		if percent(h) >= 65 {
			s.where = us
		}
		s.runtime = f.drawRuntime(len(f.sessions), s.where)
		if h%10 == 9 {
			s.kind = resting
		} else {
			s.count = int32(min(workspacesOf(h>>8), left))
			left -= int(s.count)
			f.addWorkspaces(int32(len(f.sessions)), s)
		}
		f.order[s.where] = append(f.order[s.where], int32(len(f.sessions)))
		f.sessions = append(f.sessions, s)
	}
	f.hot = max(1200, len(f.sessions)*8/100)
	f.dateSessions()
	f.assignProviders(size)
	f.assignBehaviours()
}

// workspacesOf draws 1 to 4 workspaces, two on average.
func workspacesOf(h uint64) int {
	switch p := h % 10; {
	case p < 4:
		return 1
	case p < 7:
		return 2
	case p < 9:
		return 3
	default:
		return 4
	}
}

func (f *fleet) addWorkspaces(slot int32, s session) {
	for place := range s.count {
		f.workspaces = append(f.workspaces, workspace{session: slot, trouble: noIndex, position: uint8(place)})
	}
}

// dateSessions makes early slots the newest runs, and one busy session in fifty
// a turning one.
func (f *fleet) dateSessions() {
	for i := range f.sessions {
		s := &f.sessions[i]
		h := f.random.value(saltSession, i, 1)
		if i >= f.hot {
			s.started = -20*time.Hour - 8*24*time.Hour/time.Duration(len(f.sessions)-f.hot)*time.Duration(i-f.hot)
			continue
		}
		s.started = -5*time.Minute - 15*time.Hour*time.Duration(i)/time.Duration(f.hot) - between(h, 0, time.Minute)
		if s.kind == lasting && h%50 == 0 {
			s.kind = turning
			s.period = between(h>>8, 12*time.Minute, 25*time.Minute)
			s.started = -between(h>>16, time.Minute, s.period)
		}
	}
}

// maxContainers bounds the containers of a very large fleet: the list of a real
// engine of that size would be tens of megabytes.
const maxContainers = 2000

// assignProviders gives each workspace a provider of its session's runtime.
func (f *fleet) assignProviders(size int) {
	boxes := min(max(1, size*196/defaultWorkspaces), maxContainers)
	for i := range f.workspaces {
		w := &f.workspaces[i]
		s := &f.sessions[w.session]
		w.provider = pick(percent(f.random.value(saltProvider, i, 0)), providersOf(s.where, s.runtime))
		if w.provider != dockerHost {
			continue
		}
		if boxes == 0 || s.kind == turning {
			w.provider = localBash
			continue
		}
		boxes--
	}
}

// drawRuntime: every fourth session of helix-eu runs in a Durable Object, two of three of helix-us.
func (f *fleet) drawRuntime(slot int, where instance) runtime {
	p, durable := percent(f.random.value(saltProvider, slot, 1)), 26
	if where == us {
		durable = 66
	}
	if p < durable {
		return durableObject
	}
	return jsRuntime
}

func providersOf(where instance, r runtime) []share {
	switch {
	case r == durableObject && where == us:
		return []share{{40, cloudSandbox}, {100, filestore}}
	case r == durableObject:
		return []share{{54, cloudSandbox}, {100, filestore}}
	case where == us:
		return []share{{41, localBash}, {65, localSandbox}, {100, inMemory}}
	}
	return []share{{35, dockerHost}, {76, localBash}, {85, localSandbox}, {100, inMemory}}
}

type share struct {
	below int
	of    provider
}

func pick(p int, shares []share) provider {
	for _, s := range shares {
		if p < s.below {
			return s.of
		}
	}
	return shares[len(shares)-1].of
}

// assignBehaviours lets every workspace of the busy part work at its own pace, and the
// rest of a large fleet sleep for days, as it would.
func (f *fleet) assignBehaviours() {
	for i := range f.workspaces {
		w := &f.workspaces[i]
		h := f.random.value(saltRhythm, i, 0)
		if int(w.session) >= f.hot {
			w.behaviour = sleeper
			w.rhythm = newRhythm(h, 48*time.Hour, 140*time.Hour, 2*time.Second, 20*time.Second)
			continue
		}
		switch p := percent(h); {
		case p < 86:
			w.behaviour = steady
			w.rhythm = newRhythm(h, 15*time.Second, 270*time.Second, 100*time.Millisecond, 4*time.Second)
		case p < 90:
			w.behaviour = builder
			w.rhythm = newRhythm(h, 7*time.Minute, 15*time.Minute, 30*time.Second, 200*time.Second)
		case p < 96:
			w.behaviour = sleeper
			w.rhythm = newRhythm(h, 50*time.Minute, 4*time.Hour, 8*time.Second, 45*time.Second)
		default:
			w.behaviour = unused
		}
	}
}
