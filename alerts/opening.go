package alerts

import (
	"maps"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// longestOpening bounds a start of which some source has neither answered nor failed.
const longestOpening = 10 * time.Second

// open finds out whether the start goes on. A start is one moment: which source answers first must not decide what the
// timeline says and in which order alerts stand.
func (ev *evaluation) open() {
	start := latest(ev.next.watching, ev.next.clock.ResumedAt)
	ev.opening = ev.st.Starting() && ev.next.clock.Steady.Sub(start) < longestOpening
	ev.next.opening = ev.opening
	if ev.opening || ev.old.opening {
		ev.start = start
	}
}

// step is what a verdict makes of a record. What becomes true during the start became true with it.
func (re *ruleEvaluation) step(k backend.Key, rec *record, v *Verdict) *record {
	n := step(re.meta, k, rec, v, re.env.Now, re.settling || v.Unread && re.resumedLately())
	if v.Outcome == True { // a new record
		n.Engine = engineOf(re.st, k.Source)
	}
	if n != nil && n != rec && n.finding != nil && !re.start.IsZero() && n.Active.Equal(re.env.Now) {
		n.Active = re.start
	}
	return n
}

// resumedLately reports whether a start from a former state is so new that not all of it may have been read again.
func (ev *evaluation) resumedLately() bool {
	at := ev.next.clock.ResumedAt
	return !at.IsZero() && ev.env.Now.Sub(at) <= unreadPatience
}

// report puts on the timeline what the start changed, once it is over.
func (re *ruleEvaluation) report(groups map[groupID]*group) map[groupID]*group {
	if re.opening || !re.evaluation.old.opening && re.evaluation.old.resume == nil {
		return groups
	}
	cloned := false
	for _, id := range stable.Sorted(maps.Keys(groups), groupID.compare) {
		if !groups[id].unreported {
			continue
		}
		if !cloned {
			groups, cloned = maps.Clone(groups), true
		}
		g := *groups[id]
		groups[id] = &g
		re.transition(nil, &g)
	}
	return groups
}

// changedState reports whether a change of the alert's state is not on the timeline yet.
func (g *group) changedState() bool {
	return g.unreported && (g.before == nil || g.before.alert.State != g.alert.State)
}
