package views

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// outages are the alerts of a Board in the order of the home screen.
type outages struct {
	rows  []*alerts.Alert
	first map[*alerts.Alert]*alerts.Alert // of the outage of each alert
	under map[*alerts.Alert]bool          // those that the first one of their outage explains
	again map[*alerts.Alert]*alerts.Alert // the one before with the same rule, of the same outage if there is one
}

// InOutages lists the alerts of the home screen, the worst first. Alerts of one outage follow each other, the one that explains the
// others before them. It leaves out alerts that are counted by the line of their source or of an outage.
func (c *Snapshot) InOutages() []*alerts.Alert { return c.outages().rows }

// Under reports whether an alert stands under another one of the same outage, which explains all of its subjects or has the same cause.
func (c *Snapshot) Under(a *alerts.Alert) bool { return c.outages().under[a] }

// SameOutage reports whether two alerts stand together.
func (c *Snapshot) SameOutage(a, b *alerts.Alert) bool {
	o := c.outages()
	return o.first[a] != nil && o.first[a] == o.first[b]
}

// After is an alert of the same rule that stands before an alert, of the same outage if there is one; nil when there is none.
func (c *Snapshot) After(a *alerts.Alert) *alerts.Alert { return c.outages().again[a] }

func (c *Snapshot) outages() *outages {
	if c.grouped == nil {
		c.grouped = group(unfolded(c.Board.Alerts))
	}
	return c.grouped
}

func unfolded(list []*alerts.Alert) []*alerts.Alert {
	listed := make(map[string]bool, len(list))
	for _, a := range list {
		listed[a.ID] = true
	}
	return slices.DeleteFunc(slices.Clone(list), func(a *alerts.Alert) bool { return listed[a.FoldedUnder] || listed[a.InhibitedBy] })
}

// group puts alerts that are related behind the worst of them. The list is in the Board's order.
func group(list []*alerts.Alert) *outages {
	first := related(list)
	members := make(map[int][]*alerts.Alert, len(list))
	for i, a := range list {
		members[first[i]] = append(members[first[i]], a)
	}
	out := &outages{rows: make([]*alerts.Alert, 0, len(list)), first: map[*alerts.Alert]*alerts.Alert{}, under: map[*alerts.Alert]bool{}, again: map[*alerts.Alert]*alerts.Alert{}}
	for i := range list {
		group := members[i]                 // empty: it belongs to one before it
		for rest := group; len(rest) > 0; { // causes come first among alerts of one severity and state
			n := slices.IndexFunc(rest, func(a *alerts.Alert) bool { return a.State != rest[0].State || a.Severity != rest[0].Severity })
			if n < 0 {
				n = len(rest)
			}
			began := firstOf(rest[:n])
			stable.Sort(rest[:n], func(a, b *alerts.Alert) int {
				return cmp.Or(cmp.Compare(explains(a.Rule), explains(b.Rule)), began[a.Rule].Compare(began[b.Rule]))
			})
			rest = rest[n:]
		}
		out.add(group)
	}
	before := make(map[string]*alerts.Alert, len(list))
	for _, a := range out.rows {
		if out.again[a] == nil {
			out.again[a] = before[a.Rule]
		}
		if before[a.Rule] == nil {
			before[a.Rule] = a
		}
	}
	return out
}

// firstOf is when the first alert of each rule began: the first domino stands before what fell later.
func firstOf(list []*alerts.Alert) map[string]time.Time {
	began := make(map[string]time.Time, len(list))
	for _, a := range list {
		if was, known := began[a.Rule]; !known || a.Began().Before(was) {
			began[a.Rule] = a.Began()
		}
	}
	return began
}

// add appends an outage. Each alert that another one explains follows that one.
func (o *outages) add(group []*alerts.Alert) {
	if len(group) == 1 {
		o.rows = append(o.rows, group[0])
		return
	}
	var tops [][]*alerts.Alert
	rules := map[string]*alerts.Alert{}
	for _, a := range group {
		o.first[a] = group[0]
		if o.again[a] = rules[a.Rule]; rules[a.Rule] == nil {
			rules[a.Rule] = a
		}
		n := slices.IndexFunc(tops, func(t []*alerts.Alert) bool { return sameCause(a, t[0]) || within(a, t[0]) || shortage(t[0]) })
		if o.under[a] = n >= 0; n >= 0 {
			tops[n] = append(tops[n], a)
		} else {
			tops = append(tops, []*alerts.Alert{a})
		}
	}
	for _, t := range tops {
		o.rows = append(o.rows, t...)
	}
}

