package alerts

import (
	"time"

	"sandglass/backend"
)

// Change is something that happened and may explain what followed: a deploy, a new version, a restart, an action, a note.
type Change struct {
	At     time.Time
	Source string // empty: of the site
	Text   backend.Safe
	// Ours says that it was done through this program.
	Ours bool
}

// Changes are the changes of the last half hour within a span, oldest first. Alike ones of one source and moment are one.
func (b *Board) Changes(from, to time.Time) []Change {
	if b.memory == nil {
		return nil
	}
	var out []Change
	for _, m := range b.memory.markers {
		c := Change{At: b.memory.clock.display(m.At), Source: m.Source, Text: m.Text, Ours: m.Ours}
		if c.At.Before(from) || c.At.After(to) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Source == c.Source && out[n-1].Text == c.Text {
			continue
		}
		out = append(out, c)
	}
	return out
}

// Began is when the alert began at the latest, as far as evidence tells.
func (a *Alert) Began() time.Time {
	switch {
	case !a.Bounds.Latest.IsZero():
		return a.Bounds.Latest
	case !a.Active.IsZero():
		return a.Active
	}
	return a.Since
}
