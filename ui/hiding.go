package ui

import (
	"sandglass/views/names"
	"sandglass/views/subjects"
)

// hiddenNames are the names that this viewer's screen does not show.
type hiddenNames struct {
	set *names.Set // nil: names are shown
	of  uint64     // number of the State whose names it holds
}

// begin makes the set of a viewer who hides names; nil for others.
func (h *hiddenNames) begin(v *Viewer) *names.Set {
	if len(v.HideNames) > 0 {
		h.set = names.New(v.HideNames)
		h.set.Add(v.Environment)
	}
	return h.set
}

// hideNames adds the names of the newest State. What was drawn before is drawn again when there are more.
func hideNames(m *Model) {
	if m.names.set == nil {
		return
	}
	before := m.names.set.Len()
	subjects.HideNames(m.names.set, m.frame.Snapshot, m.names.of)
	m.names.of = m.frame.State.Number
	if m.names.set.Len() != before {
		setTheme(m)
	}
}
