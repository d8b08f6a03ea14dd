package demo

import "time"

// casting hands out workspaces to incidents, each at most once.
type casting struct {
	f    *fleet
	pool []int32
	used []bool
	size int
}

// assignParts gives the acts of the scenario to workspaces of the busy part.
func (f *fleet) assignParts() {
	c := newCasting(f)
	c.oddSessions()
	a := f.acts
	if a.flood {
		c.castFlooder()
	}
	if a.hostile {
		c.castHostile()
	}
	if a.failed {
		c.castFailed()
	}
	if a.broken {
		c.castBroken()
	}
	if a.hammered {
		c.castHammered()
	}
	if a.storm {
		c.castStorm(a.wide)
	}
	c.castHiccups()
}

func newCasting(f *fleet) *casting {
	c := &casting{f: f, used: make([]bool, len(f.workspaces)), size: len(f.workspaces)}
	for i := range f.workspaces {
		s := f.workspaces[i].session
		if int(s) < f.hot && f.sessions[s].kind == lasting {
			c.pool = append(c.pool, int32(i))
		}
	}
	for i := len(c.pool) - 1; i > 0; i-- {
		j := below(f.dice.roll(saltShuffle, i, 0), uint64(i+1))
		c.pool[i], c.pool[j] = c.pool[j], c.pool[i]
	}
	return c
}

type wanted func(w *workspace, s *session) bool

func anyone(w *workspace, _ *session) bool { return w.part == steady }

func uses(p provider) wanted {
	return func(w *workspace, _ *session) bool { return w.part == steady && w.provider == p }
}

func in(where instance, more wanted) wanted {
	return func(w *workspace, s *session) bool { return s.where == where && more(w, s) }
}

// scaled turns a count at the default size into one for this size.
func (c *casting) scaled(n int) int {
	return max(1, (n*c.size+defaultWorkspaces/2)/defaultWorkspaces)
}

