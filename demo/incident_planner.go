package demo

import (
	"slices"
	"time"
)

// incidentPlanner gives workspaces to incidents, each workspace at most once.
type incidentPlanner struct {
	f    *fleet
	pool []int32
	used []bool
	size int
}

// assignIncidents gives the scenario's incidents to busy workspaces.
func (f *fleet) assignIncidents() {
	c := newIncidentPlanner(f)
	c.oddSessions()
	a := f.incidents
	if a.flood {
		c.planFlooder()
	}
	if a.hostile {
		c.planHostile()
	}
	if a.failed {
		c.planFailed()
	}
	if a.broken {
		c.planBroken()
	}
	if a.hammered {
		c.planHammered()
	}
	if a.storm {
		c.planStorm(a.wide)
	}
	c.planHiccups()
}

func newIncidentPlanner(f *fleet) *incidentPlanner {
	c := &incidentPlanner{f: f, used: make([]bool, len(f.workspaces)), size: len(f.workspaces)}
	for i := range f.workspaces {
		s := f.workspaces[i].session
		if int(s) < f.hot && f.sessions[s].kind == lasting {
			c.pool = append(c.pool, int32(i))
		}
	}
	for i := len(c.pool) - 1; i > 0; i-- {
		j := below(f.random.value(saltShuffle, i, 0), uint64(i+1))
		c.pool[i], c.pool[j] = c.pool[j], c.pool[i]
	}
	return c
}

type workspaceFilter func(w *workspace, s *session) bool

func anyone(w *workspace, _ *session) bool { return w.behaviour == steady }

func uses(any ...provider) workspaceFilter {
	return func(w *workspace, _ *session) bool { return w.behaviour == steady && slices.Contains(any, w.provider) }
}

// of returns the workspaces that a cause can befall: its error names what only some providers have.
func (c cause) of() workspaceFilter {
	switch c {
	case causeSchema: // in-memory stores no reference
		return uses(localBash, localSandbox, dockerHost, filestore, cloudSandbox)
	case causeBackupBucket, causeMaxInstances, causeMaxInstancesFailed, causeInstanceGone:
		return uses(cloudSandbox)
	case causeColdStart, causeImage, causeContainerKilled, causeContainerLoop:
		return uses(dockerHost)
	case causeR2, causeDatabase: // large files, backups and stored references are in services of Cloudflare
		return uses(filestore, cloudSandbox)
	case causeNoSpace, causeFirstOpen, causeStuck, causeSecret:
		return uses(localBash)
	case causeNone:
	}
	return anyone
}

func in(where instance, more workspaceFilter) workspaceFilter {
	return func(w *workspace, s *session) bool { return s.where == where && more(w, s) }
}

// scaled turns a count at the default size into one for this size.
func (c *incidentPlanner) scaled(n int) int {
	return max(1, (n*c.size+defaultWorkspaces/2)/defaultWorkspaces)
}

// take returns up to n free workspaces that fit. A tiny fleet may have fewer.
func (c *incidentPlanner) take(n int, fits workspaceFilter) []int32 {
	var got []int32
	for _, i := range c.pool {
		if len(got) == n {
			break
		}
		w := &c.f.workspaces[i]
		if c.used[i] || !fits(w, &c.f.sessions[w.session]) {
			continue
		}
		c.used[i] = true
		got = append(got, i)
	}
	return got
}

// oddSessions picks one session per instance that speaks the edition without
// workspace names.
func (c *incidentPlanner) oddSessions() {
	for where := range instances {
		got := c.take(1, in(where, func(w *workspace, s *session) bool { return w.behaviour == steady && s.count == 1 }))
		for _, i := range got {
			c.f.workspaces[i].marks |= markUnnamed
			c.f.unnamed[where] = c.f.workspaces[i].session
		}
	}
}

func (c *incidentPlanner) planFlooder() {
	for _, i := range c.take(1, in(eu, uses(localBash))) {
		c.f.flooder = i
	}
}

