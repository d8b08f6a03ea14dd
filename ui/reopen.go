package ui

import (
	"strings"

	"sandglass/backend"
	"sandglass/views"
)

// Place is where a console was left.
type Place struct {
	Screen string      `json:"screen"` // its name in the tabs, in lower case
	Look   views.Look  `json:"look"`
	Cursor backend.Key `json:"cursor,omitzero"`
}

// reopen shows what the viewer left, unless something else is asked for. What of it is not there any more is left out; the cursor goes
// to its row as soon as a source shows it, and stays where the viewer moves it before.
func reopen(m *Model) {
	last := m.viewer.Kept.Last
	if !m.viewer.Reopens || last == nil || m.focus != "" || len(m.unfinished) > 0 {
		return
	}
	for i, s := range m.screens {
		if strings.ToLower(s.Name()) != last.Screen {
			continue
		}
		look := last.Look
		if part, _ := s.CheckLook(look); part != "" { // of another version
			look = views.Look{}
		}
		m.current = i
		s.SetLook(look)
		s.Seek(last.Cursor)
		m.remember()
		if look.Filter == "" { // the footer has the filter, and how it is cleared
			m.remark("as you left it")
		}
		return
	}
}

// leave keeps where the console is left.
func leave(m *Model) {
	if !m.viewer.Reopens || m.viewer.Keep == nil {
		return
	}
	defer func() { _ = recover() }() // a console that ends because its screen broke may break here again
	s := m.screen()
	if len(m.viewer.Unfinished) > 0 && s.History() {
		return // the broken-off plan opened it, not the viewer
	}
	here := &Place{Screen: strings.ToLower(s.Name()), Look: s.Look(), Cursor: s.Cursor(&m.frame)}
	if what, _ := s.FilterProblem(); what != "" {
		here.Look.Filter = ""
	}
	_ = m.viewer.Keep(func(k *Kept) { k.Last = here }) // the console ends: the next one begins on its first screen
}
