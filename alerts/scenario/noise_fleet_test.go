package scenario_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"sandglass/backend"
)

// The providers of the noisy fleet; docker workspaces have containers, local-bash ones scratch directories.
var noisyProviders = []string{"docker", "docker", "cloudflare-sandbox", "local-bash", "cloudflare-filestore", "in-memory"}

// passing are errors that agents meet every day and that go away by themselves.
var passing = []string{
	"WorkspaceFailedError: read ECONNRESET", "WorkspaceFailedError: 503 Service Unavailable", "WorkspaceFailedError: operation timed out after 30000 ms",
	"WorkspaceFailedError: container start was throttled, retrying", "WorkspaceFailedError: socket hang up", "WorkspaceFailedError: lock is held by another operation",
}

// noisyFleet is a healthy installation at work. Everything it does follows from its seed and its clock.
type noisyFleet struct {
	rnd      *rand.Rand
	now      time.Time
	step     time.Duration
	sessions []*noisySession
	size     int // workspaces, about
	born     int // sessions so far
	boxes    int // containers so far
	dirs     int // scratch directories so far
	version  int // of the application
	kills    int64
	booted   time.Time
	free     float64 // share of the root
	rooted   bool    // the root of the scratch directories can be written

	// What the next poll of each source reports.
	helix, docker, host, refs backend.Reading
	counts                    []backend.Count // of logs
	evictions, recoveries     map[string]float64
	changes                   []backend.Event
	lost                      map[string]int // polls that a source is still to lose
	offset                    map[string]time.Duration
	later                     []laterDo
}

type laterDo struct {
	at time.Time
	do func()
}

type noisySession struct {
	id       string
	provider string
	tenant   string
	parent   string
	started  time.Time
	over     time.Time // when it ends
	paused   time.Time // until when, zero: it runs
	work     []*noisyWork
	marked   bool // an incident's own: nothing happens to it by chance
}

type noisyWork struct {
	in               *noisySession
	name             string
	state, err       string
	attempt, success time.Time
	until            time.Time // when the present phase is over
	phase            phase
	idle             time.Time
	box, dir         string
	made             time.Time // when its container was
	edit             func(*backend.Workspace)
}

type phase int

const (
	phaseWork phase = iota
	phaseFlight
	phaseFlaky
	phaseEvicted
)

func newNoisyFleet(seed uint64, step time.Duration, size int) *noisyFleet {
	f := &noisyFleet{rnd: rand.New(rand.NewPCG(seed, 24)), now: time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC), step: step, version: 1, rooted: true, kills: 3,
		evictions: map[string]float64{}, recoveries: map[string]float64{}, lost: map[string]int{}, offset: map[string]time.Duration{}}
	f.booted = f.now.Add(-31 * 24 * time.Hour)
	for n := 0; n < size*114/100; { // about a twelfth of them rests at any time
		n += len(f.begin(nil).work)
	}
	f.size = size
	for range min(size, 14) { // leftovers of former crashes, which a nightly job removes before they are a day old
		f.leftover(f.hours(0, 20))
	}
	return f
}

func (f *noisyFleet) chance(perDay float64) bool {
	return f.rnd.Float64() < perDay*f.step.Hours()/24
}

func (f *noisyFleet) between(a, b time.Duration) time.Duration {
	return a + time.Duration(f.rnd.Int64N(int64(b-a)))
}

func (f *noisyFleet) hours(a, b int) time.Duration {
	return f.between(time.Duration(a)*time.Hour, time.Duration(b)*time.Hour)
}

func (f *noisyFleet) after(d time.Duration, do func()) {
	f.later = append(f.later, laterDo{f.now.Add(d), do})
}

// begin starts a session, a branch of another one if that is given.
func (f *noisyFleet) begin(of *noisySession) *noisySession {
	f.born++
	s := &noisySession{id: fmt.Sprintf("run-%05d", f.born), provider: noisyProviders[f.rnd.IntN(len(noisyProviders))], tenant: fmt.Sprintf("tenant-%d", f.rnd.IntN(6)),
		started: f.now, over: f.now.Add(f.between(20*time.Minute, 7*time.Hour))}
	if of != nil {
		s.parent, s.tenant, s.provider = of.id, of.tenant, of.provider
	}
	for i := range 1 + f.rnd.IntN(4) {
		s.work = append(s.work, &noisyWork{in: s, name: fmt.Sprintf("w%d", i)})
	}
	f.sessions = append(f.sessions, s)
	f.open(s)
	return s
}