// take returns up to n free workspaces that fit; a tiny fleet may have fewer.
func (c *casting) take(n int, fits wanted) []int32 {
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
func (c *casting) oddSessions() {
	for where := range instances {
		got := c.take(1, in(where, func(w *workspace, s *session) bool { return w.part == steady && s.count == 1 }))
		for _, i := range got {
			c.f.workspaces[i].marks |= markUnnamed
			c.f.unnamed[where] = c.f.workspaces[i].session
		}
	}
}

func (c *casting) castFlooder() {
	for _, i := range c.take(1, in(eu, uses(localBash))) {
		c.f.flooder = i
	}
}

// castHostile marks the oddities a console must survive.
func (c *casting) castHostile() {
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
	alone := func(w *workspace, s *session) bool { return w.part == steady && s.count == 1 }
	for _, i := range c.take(1, in(us, alone)) {
		f.workspaces[i].marks |= markLegacy
	}
	for _, i := range c.take(1, in(us, alone)) {
		f.broken = f.workspaces[i].session
	}
	c.cause(c.take(1, anyone), incident{trouble: trouble{cause: causeSecret, word: wordFailed, period: 25 * time.Second},
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

func (c *casting) cause(members []int32, in incident) {
	for _, i := range members {
		c.add(i, in)
	}
}

func (c *casting) add(i int32, in incident) {
	h := c.f.dice.roll(saltTrouble, int(i), 0)
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

// castFailed: one cause with many subjects that is 41 minutes old, one with a
// single subject as old, and some that become old enough before the eyes.
func (c *casting) castFailed() {
	fails := func(why cause, every time.Duration) trouble {
		return trouble{cause: why, word: wordFailed, period: every}
	}
	old := c.take(c.scaled(9), anyone)
	c.cause(old, incident{trouble: fails(causeSchema, 20*time.Second), success: -41 * time.Minute, spread: 30 * time.Second})
	for k, i := range old {
		c.f.troubles[c.f.workspaces[i].trouble].reset = k%3 == 1
	}
	c.cause(c.take(1, anyone), incident{trouble: fails(causeImage, 7*time.Second), success: -41 * time.Minute})
	c.cause(c.take(c.scaled(2), anyone), incident{trouble: fails(causeBackupBucket, 12*time.Second), success: -9*time.Minute - 20*time.Second, spread: 10 * time.Second})
	c.cause(c.take(1, anyone), incident{trouble: fails(causeColdStart, 0), success: -72 * time.Hour, gap: 72*time.Hour - 20*time.Second})
	c.cause(c.take(1, anyone), incident{trouble: fails(causeFirstOpen, 0), success: -40*time.Minute - 4*time.Second, gap: 4 * time.Second, never: true})
	for _, i := range c.take(c.scaled(3), uses(localBash)) {
		c.addLater(i, fails(causeNoSpace, 12*time.Second), between(c.f.dice.roll(saltTrouble, int(i), 1), 20*time.Second, 45*time.Second))
	}
}

// addLater begins a trouble in a workspace that worked until then.
func (c *casting) addLater(i int32, tr trouble, first time.Duration) {
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

// castBroken ties workspaces to containers that do not run.
func (c *casting) castBroken() {
	lost := func(why cause) trouble { return trouble{cause: why, word: wordEvicted, period: 20 * time.Second} }
	for _, at := range []time.Duration{killedLongAgo, killedLately} {
		c.cause(c.take(1, uses(dockerHost)), incident{trouble: lost(causeContainerKilled), success: at - 5*time.Second, gap: 8 * time.Second})
	}
	c.cause(c.take(1, uses(dockerHost)), incident{trouble: lost(causeContainerLoop), success: loopSince - 5*time.Second, gap: 8 * time.Second})
}

// castHammered: most of them still carry the healthy word, because the word of
// an entry says nothing about its operations.
func (c *casting) castHammered() {
	fails := func(why cause, w word, every time.Duration) trouble {
		return trouble{cause: why, word: w, period: every}
	}
	all := c.take(c.scaled(18), anyone)
	c.cause(all, incident{trouble: fails(causeR2, wordHealthy, 4*time.Second), success: -12 * time.Minute, spread: 40 * time.Second})
	for k, i := range all {
		if k%5 == 3 {
			c.f.troubles[c.f.workspaces[i].trouble].word = wordEvicted
		}
	}
	c.cause(c.take(c.scaled(4), anyone), incident{trouble: fails(causeDatabase, wordOpening, 5*time.Second), success: -4*time.Minute - 10*time.Second, spread: 20 * time.Second})
	c.cause(c.take(1, anyone), incident{trouble: fails(causeStuck, wordHealthy, 0), success: -30 * time.Minute, gap: 24 * time.Minute})
}

// When a storm begins and how long it takes to reach its height.
const (
	stormBegin = -2 * time.Minute
	stormRise  = 6 * time.Minute
)

func (c *casting) castStorm(wide bool) {
	// The narrow storm stays where a route tells the provider of a workspace.
	members := c.take(c.scaled(26), in(eu, uses(cloudSandbox)))
	if wide {
		inUse := func(w *workspace, _ *session) bool { return w.part != unused && w.provider == cloudSandbox }
		members = append(members, c.take(c.scaled(212-26), inUse)...)
	}
	for k, i := range members {
		h := c.f.dice.roll(saltTrouble, int(i), 2)
		tr := trouble{cause: causeMaxInstances, word: wordEvicted, period: between(h, 3*time.Second, 7*time.Second)}
		if k%8 == 7 {
			tr.cause = causeInstanceGone
		}
		if k%10 == 4 {
			tr.gives = 3 * time.Minute
		}
		c.addLater(i, tr, stormBegin+between(h>>20, 0, stormRise))
	}
}

// castHiccups gives a few short evictions to every world. Their workspaces work
// often, so that the last success before one is always recent.
func (c *casting) castHiccups() {
	for _, i := range c.take(min(c.scaled(6), 24), in(us, uses(cloudSandbox))) {
		w := &c.f.workspaces[i]
		w.part = hiccup
		w.beat = newRhythm(c.f.dice.roll(saltRhythm, int(i), 1), 12*time.Second, 40*time.Second, 100*time.Millisecond, time.Second)
	}
}
