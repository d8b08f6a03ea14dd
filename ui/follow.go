package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/keys"
)

// wait returns a command that reports the next change, after a pause that bounds how often that happens.
func (m *Model) wait(pause time.Duration) tea.Cmd {
	changed, done := m.changed, m.done
	return func() tea.Msg {
		if pause > 0 {
			t := time.NewTimer(pause)
			defer t.Stop()
			select {
			case <-t.C:
			case <-done:
				return nil
			}
		}
		select {
		case <-changed:
			return changedMsg{}
		case <-done:
			return nil
		}
	}
}

// pause is how long the next State waits to be drawn: not at all while a source has not answered yet.
func (m *Model) pause() time.Duration {
	if m.state == nil || m.state.Starting() {
		return 0
	}
	return refreshEvery
}

// tick returns a command that reports that a second has passed.
func tick(done <-chan struct{}) tea.Cmd {
	return func() tea.Msg {
		t := time.NewTimer(tickEvery)
		defer t.Stop()
		select {
		case <-t.C:
			return tickMsg{}
		case <-done:
			return nil
		}
	}
}

// refresh takes the newest State and Board.
func (m *Model) refresh() {
	state, board := m.feed.Latest()
	m.state = state
	m.frame.Snapshot = m.frame.Next(now(m), state, board)
	m.remember()
	noticeSignals(m)
	sample(&m.frame)
	m.frame.Summary = views.Summarise(m.frame.Snapshot)
	for _, o := range m.stack {
		o.Update(changedMsg{}, &m.frame)
	}
	m.dirty = true
	seekFocus(m)
}

// remember takes what happened, where that is shown, and the names that are hidden.
func (m *Model) remember() {
	if h, ok := m.feed.(History); ok && m.screen().History() {
		m.frame.Events = h.Timeline(recentEvents)
	}
	hideNames(m)
}

// onTick moves the time on and tells the sources what is on the screen.
func (m *Model) onTick() {
	m.frame.Snapshot = m.frame.Next(now(m), m.frame.State, m.frame.Board)
	if m.sayTicks > 0 {
		if m.sayTicks--; m.sayTicks == 0 {
			m.say = ""
		}
	}
	if seen := m.seen(); !slices.Equal(seen, m.visible) {
		m.visible = seen
		m.feed.SetVisible(m.viewer.id(), m.visible)
	}
	m.dirty = true
}

// seen are the entities on the screen; alerts and sources are none.
func (m *Model) seen() []backend.Key {
	keys := m.screen().Visible()
	if s, ok := m.stack.top().(subjected); ok {
		keys = []backend.Key{s.subject()}
	}
	keys = slices.Concat(keys, m.frame.Pins.Keys) // figures are read of what is seen
	return slices.DeleteFunc(keys, func(k backend.Key) bool {
		return k.Kind.Spec().Copy == nil
	})
}

// seekFocus looks for the id that the viewer asked for at the start.
func seekFocus(m *Model) {
	if m.focus == "" || m.state == nil {
		return
	}
	for i, s := range m.screens {
		if o := s.Update(keys.Intent{Action: keys.Focus, Text: m.focus}, &m.frame); o.Open != (backend.Key{}) {
			m.current, m.focus, m.say = i, "", ""
			m.apply(nil, replyOf(o))
			return
		}
	}
	text := "waiting for " + backend.Clean(m.focus, 60).String() + ": no source has shown it yet"
	if !slices.ContainsFunc(m.state.Sources, func(h *fleet.SourceHealth) bool { return h.Status == fleet.StatusStarting }) {
		text = backend.Clean(m.focus, 60).String() + " is on no screen: no source that was read shows one subject of this id"
	}
	m.remark(text)
}

// goOn lets the screen go on with a long filter between two messages.
func (m *Model) goOn() tea.Cmd {
	if !m.screen().Busy() {
		return nil
	}
	return func() tea.Msg { return stepMsg{} }
}
