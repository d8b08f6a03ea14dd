package alerts

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// with is the Board with other orders in it, which are effective in the next one.
func (b *Board) with(o *Orders) *Board {
	if b.memory.orders == o {
		return b
	}
	c, m := *b, *b.memory
	m.orders = o
	c.memory = &m
	return &c
}

// NextWith is Next with the orders of operators: those of prev are replaced.
func (e *Engine) NextWith(prev *Board, st *fleet.State, o *Orders) (*Board, []backend.Event) {
	if prev == nil {
		prev = &Board{memory: &memory{}}
	}
	return e.Next(prev.with(o), st)
}

// Apply makes orders effective without a new State. It is pure, and no time passes.
func (e *Engine) Apply(b *Board, o *Orders) (*Board, []backend.Event) {
	next := *b.with(o).memory
	next.rules = maps.Clone(next.rules)
	ev := &evaluation{e: e, prev: b, old: b.memory, next: &next, env: Env{Now: next.clock.Steady, clock: next.clock}}
	ev.annotate()
	if !ev.differs {
		return &Board{Number: b.Number, At: b.At, Alerts: b.Alerts, Blind: b.Blind, memory: &next, state: b.state, rules: e.declared}, ev.events
	}
	return &Board{Number: b.Number, At: b.At, Alerts: ev.collect(), Blind: b.Blind, memory: &next, state: b.state, rules: e.declared}, ev.events
}

// labels are what matchers see of an alert.
func (g *group) labels(environment string) map[string]string {
	a := g.alert
	l := map[string]string{
		LabelAlert: a.ID, LabelRule: a.Rule, LabelSource: a.Source, LabelSeverity: string(a.Severity), LabelEnvironment: environment,
		LabelCause: a.Cause.String(), LabelFingerprint: a.Fingerprint,
	}
	if t := g.only(); t != nil {
		l[LabelProvider], l[LabelTenant], l[LabelSession] = t.provider.String(), t.tenant.String(), t.session.id.Raw()
	}
	maps.DeleteFunc(l, func(_, v string) bool { return v == "" })
	return l
}

// only says which session, provider and tenant all live members share; nil when there is none that lives.
func (g *group) only() *total {
	c := &g.count
	if c.live.n == 0 {
		return nil
	}
	t := &total{}
	r := g.count.of(g.count.state()).oldest
	listing := r.aggregated().Listing
	if listing == nil {
		listing = &Listing{}
	}
	shared := func(n, listed int) bool { return n == c.live.n && listed <= 1 }
	if s := only(c.live.sessions); shared(c.live.sessions[s], listing.Sessions) {
		t.session = s
	}
	if p := only(c.live.providers); shared(c.live.providers[p], listing.Providers) {
		t.provider = p
	}
	if x := only(c.live.tenants); shared(c.live.tenants[x], listing.Tenants) {
		t.tenant = x
	}
	return t
}

// matching counts the alerts that matchers match.
func (b *Board) matching(ms Matchers, environment string) int {
	n := 0
	if b != nil {
		for _, l := range b.memory.rules {
			for _, g := range l.groups {
				if g.alert.State != StateEnded && ms.Match(g.labels(environment)) {
					n++
				}
			}
		}
	}
	return n
}

// annotation is what is written on an alert though it follows from other things than its findings.
type annotation struct {
	acknowledged    *Acknowledgement
	lapsed          *Lapse
	silenced        *Silence
	inhibitedBy     string
	folds, inhibits int
	folded          Folded
}

func annotationOf(a *Alert) annotation {
	return annotation{a.Acknowledged, a.Lapsed, a.Silenced, a.InhibitedBy, a.Folds, a.Inhibits, a.Folded}
}