// open makes a session's registry anew, after its start or a rest.
func (f *noisyFleet) open(s *noisySession) {
	for _, w := range s.work {
		k := workKey(w)
		f.helix.Ended = slices.DeleteFunc(f.helix.Ended, func(x backend.Key) bool { return x == k })
		*w = noisyWork{in: s, name: w.name, state: "open", box: w.box, made: w.made, dir: w.dir, idle: f.now.Add(f.between(0, 40*time.Minute)), edit: w.edit}
		if w.attempt = f.now.Add(-f.between(0, f.step)); w.attempt.Add(f.between(2*time.Second, 35*time.Second)).Before(f.now) {
			w.success = w.attempt
		} else {
			w.phase, w.until = phaseFlight, f.now
		}
		switch {
		case s.provider == "docker" && w.box == "":
			f.startBox(w)
		case s.provider == "docker":
			f.box(w, backend.SandboxRunning) // it was asleep
		case s.provider == "local-bash":
			f.makeDir(w)
		}
		f.tell(w)
	}
	f.tellSession(s)
}

// fly begins an operation that lasts until a moment.
func (w *noisyWork) fly(until time.Time, f *noisyFleet) {
	w.phase, w.attempt, w.until = phaseFlight, f.now, until
}

// rest closes a session's registry: it is paused, hibernated or drained.
func (f *noisyFleet) rest(s *noisySession, until time.Time) {
	s.paused = until
	for _, w := range s.work {
		k := workKey(w)
		f.helix.Workspaces = slices.DeleteFunc(f.helix.Workspaces, func(e *backend.Workspace) bool { return e.Key == k }) // of a poll that was lost
		f.helix.Ended = append(f.helix.Ended, k)
		f.close(w)
	}
	f.tellSession(s)
}

// close lets go of what is behind a workspace, as its provider is configured to.
func (f *noisyFleet) close(w *noisyWork) {
	if w.box == "" {
		f.dropDir(w)
		return
	}
	if destroys(w.in) {
		f.dropBox(w)
		return
	}
	box := w.box
	f.after(f.between(time.Minute, 9*time.Minute), func() {
		if !w.in.paused.IsZero() && w.box == box {
			f.box(w, backend.SandboxPaused)
		}
	})
}

// destroys says whether a session's containers end with it; the others sleep.
func destroys(s *noisySession) bool { return s.id[len(s.id)-1]%2 == 0 }

// end is the end of a session.
func (f *noisyFleet) end(s *noisySession) {
	f.helix.Ended = append(f.helix.Ended, sessionKeyOf(s))
	for _, w := range s.work {
		f.dropDir(w)
		if w.box != "" {
			f.dropBox(w)
			ref := refKey(s.id, w.name)
			f.after(f.hours(0, 2), func() { f.refs.Ended = append(f.refs.Ended, ref) })
		}
	}
	f.sessions = slices.DeleteFunc(f.sessions, func(x *noisySession) bool { return x == s })
}

// advance moves the fleet on by one step.
func (f *noisyFleet) advance() {
	f.now = f.now.Add(f.step)
	due := f.later
	f.later = nil
	for _, x := range due {
		if x.at.After(f.now) {
			f.later = append(f.later, x)
			continue
		}
		x.do()
	}
	for _, s := range slices.Clone(f.sessions) {
		f.live(s)
	}
	f.daily()
}

// live is what one session does in a step.
func (f *noisyFleet) live(s *noisySession) {
	if s.marked {
		return
	}
	switch {
	case !f.now.Before(s.over):
		f.end(s)
		var parent *noisySession
		if f.rnd.IntN(12) == 0 {
			parent = s
		}
		f.begin(parent)
		return
	case !s.paused.IsZero():
		if !f.now.Before(s.paused) {
			s.paused = time.Time{}
			f.open(s)
		}
		return
	case f.chance(2.5):
		f.rest(s, f.now.Add(f.between(3*time.Minute, 100*time.Minute)))
		return
	}
	spoke := false
	for _, w := range s.work {
		spoke = f.operate(w) || spoke
	}
	f.talk(s, spoke)
}

// operate is what one workspace does in a step; it reports whether anything happened.
func (f *noisyFleet) operate(w *noisyWork) bool {
	over := !f.now.Before(w.until)
	switch w.phase {
	case phaseFlight:
		if !over {
			return false
		}
		w.phase, w.state, w.err, w.success = phaseWork, "open", "", f.now
	case phaseFlaky: // it is retried until it works again
		if !over {
			w.attempt = f.now.Add(-f.between(0, f.step))
			break
		}
		w.phase, w.state, w.err, w.attempt, w.success = phaseWork, "open", "", f.now, f.now
	case phaseEvicted:
		if !over {
			return false
		}
		w.phase, w.state, w.err, w.attempt, w.success = phaseWork, "open", "", f.now, f.now
	case phaseWork:
		if !f.begins(w) {
			return false
		}
	}
	f.tell(w)
	return true
}

