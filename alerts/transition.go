package alerts

import (
	"cmp"
	"math/bits"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// maxEndedEvents bounds the events about single subjects that one rule emits for one State.
const maxEndedEvents = 50

// maxAbout bounds the subjects that one event names.
const maxAbout = 50

func (ev *evaluation) emit(a *Alert, name string, subject backend.Key, text backend.Safe) {
	e := backend.Event{Kind: backend.EventTransition, At: ev.next.clock.Wall, Source: a.Source, Subject: subject, Name: name, Text: text, Alert: a.ID}
	if subject == (backend.Key{}) { // once the alert is over, nothing else tells whom it was about
		for i := range a.Subjects[:min(len(a.Subjects), maxAbout)] {
			e.About = append(e.About, a.Subjects[i].Key)
		}
	}
	ev.events = append(ev.events, e)
}

// describe is the line that an alert has on the timeline.
func describe(a *Alert, what string) backend.Safe {
	subjects := "1 subject"
	if a.SubjectCount != 1 {
		subjects = backend.Textf("%d subjects", a.SubjectCount).String()
	}
	return backend.Textf("%s %s: %s (%s)", a.Rule, what, a.Cause, subjects)
}

func first(a *Alert) backend.Key {
	if len(a.Subjects) == 1 {
		return a.Subjects[0].Key
	}
	return backend.Key{}
}

// transition reports that an alert took another state.
func (ev *evaluation) transition(was, is *group) {
	if ev.opening {
		if !is.unreported {
			is.unreported, is.before = true, was
		}
		return
	}
	if is.unreported {
		was, is.unreported, is.before = is.before, false, nil
	}
	a := is.alert
	switch flapped := was != nil && was.alert.Flapping; {
	case a.Flapping && !flapped:
		ev.emit(a, "flapping", first(a), describe(a, "flaps: its changes are not told until it is steady"))
		return
	case flapped && !a.Flapping && a.State != StateEnded:
		ev.emit(a, "steady", first(a), describe(a, "does not flap any more and is "+string(a.State)))
		return
	case was != nil && was.alert.State == a.State:
		return
	}
	switch a.State {
	case StatePending:
		if was != nil && (was.alert.State == StateFiring || was.alert.State == StateHeld) {
			ev.emit(a, string(StateResolved), first(a), describe(a, "resolved, but still pending"))
			return
		}
		ev.emit(a, string(StatePending), first(a), describe(a, "pending"))
	case StateHeld:
		ev.emit(a, string(StateHeld), first(a), backend.Textf("%s: %s", describe(a, "held"), a.Why))
	case StateEnded:
		ev.emit(a, string(StateEnded), first(a), backend.Textf("%s: %s", describe(a, "ended"), a.Why))
	case StateFiring, StateResolved:
		ev.emit(a, string(a.State), first(a), describe(a, string(a.State)))
	}
}

// leave reports that an alert left the Board.
func (ev *evaluation) leave(was *group, changes []change) {
	if was != nil && was.unreported {
		was = was.before
	}
	if was == nil || was.alert.State == StateEnded {
		return
	}
	a := was.alert
	switch {
	case a.State == StatePending:
		ev.emit(a, "cleared", first(a), describe(a, "no longer pending"))
	case ev.movedOn(changes):
		ev.emit(a, "moved", first(a), describe(a, "goes on with another cause"))
	default:
		ev.emit(a, string(StateResolved), first(a), describe(a, "resolved"))
	}
}

// movedOn reports whether the members that left have another cause now.
func (ev *evaluation) movedOn(left []change) bool {
	for _, c := range left {
		if ev.regrouped[c.key()] {
			return true
		}
	}
	return false
}

// reportEnded reports single subjects that ended while others of their alert live on.
func (re *ruleEvaluation) reportEnded(groups map[groupID]*group) {
	stable.Sort(re.ended, func(a, b change) int { return a.key().Compare(b.key()) })
	n := 0
	for _, c := range re.ended {
		id, _ := c.next.group()
		g := groups[id]
		if g == nil || g.alert.State == StateEnded {
			continue
		}
		if n++; n <= maxEndedEvents {
			re.emit(g.alert, string(StateEnded), c.key(), backend.Textf("%s: %s %s", re.meta.Name, c.key().Safe(), c.next.Why))
		}
	}
	if n > maxEndedEvents {
		re.events = append(re.events, backend.Event{Kind: backend.EventTransition, At: re.next.clock.Wall, Name: string(StateEnded),
			Text: backend.Textf("%s: %d more subjects ended", re.meta.Name, n-maxEndedEvents)})
	}
}

// finish puts the alerts of all rules into a Board.
func (ev *evaluation) finish() (*Board, []backend.Event) {
	b := &Board{Number: ev.st.Number, At: plain(ev.st.Wall), Blind: ev.blind(), memory: ev.next, rules: ev.e.declared, state: ev.st, ended: ev.ended}
	ev.annotate()
	if ev.prev != nil && ev.prev.rules != nil && !ev.differs && ev.sameRules() { // a loaded Board has another order
		b.Alerts = ev.prev.Alerts
		return b, ev.events
	}
	b.Alerts = ev.collect()
	return b, ev.events
}

// collect lists the alerts of all rules in their order.
func (ev *evaluation) collect() []*Alert {
	n := 0
	for _, l := range ev.next.rules {
		n += len(l.groups)
	}
	all := make([]*Alert, 0, n)
	for _, l := range ev.next.rules {
		for _, g := range l.groups {
			all = append(all, g.alert)
		}
	}
	urgent := func(a *Alert) int {
		if m := ev.e.declared[a.Rule]; m != nil && m.Urgent {
			return 1
		}
		return 0
	}
	stable.Sort(all, func(a, b *Alert) int {
		return cmp.Or(compareStanding(a, b), cmp.Compare(urgent(b), urgent(a)), compareSize(a, b))
	})
	return all
}

// sameRules reports whether the memory before had no alerts of rules that are not evaluated any more.
func (ev *evaluation) sameRules() bool {
	for name := range ev.old.rules {
		if ev.next.rules[name] == nil {
			return false
		}
	}
	return true
}

func compareAlerts(a, b *Alert) int { return cmp.Or(compareStanding(a, b), compareSize(a, b)) }

// compareStanding puts what is over last, then the most severe first, and of one severity what fires before what is held or
// pending.
func compareStanding(a, b *Alert) int {
	return cmp.Or(cmp.Compare(over(a.State), over(b.State)), cmp.Compare(b.weight(), a.weight()), cmp.Compare(order(a.State), order(b.State)))
}

// weight is the rank of an alert's severity, or of a worse alert that it holds: what is held has not recovered.
func (a *Alert) weight() int { return max(a.Severity.Rank(), a.Folded.Severity.Rank()) }

func compareSize(a, b *Alert) int {
	return cmp.Or(cmp.Compare(b.magnitude(), a.magnitude()), a.Active.Compare(b.Active), a.onset().Compare(b.onset()), strings.Compare(a.ID, b.ID))
}

// magnitude grows with how much an alert is about: subjects, and alerts that it explains or holds. From 10 on it goes in steps of
// 40 %: the exact numbers would move lines at every poll.
func (a *Alert) magnitude() int {
	const exact = 10
	n := max(a.SubjectCount+a.Inhibits, a.Folded.Subjects)
	if n < exact {
		return n
	}
	return exact + bits.Len64(uint64(n)*uint64(n)) - bits.Len64(exact*exact)
}

// onset is by when it had begun. After a cold start it tells apart what became active in one moment.
func (a *Alert) onset() time.Time {
	if a.Bounds.Latest.IsZero() {
		return a.Active
	}
	return a.Bounds.Latest
}

func over(s AlertState) int {
	if s == StateEnded || s == StateResolved {
		return 1
	}
	return 0
}

func order(s AlertState) int {
	switch s {
	case StateFiring:
		return 0
	case StateHeld:
		return 1
	case StatePending:
		return 2
	case StateEnded, StateResolved:
	}
	return 3
}
