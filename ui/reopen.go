package ui

import (
	"reflect"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

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
	defer func() { _ = recover() }() // a console that ends because its screen broke may break here again
	if here := placeNow(m); here != nil {
		_ = m.viewer.Keep(func(k *Kept) { k.Last = here }) // the console ends: the next one begins on its first screen
	}
}

// placeNow is where the console is; nil where that is not kept.
func placeNow(m *Model) *Place {
	s := m.screen()
	if !m.viewer.Reopens || m.viewer.Keep == nil || len(m.viewer.Unfinished) > 0 && s.History() {
		return nil // the broken-off plan opened it, not the viewer
	}
	here := &Place{Screen: strings.ToLower(s.Name()), Look: s.Look(), Cursor: s.Cursor(&m.frame)}
	if what, _ := s.FilterProblem(); what != "" {
		here.Look.Filter = ""
	}
	return here
}

// keepEvery is how often at most the place of a running console is kept, for one that is killed.
const keepEvery = 30 * time.Second

// keeper knows which place was kept last.
type keeper struct {
	at   time.Time
	last *Place
}

// keepPlace keeps where the console is, beside it, where that changed; nil where there is nothing to do now.
func keepPlace(m *Model) tea.Cmd {
	k := &m.keeper
	if k.at.IsZero() {
		k.at, k.last = m.frame.Now, m.viewer.Kept.Last
	}
	if m.frame.Now.Sub(k.at) < keepEvery {
		return nil
	}
	here := placeNow(m)
	same := reflect.DeepEqual(here, k.last)
	k.at, k.last = m.frame.Now, here
	if here == nil || same {
		return nil
	}
	return func() tea.Msg {
		_ = m.viewer.Keep(func(kept *Kept) { kept.Last = here }) // it is kept again when the console ends
		return nil
	}
}