// begins chooses what a workspace that works does next; false: nothing.
func (f *noisyFleet) begins(w *noisyWork) bool {
	switch {
	case f.now.Before(w.idle):
		return false
	case f.chance(12): // nobody needs it for a while; its first operation afterwards wakes what is behind it
		w.idle = f.now.Add(f.between(5*time.Minute, 5*time.Hour))
		return false
	case f.chance(6):
		w.fly(f.now.Add(f.between(time.Minute, 4*time.Minute)), f) // a long build
	case f.chance(4):
		f.fail(w, passing[f.rnd.IntN(len(passing))], f.between(20*time.Second, 3*time.Minute))
	case f.chance(2):
		f.evict(w)
	case f.rnd.Float64() < 0.5:
		at := f.now.Add(-f.between(0, f.step))
		w.attempt, w.success = at, at
	default:
		return false
	}
	return true
}

// fail lets a workspace fail for a while; a quarter of them are failed until resetAfterMs or a retry brings them back.
func (f *noisyFleet) fail(w *noisyWork, why string, lasts time.Duration) {
	w.phase, w.err, w.attempt, w.until = phaseFlaky, why, f.now.Add(-time.Second), f.now.Add(lasts)
	if f.rnd.IntN(4) == 0 {
		w.state = "failed"
		w.until = f.now.Add(f.between(time.Minute, 6*time.Minute))
	}
}

// evict takes away what is behind a workspace; the framework brings it back.
func (f *noisyFleet) evict(w *noisyWork) {
	w.phase, w.state, w.err, w.attempt = phaseEvicted, "evicted", "WorkspaceEvictedError: sandbox instance is gone", f.now.Add(-time.Second)
	w.until = f.now.Add(f.between(5*time.Second, 50*time.Second))
	f.evictions[w.in.provider]++
	f.recoveries[w.in.provider]++
	if f.rnd.IntN(50) == 0 { // the retries of one operation ran out, the next one works
		f.count(backend.MetricEvictionExhausted, w.in.id, 1, "workspace tool: eviction retry exhausted")
		f.recoveries[w.in.provider]--
	}
}

// talk is a session's log.
func (f *noisyFleet) talk(s *noisySession, spoke bool) {
	if spoke && f.rnd.IntN(30) == 0 {
		lines := float64(1 + f.rnd.IntN(40))
		f.count(backend.MetricLogLines, s.id, lines, "")
		f.count(backend.MetricLogBytes, s.id, lines*220, "")
		f.count(backend.MetricNamed, s.id, lines, "")
	}
	switch {
	case f.chance(8): // somebody pipes where pipes are not allowed
		f.count(backend.MetricRejections, s.id, float64(1+f.rnd.IntN(4)), "workspace tool: shell metacharacter rejected")
		f.count(backend.MetricRejectedWords, s.id, 1, "cat")
	case f.chance(0.5): // an agent tries the same thing again and again, and gives up
		f.count(backend.MetricRejections, s.id, 30*f.step.Seconds()/30, "workspace tool: command not in allowlist")
		f.count(backend.MetricRejectedWords, s.id, 1, "sudo")
	case f.chance(0.5): // a dump of a large answer
		f.count(backend.MetricLogBytes, s.id, 2_000_000, "")
	}
}

// daily is what happens now and then to the installation.
func (f *noisyFleet) daily() {
	if f.chance(6) { // a provider hiccups: a few of its workspaces fail alike for a minute or two
		why, n := "WorkspaceFailedError: upstream connect error", 3+f.rnd.IntN(5)
		for _, s := range f.sessions {
			if w := s.work[0]; n > 0 && !s.marked && s.paused.IsZero() && w.phase == phaseWork && f.rnd.IntN(20) == 0 {
				f.fail(w, why, f.between(30*time.Second, 2*time.Minute))
				f.tell(w)
				n--
			}
		}
	}
	if f.chance(14) {
		f.leftover(0)
	}
	for _, id := range noisySources {
		switch {
		case f.chance(5):
			f.lost[id] = 1 // a packet is lost
		case f.chance(0.5):
			f.lost[id] = 2 // a restart of the server
		}
		f.offset[id] = f.between(-200*time.Millisecond, 200*time.Millisecond)
	}
	day := f.now.Sub(time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC))
	for _, at := range []time.Duration{7 * time.Hour, 16 * time.Hour} {
		if day >= at && day < at+f.step {
			f.rollout()
		}
	}
	f.hostNow()
}

// rollout replaces the agents' processes one after the other within eight minutes: each one's sessions are drained and go on
// in a new process.
func (f *noisyFleet) rollout() {
	f.version++
	f.change("rollout", fmt.Sprintf("release %d is rolled out", f.version))
	for _, s := range slices.Clone(f.sessions) {
		if s.marked || !s.paused.IsZero() {
			continue
		}
		f.after(f.between(0, 8*time.Minute), func() {
			if s.paused.IsZero() && f.now.Before(s.over) {
				f.rest(s, f.now.Add(f.between(20*time.Second, time.Minute)))
			}
		})
	}
}

func (f *noisyFleet) change(name, text string) {
	f.changes = append(f.changes, backend.Event{Kind: backend.EventChange, At: f.now, Source: "changes", Name: name, Text: backend.Clean(text, 200)})
}