// planHostile marks the oddities a console must survive.
func (c *incidentPlanner) planHostile() {
	f := c.f
	for _, i := range c.take(1, in(eu, anyone)) {
		f.workspaces[i].marks |= markHostile
	}
	for _, i := range c.take(1, in(eu, anyone)) {
		s := f.workspaces[i].session
		f.sessions[s].alias = "acme/nightly build#7"
		f.alias[f.sessions[s].alias] = s
	}
	for _, i := range c.take(2, in(eu, uses(cloudSandbox))) {
		f.workspaces[i].marks |= markShared
	}
	alone := func(w *workspace, s *session) bool { return w.behaviour == steady && s.count == 1 }
	for _, i := range c.take(1, in(us, alone)) {
		f.workspaces[i].marks |= markLegacy
	}
	for _, i := range c.take(1, in(us, alone)) {
		f.broken = f.workspaces[i].session
	}
	c.cause(c.take(1, causeSecret.of()), incident{trouble: trouble{cause: causeSecret, state: reportedFailed, period: 25 * time.Second},
		success: -14 * time.Minute, spread: time.Minute})
}

// incident is one trouble for a group; success and first of its members are
// spread a little.
type incident struct {
	trouble
	success time.Duration // last success of the group
	gap     time.Duration // from there to the first failed attempt; zero: a few seconds
	spread  time.Duration
	never   bool // no success was ever seen
}

func (c *incidentPlanner) cause(members []int32, in incident) {
	for _, i := range members {
		c.add(i, in)
	}
}

func (c *incidentPlanner) add(i int32, in incident) {
	h := c.f.random.value(saltTrouble, int(i), 0)
	tr := in.trouble
	success := in.success - between(h, 0, in.spread)
	gap := in.gap
	if gap == 0 {
		gap = between(h>>11, 3*time.Second, 20*time.Second)
	}
	tr.success = known(success)
	if in.never {
		tr.success = moment{}
	}
	tr.first = success + gap
	if tr.period > 0 {
		tr.period = between(h>>7, tr.period, tr.period*7/4)
	}
	s := &c.f.sessions[c.f.workspaces[i].session]
	s.started = min(s.started, success-between(h>>17, 2*time.Minute, time.Hour))
	c.f.workspaces[i].trouble = int32(len(c.f.troubles))
	c.f.troubles = append(c.f.troubles, tr)
}

// planFailed makes one cause with many subjects, 41 minutes old, and one with a
// single subject, as old. Some more become old enough while the demo runs.
func (c *incidentPlanner) planFailed() {
	fails := func(why cause, every time.Duration) trouble {
		return trouble{cause: why, state: reportedFailed, period: every}
	}
	old := c.take(c.scaled(9), causeSchema.of())
	c.cause(old, incident{trouble: fails(causeSchema, 20*time.Second), success: -41 * time.Minute, spread: 30 * time.Second})
	for k, i := range old {
		c.f.troubles[c.f.workspaces[i].trouble].reset = k%3 == 1
	}
	c.cause(c.take(1, causeImage.of()), incident{trouble: fails(causeImage, 7*time.Second), success: -41 * time.Minute})
	c.cause(c.take(c.scaled(2), causeBackupBucket.of()), incident{trouble: fails(causeBackupBucket, 12*time.Second), success: -9*time.Minute - 20*time.Second, spread: 10 * time.Second})
	c.cause(c.take(1, in(eu, causeColdStart.of())), incident{trouble: fails(causeColdStart, 0), success: -72 * time.Hour, gap: 72*time.Hour - 20*time.Second})
	c.cause(c.take(1, causeFirstOpen.of()), incident{trouble: fails(causeFirstOpen, 0), success: -40*time.Minute - 4*time.Second, gap: 4 * time.Second, never: true})
	// The host of helix-eu has room, as its figures show.
	for _, i := range c.take(c.scaled(3), in(us, causeNoSpace.of())) {
		c.addLater(i, fails(causeNoSpace, 12*time.Second), between(c.f.random.value(saltTrouble, int(i), 1), 20*time.Second, 45*time.Second))
	}
}

