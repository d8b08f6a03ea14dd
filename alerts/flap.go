package alerts

import (
	"maps"
	"math/bits"
	"time"

	"sandglass/backend"
)

// Flap detection is Icinga's (https://icinga.com/docs/icinga-2/latest/doc/08-advanced-topics/#check-flapping): of the
// last 20 results those that differ from the one before count, newer ones more; flapping starts above 30 % and ends at
// 25 % or below. The weights are those of its code, 0.80 to 1.18.
const (
	flapHistory = 20
	flapStart   = 30.0
	flapStop    = 25.0
)

// flapEvery is how often an alert that does not change gives a result. A change is a result at once.
const flapEvery = time.Minute

// flap is the history of one alert's results: firing or not. It outlives the alert, and is forgotten when it holds no
// change any more. Immutable.
type flap struct {
	Changes uint32    `json:"changes"`      // bit 0 is the newest result; set: it differed from the one before
	On      bool      `json:"on,omitempty"` // the newest result: it fires
	At      time.Time `json:"at"`           // of the newest result, steady
	Flaps   bool      `json:"flaps,omitempty"`
}

// percent is the weighted share of changes, 0 to 99.
func (f flap) percent() float64 {
	sum := 0.0
	for j := range flapHistory {
		if f.Changes>>j&1 == 1 {
			sum += 0.80 + 0.02*float64(flapHistory-1-j)
		}
	}
	return 100 * sum / flapHistory
}

func (f flap) result(on bool) flap {
	f.Changes = f.Changes << 1 & (1<<flapHistory - 1)
	if on != f.On {
		f.Changes |= 1
	}
	f.On = on
	switch p := f.percent(); {
	case p > flapStart+1e-9:
		f.Flaps = true
	case p <= flapStop+1e-9:
		f.Flaps = false
	}
	return f
}

// next adds the results up to now.
func (f flap) next(on bool, now time.Time) flap {
	steady := int(now.Sub(f.At) / flapEvery)
	if on != f.On {
		steady = int((now.Sub(f.At) - 1) / flapEvery)
	}
	for range min(max(steady, 0), flapHistory+1) {
		f = f.result(f.On)
	}
	f.At = f.At.Add(time.Duration(max(steady, 0)) * flapEvery)
	if on != f.On {
		f = f.result(on)
		f.At = now
	}
	return f
}

// why is the text of an alert that is kept only because it flaps.
func (f flap) why() backend.Safe {
	return backend.Textf("not true now; kept while it flaps: it changed %d times in its last %d results (%.1f %%)",
		bits.OnesCount32(f.Changes), flapHistory, f.percent())
}

// verdictOf says what a group's present members are as a result; without data, and of subjects that are no more, there
// is none.
func verdictOf(g *group) (on, is bool) {
	switch {
	case g == nil || len(g.members) == 0:
		return false, true
	case g.count.firing.n > 0:
		return true, true
	case g.count.held.n > 0, g.count.live.n == 0:
		return false, false
	}
	return false, true
}

// flapOf brings one alert's history up to date; was and is are its group before and now.
func (re *ruleEvaluation) flapOf(id groupID, was, is *group) flap {
	f, known := re.old.flaps[id]
	on, judged := verdictOf(is)
	if !known {
		before, told := verdictOf(was)
		if !told || !judged || before == on {
			return flap{}
		}
		f = flap{On: before, At: re.env.Now}
	}
	if !judged {
		f.At = re.env.Now
		return f
	}
	return f.next(on, re.env.Now)
}

// settle brings the histories of all other alerts up to date, and ends what flaps no more.
func (re *ruleEvaluation) settle(groups map[groupID]*group, done map[groupID]flap) map[groupID]*group {
	re.flaps = done
	cloned := len(done) > 0
	for id, before := range re.old.flaps {
		if _, is := done[id]; is {
			continue
		}
		f := re.flapOf(id, re.old.groups[id], re.old.groups[id])
		if re.flaps == nil {
			re.flaps = map[groupID]flap{}
		}
		re.flaps[id] = f
		g := groups[id]
		if g == nil || f.Flaps == before.Flaps {
			continue
		}
		if !cloned {
			groups, cloned = maps.Clone(groups), true
		}
		re.differs = true
		if len(g.members) == 0 {
			delete(groups, id)
			re.emit(g.alert, string(StateResolved), backend.Key{}, describe(g.alert, "resolved; it does not flap any more"))
			continue
		}
		c := *g
		c.flap = f
		re.write(&c)
		groups[id] = &c
		re.transition(g, &c)
	}
	maps.DeleteFunc(re.flaps, func(_ groupID, f flap) bool { return f.Changes == 0 && !f.Flaps })
	return groups
}

// keep is the line of an alert that is not true now but flaps.
func (re *ruleEvaluation) keep(g *group) {
	a := *g.alert
	a.State, a.Flapping, a.Why, a.FoldedUnder = StateFiring, true, g.flap.why(), ""
	if g.alert.State != StateFiring {
		g.since = re.env.Now
		a.Since = re.env.Display(g.since)
	}
	a.Subjects = make([]Subject, len(g.alert.Subjects))
	for i, s := range g.alert.Subjects {
		s.State = StateResolved
		a.Subjects[i] = s
	}
	g.alert = &a
}