// sameCause reports whether two alerts have the same cause.
func sameCause(a, b *alerts.Alert) bool {
	return a.Fingerprint != "" && a.Fingerprint == b.Fingerprint || a.Rule == b.Rule && !a.Cause.IsEmpty() && a.Cause == b.Cause
}

// shortage reports whether an alert says that a provider has no instance left: the others of its outage are its effects.
func shortage(a *alerts.Alert) bool {
	return a.Rule == "capacity" && strings.HasSuffix(a.Cause.String(), " has no instance left")
}

// shortOf is the place of the alert about the only provider that has no instance left, -1 where there is none or are several.
func shortOf(list []*alerts.Alert) int {
	at := -1
	for i, a := range list {
		switch {
		case !shortage(a) || a.State == alerts.StateEnded || a.State == alerts.StateResolved:
		case at < 0:
			at = i
		case list[at].Fingerprint != a.Fingerprint:
			return -1
		}
	}
	return at
}

// placed reports whether a subject can tell that two alerts are about the same: a source or a host is a place, not a cause.
func placed(k backend.Key) bool { return k.Kind != backend.KindSource && k.Kind != backend.KindHost }

// within reports whether all subjects of an alert are subjects of another one.
func within(a, b *alerts.Alert) bool {
	if len(a.Subjects) == 0 || a.SubjectCount > b.SubjectCount {
		return false
	}
	has := make(map[backend.Key]bool, len(b.Subjects))
	for i := range b.Subjects {
		has[b.Subjects[i].Key] = placed(b.Subjects[i].Key)
	}
	return !slices.ContainsFunc(a.Subjects, func(s alerts.Subject) bool { return !has[s.Key] })
}

// explains orders rules by what causes what: the lower one is the cause.
func explains(rule string) int {
	order := []string{"possible-leak", "host-oom", "tmpdir-root-unusable", "sandbox-oom", "restart-storm", "capacity", "eviction-storm", "ref-mismatch", "capability-mismatch"}
	if i := slices.Index(order, rule); i >= 0 {
		return i
	}
	return len(order)
}

// related gives each alert the place of the first alert of its outage. Two alerts belong to one outage when they have the same
// cause, when one says that no instance is left and the other names that as its error, when all subjects of the later one are subjects of the other or, if they are equally severe, when most subjects of the
// smaller one are.
func related(list []*alerts.Alert) []int {
	first, causes, owners := make([]int, len(list)), make(map[string]int, len(list)), map[backend.Key][]int{}
	full := shortOf(list)
	for i, a := range list {
		first[i] = i
		if a.State == alerts.StateEnded || a.State == alerts.StateResolved {
			continue
		}
		shared, counted := map[int]int{}, 0
		for k := range a.Subjects {
			if placed(a.Subjects[k].Key) {
				counted++
				for _, j := range owners[a.Subjects[k].Key] {
					shared[j]++
				}
			}
		}
		if j, known := causes[a.Fingerprint]; known && a.Fingerprint != "" && counted > 0 {
			first[i] = first[j]
			continue
		}
		text := a.Rule + ": " + a.Cause.String()
		if j, known := causes[text]; known && counted > 0 && !a.Cause.IsEmpty() {
			first[i] = first[j]
			continue
		}
		if full >= 0 && full < i && counted > 0 && alerts.NamesIn(strings.ToLower(a.Cause.String()))&alerts.NamesQuota != 0 {
			first[i] = first[full]
			continue
		}
		nested := false
		for j, n := range shared {
			b := list[j]
			whole := n == len(a.Subjects)
			equal := a.Severity == b.Severity && a.State == b.State && 2*n > min(len(a.Subjects), len(b.Subjects))
			if whole || equal {
				first[i], nested = min(first[i], first[j]), nested || whole
			}
		}
		if counted > 0 {
			causes[a.Fingerprint], causes[text] = i, i
		}
		for k := range a.Subjects {
			if key := a.Subjects[k].Key; !nested && placed(key) {
				owners[key] = append(owners[key], i)
			}
		}
	}
	return first
}