// addLater begins a trouble in a workspace that worked until then.
func (c *incidentPlanner) addLater(i int32, tr trouble, first time.Duration) {
	tr.natural, tr.first = true, first
	c.f.workspaces[i].trouble = int32(len(c.f.troubles))
	c.f.troubles = append(c.f.troubles, tr)
	s := &c.f.sessions[c.f.workspaces[i].session]
	s.started = min(s.started, first-time.Hour)
}

// When containers were killed for want of memory, before the start.
const (
	killedLongAgo = -25 * time.Minute
	killedLately  = -8 * time.Minute
	loopSince     = -12 * time.Minute
)

// planBroken gives workspaces a container that does not run.
func (c *incidentPlanner) planBroken() {
	lost := func(why cause) trouble { return trouble{cause: why, state: reportedEvicted, period: 20 * time.Second} }
	for _, at := range []time.Duration{killedLongAgo, killedLately} {
		c.cause(c.take(1, causeContainerKilled.of()), incident{trouble: lost(causeContainerKilled), success: at - 5*time.Second, gap: 8 * time.Second})
	}
	c.cause(c.take(1, causeContainerLoop.of()), incident{trouble: lost(causeContainerLoop), success: loopSince - 5*time.Second, gap: 8 * time.Second})
}

// planHammered makes workspaces whose operations fail. Those that cannot reach the bucket still report a
// healthy state, because that state does not follow from operations.
func (c *incidentPlanner) planHammered() {
	fails := func(why cause, w reportedState, every time.Duration) trouble {
		return trouble{cause: why, state: w, period: every}
	}
	c.cause(c.take(c.scaled(18), causeR2.of()), incident{trouble: fails(causeR2, reportedHealthy, 4*time.Second), success: -12 * time.Minute, spread: 40 * time.Second})
	c.cause(c.take(c.scaled(4), causeDatabase.of()), incident{trouble: fails(causeDatabase, reportedOpening, 5*time.Second), success: -4*time.Minute - 10*time.Second, spread: 20 * time.Second})
	c.cause(c.take(1, causeStuck.of()), incident{trouble: fails(causeStuck, reportedHealthy, 0), success: -30 * time.Minute, gap: 24 * time.Minute})
}

// When a storm begins and how long it takes to reach its height.
const (
	stormBegin = -2 * time.Minute
	stormRise  = 6 * time.Minute
)

func (c *incidentPlanner) planStorm(wide bool) {
	// The narrow storm stays on the instance whose route reports providers.
	members := c.take(c.scaled(26), in(eu, causeMaxInstances.of()))
	if wide {
		inUse := func(w *workspace, _ *session) bool { return w.behaviour != unused && w.provider == cloudSandbox }
		members = append(members, c.take(c.scaled(212-26), inUse)...)
	}
	for k, i := range members {
		h := c.f.random.value(saltTrouble, int(i), 2)
		tr := trouble{cause: causeMaxInstances, state: reportedEvicted, period: between(h, 3*time.Second, 7*time.Second)}
		if k%8 == 7 {
			tr.cause = causeInstanceGone
		}
		if k%10 == 4 {
			tr.gives = 3 * time.Minute
		}
		c.addLater(i, tr, stormBegin+between(h>>20, 0, stormRise))
	}
}

// planHiccups gives a few short evictions to every world. Their workspaces work
// often, so that the last success before one is always recent.
func (c *incidentPlanner) planHiccups() {
	for _, i := range c.take(min(c.scaled(6), 24), in(us, uses(cloudSandbox))) {
		w := &c.f.workspaces[i]
		w.behaviour = hiccup
		w.rhythm = newRhythm(c.f.random.value(saltRhythm, int(i), 1), 12*time.Second, 40*time.Second, 100*time.Millisecond, time.Second)
	}
}
