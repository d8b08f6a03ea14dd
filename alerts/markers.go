package alerts

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// How near a change must lie to an alert's onset to be named with it. An onset is often known later than it was.
const (
	markerBefore = 15 * time.Minute
	markerAfter  = time.Minute
	markersKept  = 200
	markersNamed = 3
)

// marker is a change that happened, at a steady time.
type marker struct {
	At     time.Time    `json:"at"`
	Source string       `json:"source,omitempty"`
	Name   string       `json:"name,omitempty"`
	Text   backend.Safe `json:"text"`
	// Ours says that this program did it: what people do after an alert began is no cause of it, and a repair never is.
	Ours bool `json:"ours,omitempty"`
	// Subject is the sandbox that alone changed, if it was one.
	Subject backend.Key `json:"subject,omitzero"`
}

// noteChanges notes the changes that the State reports, what people did and noted among them; it reports whether there
// are new ones.
func (ev *evaluation) noteChanges() bool {
	kept := slices.Clone(ev.old.markers)
	was := len(kept)
	for _, e := range ev.st.Events {
		switch e.Kind {
		case backend.EventChange, backend.EventAction, backend.EventNote:
			m := marker{At: ev.env.Ours(e.At), Source: e.Source, Name: e.Name, Text: e.Text, Ours: e.Kind == backend.EventAction}
			if e.Subject.Kind == backend.KindSandbox {
				m.Subject = e.Subject
			}
			kept = append(kept, m)
		case backend.EventTransition, backend.EventPlatform:
		}
	}
	isNew := len(kept) > was
	if isNew {
		stable.Sort(kept, func(a, b marker) int { return a.At.Compare(b.At) })
		kept = slices.Compact(kept)
	}
	kept = slices.DeleteFunc(kept, func(m marker) bool { return ev.env.Now.Sub(m.At) > 2*markerBefore+markerAfter })
	ev.next.markers = kept[max(len(kept)-markersKept, 0):]
	return isNew
}

// young reports whether a new marker may lie near the group's onset.
func (ev *evaluation) young(g *group) bool {
	return g.count.live.n > 0 && ev.env.Now.Sub(g.count.live.active.at) <= markerBefore+markerAfter
}

// cluster is changes of one sort.
type cluster struct {
	marker     // the nearest to the onset
	n      int // how many there were
	alike  bool
}

// changesNear are statements about the changes near an onset, the nearest first.
func (ev *evaluation) changesNear(source, via string, subjects []Subject, onset time.Time, bounds Bounds) []Evidence {
	// open reports whether the alert may have begun before a change as well as after it.
	open := func(at time.Time) bool {
		return !bounds.Latest.IsZero() && !at.After(bounds.Latest) && bounds.Earliest.Before(at) && bounds.Latest.Sub(bounds.Earliest) > markerAfter
	}

	var all []*cluster
	for _, m := range ev.next.markers {
		if m.At.Before(onset.Add(-markerBefore)) || m.At.After(onset.Add(markerAfter)) || !ev.concerns(m.Source, source, via) || m.Ours && (m.Name == "repair" || m.At.After(onset) && !open(m.At)) || elsewhere(m.Subject, subjects) {
			continue
		}
		i := slices.IndexFunc(all, func(c *cluster) bool { return c.Source == m.Source && c.Name == m.Name })
		if i < 0 {
			all = append(all, &cluster{m, 1, true})
			continue
		}
		c := all[i]
		c.n++
		c.alike = c.alike && c.Text == m.Text
		if onset.Sub(m.At).Abs() < onset.Sub(c.At).Abs() {
			c.marker = m
		}
	}
	stable.Sort(all, func(a, b *cluster) int {
		return cmp.Or(cmp.Compare(onset.Sub(a.At).Abs(), onset.Sub(b.At).Abs()), strings.Compare(a.Name, b.Name))
	})
	var out []Evidence
	for _, c := range all[:min(len(all), markersNamed)] {
		text := c.Text
		switch {
		case c.n > 1 && c.alike:
			text = backend.Textf("%s (%d times)", text, c.n)
		case c.n > 1:
			text = backend.Textf("%s, and %d more of the kind", text, c.n-1)
		}
		switch gap := onset.Sub(c.At).Round(time.Second); {
		case open(c.At):
			text = backend.Textf("within the time in which it may have begun, at %s: %s", backend.Clean(ev.env.Display(c.At).UTC().Format("15:04:05Z"), 20), text)
		case gap > 0:
			text = backend.Textf("began %s after: %s", short(gap), text)
		case gap == 0:
			text = backend.Textf("began together with: %s", text)
		default:
			text = backend.Textf("%s after it began: %s", short(-gap), text)
		}
		out = append(out, Evidence{Text: text, Source: cmp.Or(c.Source, source), At: ev.env.Display(c.At)})
	}
	return out
}

// elsewhere reports whether a change is of one sandbox, and the alert is about other sandboxes only.
func elsewhere(changed backend.Key, subjects []Subject) bool {
	return changed.Kind == backend.KindSandbox && len(subjects) > 0 &&
		!slices.ContainsFunc(subjects, func(s Subject) bool { return s.Key.Kind != backend.KindSandbox || s.Key == changed })
}

// concerns reports whether a change that one source reports may have to do with an alert about another.
func (ev *evaluation) concerns(reporter, source, via string) bool {
	if reporter == "" || reporter == source || reporter == via {
		return true
	}
	h := ev.st.Source(reporter)
	return h == nil || h.ReportsOn(source)
}
