package views

import (
	"cmp"
	"slices"

	"sandglass/alerts"
	"sandglass/backend"
)

// outages are the alerts of a Board in the order of the home screen.
type outages struct {
	rows  []*alerts.Alert
	under map[*alerts.Alert]bool // those that follow the first one of their outage
	again map[*alerts.Alert]bool // those of them with the rule and cause of one before
}

// InOutages lists the alerts of the home screen, the worst first. Alerts of one outage follow each other, the one that explains the
// others before them. It leaves out alerts that are counted by the line of their source or of an outage.
func (c *Snapshot) InOutages() []*alerts.Alert { return c.outages().rows }

// Under reports whether an alert stands under another one of the same outage.
func (c *Snapshot) Under(a *alerts.Alert) bool { return c.outages().under[a] }

// Repeats reports whether it stands under one of the same rule and cause on another source.
func (c *Snapshot) Repeats(a *alerts.Alert) bool { return c.outages().again[a] }

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
	out := &outages{rows: make([]*alerts.Alert, 0, len(list)), under: map[*alerts.Alert]bool{}, again: map[*alerts.Alert]bool{}}
	for i := range list {
		group := members[i]                 // empty: it belongs to one before it
		for rest := group; len(rest) > 0; { // causes come first among alerts of one severity and state
			n := slices.IndexFunc(rest, func(a *alerts.Alert) bool { return a.State != rest[0].State || a.Severity != rest[0].Severity })
			if n < 0 {
				n = len(rest)
			}
			slices.SortStableFunc(rest[:n], func(a, b *alerts.Alert) int { return cmp.Compare(explains(a.Rule), explains(b.Rule)) })
			rest = rest[n:]
		}
		rules := map[string]string{} // and causes
		for n, a := range group {
			out.under[a] = n > 0
			if cause, met := rules[a.Rule]; met {
				out.again[a] = cause == a.Fingerprint
			} else {
				rules[a.Rule] = a.Fingerprint
			}
		}
		out.rows = append(out.rows, group...)
	}
	return out
}

// explains orders rules by what causes what: the lower one is the cause.
func explains(rule string) int {
	order := []string{"host-oom", "tmpdir-root-unusable", "sandbox-oom", "restart-storm", "capacity", "eviction-storm", "ref-mismatch", "capability-mismatch"}
	if i := slices.Index(order, rule); i >= 0 {
		return i
	}
	return len(order)
}

// related gives each alert the place of the first alert of its outage. Two alerts belong to one outage when they have the same cause,
// or when most subjects of the smaller one are subjects of the other.
func related(list []*alerts.Alert) []int {
	first := make([]int, len(list))
	for i := range first {
		first[i] = i
	}
	causes, owners := make(map[string]int, len(list)), map[backend.Key]int{}
	owned := make([]int, len(list)) // how many subjects an outage has
	root := func(i int) int {
		for first[i] != i {
			i = first[i]
		}
		return i
	}
	join := func(i, j int) {
		if i, j = min(root(i), root(j)), max(root(i), root(j)); i != j {
			first[j] = i
			owned[i] += owned[j]
		}
	}
	for i, a := range list {
		if a.State == alerts.StateEnded || a.State == alerts.StateResolved {
			continue
		}
		if j, known := causes[a.Fingerprint]; known && a.Fingerprint != "" {
			join(i, j)
		} else {
			causes[a.Fingerprint] = i
		}
		shared := map[int]int{}
		for k := range a.Subjects {
			key := a.Subjects[k].Key
			if key.Kind == backend.KindSource || key.Kind == backend.KindHost {
				continue // what they have in common is a place, not a cause
			}
			if j, known := owners[key]; known {
				shared[root(j)]++
			} else {
				owners[key] = i
				owned[root(i)]++
			}
		}
		for j, n := range shared {
			if 2*n > min(len(a.Subjects), owned[root(j)]) {
				join(i, j)
			}
		}
	}
	for i := range first {
		first[i] = root(i)
	}
	return first
}