// on writes it on an alert.
func (x annotation) on(a *Alert) {
	a.Acknowledged, a.Lapsed, a.Silenced, a.InhibitedBy, a.Folds, a.Inhibits, a.Folded = x.acknowledged, x.lapsed, x.silenced, x.inhibitedBy, x.folds, x.inhibits, x.folded
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func (x annotation) equal(y annotation) bool {
	return same(x.acknowledged, y.acknowledged) && same(x.lapsed, y.lapsed) && same(x.silenced, y.silenced) &&
		x.inhibitedBy == y.inhibitedBy && x.folds == y.folds && x.inhibits == y.inhibits && x.folded == y.folded
}

// annotate writes on every alert who has it, what silences it, what it is a part of and what stands behind it.
func (ev *evaluation) annotate() {
	folds, inhibits, folded := map[string]int{}, map[string]int{}, map[string]Folded{}
	outages := ev.outages()
	for _, l := range ev.next.rules {
		for _, g := range l.groups {
			if g.alert.FoldedUnder != "" {
				folds[g.alert.FoldedUnder]++
				folded[g.alert.FoldedUnder] = folded[g.alert.FoldedUnder].with(g.alert)
			}
		}
	}
	marks := map[string]map[groupID]annotation{}
	for _, name := range slices.Sorted(maps.Keys(ev.next.rules)) {
		for id, g := range ev.next.rules[name].groups {
			x := ev.annotation(g, outages)
			x.folds, x.folded = folds[g.alert.ID], folded[g.alert.ID]
			if x.inhibitedBy != "" {
				inhibits[x.inhibitedBy]++
			}
			if x.inhibits = g.alert.Inhibits; !x.equal(annotationOf(g.alert)) {
				put(marks, name, id, x)
			}
		}
	}
	for name, l := range ev.next.rules {
		for id, g := range l.groups {
			x, ok := marks[name][id]
			if !ok {
				x = annotationOf(g.alert)
			}
			if n := inhibits[g.alert.ID]; n != x.inhibits {
				x.inhibits = n
				put(marks, name, id, x)
			}
		}
	}
	ev.mark(marks)
	ev.endings()
}

func (f Folded) with(a *Alert) Folded {
	if f.Severity == "" || a.Severity.Rank() > f.Severity.Rank() {
		f.Severity = a.Severity
	}
	return Folded{f.Severity, f.Subjects + a.SubjectCount}
}

func put(marks map[string]map[groupID]annotation, name string, id groupID, x annotation) {
	if marks[name] == nil {
		marks[name] = map[groupID]annotation{}
	}
	marks[name][id] = x
}

func (ev *evaluation) annotation(g *group, outages []outage) annotation {
	a := g.alert
	x := annotation{inhibitedBy: ev.partOf(g, outages)}
	o := ev.next.orders
	if o == nil || len(o.about)+len(o.silences) == 0 {
		return x
	}
	c := &ev.next.clock
	if len(o.about) > 0 {
		x.acknowledged, x.lapsed = o.acknowledged(c, a, g.began, g.worse, ev.lapsed(g))
	}
	if len(o.silences) > 0 {
		x.silenced = o.silenceFor(c, g.labels(ev.e.environment))
	}
	return x
}

// lapsed is the acknowledgement of an alert that does not hold any more, whatever severity the alert had then.
func (ev *evaluation) lapsed(g *group) *Lapse {
	if g.alert.Lapsed != nil {
		return g.alert.Lapsed
	}
	l := ev.old.rules[g.alert.Rule]
	for _, s := range []Severity{"", SeverityInfo, SeverityWarning, SeverityCritical} {
		if l == nil {
			break
		}
		if was := l.groups[groupID{g.id.source, g.id.fingerprint, s}]; was != nil && was.alert.Lapsed != nil {
			return was.alert.Lapsed
		}
	}
	return nil
}

// asksAgain is the line that a lapsed acknowledgement has on the timeline.
func asksAgain(a *Alert, x *Lapse) backend.Safe {
	if x.grown > 0 {
		return backend.Textf("%s asks again: %d subjects, acknowledged at %d by %s", a.Rule, a.SubjectCount, x.grown, x.Owner)
	}
	return backend.Textf("%s asks again: %s; %s had acknowledged it", a.Rule, x.Why, x.Owner)
}

// mark replaces the alerts whose annotation changed.
func (ev *evaluation) mark(marks map[string]map[groupID]annotation) {
	for _, name := range slices.Sorted(maps.Keys(marks)) {
		l := *ev.next.rules[name]
		l.groups = maps.Clone(l.groups)
		ids := stable.Sorted(maps.Keys(marks[name]), groupID.compare)
		for _, id := range ids {
			x, c := marks[name][id], *l.groups[id]
			a := *c.alert
			if x.lapsed != nil && a.Lapsed == nil && !x.lapsed.told && a.State != StateEnded {
				ev.emit(&a, "unacknowledged", first(&a), asksAgain(&a, x.lapsed))
			}
			x.on(&a)
			c.alert = &a
			l.groups[id] = &c
		}
		ev.next.rules[name] = &l
		ev.differs = true
	}
}

// silenceWarning is how long before its end a silence is announced to end, if it lasts at least twice as long.
const silenceWarning = 5 * time.Minute

// endings tells that a silence is about to end, and that it ended.
func (ev *evaluation) endings() {
	o := ev.next.orders
	if o == nil || ev.old.clock.Steady.IsZero() {
		return
	}
	before, now := ev.old.clock.Steady, ev.next.clock.Steady
	passed := func(at time.Time) bool { return before.Before(at) && !now.Before(at) }
	for i := range o.silences {
		s := &o.silences[i]
		end, _ := o.end(&ev.next.clock, s)
		id := backend.Clean(s.ID, 20)
		switch _, early := o.expired[s.ID]; {
		case early: // the order that ended it is on the timeline
		case passed(end):
			ev.events = append(ev.events, backend.Event{Kind: backend.EventTransition, At: ev.next.clock.Wall, Name: "silence-ended",
				Text: backend.Textf("silence %s of %s (%s) is over", id, s.Owner, s.Reason)})
		case s.For >= 2*silenceWarning && passed(end.Add(-silenceWarning)):
			ev.events = append(ev.events, backend.Event{Kind: backend.EventTransition, At: ev.next.clock.Wall, Name: "silence-ends",
				Text: backend.Textf("silence %s of %s (%s) ends in %s", id, s.Owner, s.Reason, short(silenceWarning))})
		}
	}
}

func (id groupID) compare(o groupID) int {
	if c := strings.Compare(id.source, o.source); c != 0 {
		return c
	}
	if c := strings.Compare(id.fingerprint, o.fingerprint); c != 0 {
		return c
	}
	return strings.Compare(string(id.severity), string(o.severity))
}
