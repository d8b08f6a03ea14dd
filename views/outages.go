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
	first map[*alerts.Alert]*alerts.Alert   // of the outage of each alert
	under map[*alerts.Alert]bool            // those that another one of their outage explains
	since map[*alerts.Alert][]alerts.Change // what changed before an alert began and after the one above it, in an outage
	again map[*alerts.Alert]*alerts.Alert   // the one before with the same rule, of the same outage if there is one
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

// Follows reports whether an alert stands below the one that began its outage.
func (c *Snapshot) Follows(a *alerts.Alert) bool {
	first := c.outages().first[a]
	return first != nil && first != a
}

// ChangesBefore are the deploys, versions, restarts and actions between an alert and the one above it of the same outage, oldest
// first; of the alert that began it, of the quarter of an hour before that.
func (c *Snapshot) ChangesBefore(a *alerts.Alert) []alerts.Change { return c.outages().since[a] }

// After is an alert of the same rule that stands before an alert, of the same outage if there is one; nil when there is none.
func (c *Snapshot) After(a *alerts.Alert) *alerts.Alert { return c.outages().again[a] }

func (c *Snapshot) outages() *outages {
	if c.grouped == nil {
		c.grouped = group(unfolded(c.Board.Alerts), begins(c.Board.Alerts), c.Board.Changes)
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

// group puts alerts that are related together, in the place of the worst of them, by what began first. The list is in the Board's
// order.
func group(list []*alerts.Alert, began map[*alerts.Alert]time.Time, changes func(from, to time.Time) []alerts.Change) *outages {
	first := related(list)
	members := make(map[int][]*alerts.Alert, len(list))
	for i, a := range list {
		members[first[i]] = append(members[first[i]], a)
	}
	out := &outages{rows: make([]*alerts.Alert, 0, len(list)), first: map[*alerts.Alert]*alerts.Alert{}, under: map[*alerts.Alert]bool{},
		since: map[*alerts.Alert][]alerts.Change{}, again: map[*alerts.Alert]*alerts.Alert{}}
	for i := range list {
		group := members[i] // empty: it belongs to one before it
		stable.Sort(group, func(a, b *alerts.Alert) int { return byBegin(a, b, began) })
		if out.add(group); len(group) > 1 {
			out.change(group, began, changes)
		}
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

// sameMoment is how far apart alerts may be told that began together: sources are polled one after the other.
const sameMoment = time.Minute

// byBegin orders the alerts of an outage by when they began, whatever their severity. What is only suspected begins nothing. Of those
// that began together the cause is first.
func byBegin(a, b *alerts.Alert, began map[*alerts.Alert]time.Time) int {
	suspected := func(x *alerts.Alert) int {
		if x.State == alerts.StatePending {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(suspected(a), suspected(b)), began[a].Truncate(sameMoment).Compare(began[b].Truncate(sameMoment)),
		cmp.Compare(explains(a.Rule), explains(b.Rule)), began[a].Compare(began[b]))
}

// begins is when each alert began: no later than those that it explains, because a cause is not younger than its effects.
func begins(list []*alerts.Alert) map[*alerts.Alert]time.Time {
	began, byID := make(map[*alerts.Alert]time.Time, len(list)), make(map[string]*alerts.Alert, len(list))
	var full []*alerts.Alert
	for _, a := range list {
		began[a], byID[a.ID] = a.Began(), a
		if a.Rule == "capacity" {
			full = append(full, a)
		}
	}
	notAfter := func(a *alerts.Alert, effect time.Time) {
		if a != nil && effect.Before(began[a]) {
			began[a] = effect
		}
	}
	for _, x := range list {
		if x.InhibitedBy != "" {
			notAfter(byID[x.InhibitedBy], x.Began())
		}
		for _, a := range full {
			if x.Rule == "eviction-storm" && x.Source == a.Source {
				notAfter(a, x.Began())
			}
		}
	}
	return began
}

// beforeFirst is how long before the first alert of an outage a change is told with it.
const beforeFirst = 15 * time.Minute

// change notes what changed between the alerts of an outage, which are in the order of their rows.
func (o *outages) change(group []*alerts.Alert, began map[*alerts.Alert]time.Time, changes func(from, to time.Time) []alerts.Change) {
	first, last := began[group[0]], began[group[0]]
	for _, a := range group {
		if a.State != alerts.StatePending && began[a].After(last) {
			last = began[a]
		}
	}
	rest := changes(first.Add(-beforeFirst), last)
	for _, a := range group {
		for a.State != alerts.StatePending && len(rest) > 0 && !rest[0].At.After(began[a]) {
			o.since[a], rest = append(o.since[a], rest[0]), rest[1:]
		}
	}
}

// add appends an outage, whose alerts are in order.
func (o *outages) add(group []*alerts.Alert) {
	if len(group) == 1 {
		o.rows = append(o.rows, group[0])
		return
	}
	rules := map[string]*alerts.Alert{}
	for i, a := range group {
		o.first[a] = group[0]
		if o.again[a] = rules[a.Rule]; rules[a.Rule] == nil {
			rules[a.Rule] = a
		}
		o.under[a] = slices.ContainsFunc(group[:i], func(b *alerts.Alert) bool { return sameCause(a, b) || within(a, b) || shortage(b) })
	}
	o.rows = append(o.rows, group...)
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
