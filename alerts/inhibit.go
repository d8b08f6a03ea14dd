package alerts

import (
	"cmp"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// Inhibition says that an alert of the rule stands for alerts of other rules that are parts of the same outage.
type Inhibition struct {
	Rules []string // whose alerts it stands for
	// Equal are labels that both must have, with the same value. A label that one of them lacks never matches, also
	// when both lack it.
	Equal []string
}

// outage is an alert that may stand for others.
type outage struct {
	g      *group
	l      *ruleState
	labels map[string]string
	meta   *Meta
}

// outages lists the firing alerts that inhibit others. One that is itself a part of another is none of them, so that what
// is hidden always has a line that stands for it.
func (ev *evaluation) outages() []outage {
	var all []outage
	for _, r := range ev.e.rules {
		m := r.Meta()
		l := ev.next.rules[m.Name]
		if len(m.Inhibits) == 0 || l == nil {
			continue
		}
		for _, g := range l.groups {
			if g.alert.State == StateFiring && len(g.members) > 0 {
				all = append(all, outage{g, l, g.labels(ev.e.environment), m})
			}
		}
	}
	stable.Sort(all, func(a, b outage) int {
		x, y := a.g.alert, b.g.alert
		return cmp.Or(cmp.Compare(y.Severity.Rank(), x.Severity.Rank()), cmp.Compare(y.SubjectCount, x.SubjectCount), strings.Compare(x.ID, y.ID))
	})
	out := all[:0]
	for _, o := range all {
		if ev.partOf(o.g, out) == "" {
			out = append(out, o)
		}
	}
	return out
}

// partOf is the id of the outage that explains all of an alert's subjects, empty when there is none. What is more
// severe than the outage is never hidden by it.
func (ev *evaluation) partOf(g *group, outages []outage) string {
	a := g.alert
	if a.State != StateFiring && a.State != StatePending || a.Flapping && len(g.members) == 0 {
		return ""
	}
	if slices.ContainsFunc(outages, func(o outage) bool { return o.g == g }) {
		return ""
	}
	if id := ev.stoodFor(g); id != "" {
		return id
	}
	var labels map[string]string
	for _, o := range outages {
		by := slices.IndexFunc(o.meta.Inhibits, func(x Inhibition) bool { return slices.Contains(x.Rules, a.Rule) })
		if by < 0 || o.meta.Name == a.Rule || a.Severity.Rank() > o.g.alert.Severity.Rank() {
			continue
		}
		if labels == nil {
			labels = g.labels(ev.e.environment)
		}
		if equal(o.meta.Inhibits[by].Equal, o.labels, labels) && o.explains(g) {
			return o.g.alert.ID
		}
	}
	return ""
}

func equal(names []string, a, b map[string]string) bool {
	for _, n := range names {
		x, y := a[n], b[n]
		if n == LabelFingerprint { // a variant's own line is part of its cause
			x, y = baseFingerprint(x), baseFingerprint(y)
		}
		if x == "" || x != y {
			return false
		}
	}
	return true
}

// explains reports whether the outage knows each of the alert's subjects: as one of its own, or in its rule's notes.
func (o *outage) explains(g *group) bool {
	own := make(map[backend.Key]bool, len(o.g.alert.Subjects))
	for _, s := range o.g.alert.Subjects {
		own[s.Key] = true
	}
	known := o.l.records // both are sorted by key
	for _, r := range g.members {
		if r.State == StateEnded || own[r.Key] {
			continue
		}
		for len(known) > 0 && known[0].Key.Compare(r.Key) < 0 {
			known = known[1:]
		}
		if len(known) == 0 || known[0].Key != r.Key || known[0].State == StateEnded {
			return false
		}
	}
	return true
}
