package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/views/keys"
)

// pointing is what a mouse does on the screen: nothing, until the viewer wants it.
type pointing struct {
	on    bool
	spots []spot // of the tabs, as they were drawn last
	top   int    // lines above the body
}

// spot is where a tab is: from its first cell to the one behind its last.
type spot struct{ from, to, screen int }

// wheelRows is how many rows one step of the wheel goes.
const wheelRows = 3

// toggleMouse lets the mouse point, or gives it back to the terminal.
func (x *scope) toggleMouse() reply {
	if x.pointing.on = !x.pointing.on; x.pointing.on {
		return reply{Say: "mouse on: click a row or a tab, the wheel scrolls; shift selects text; " + x.keymap.First(keys.Everywhere, keys.Intent{Action: keys.Mouse}) + " ends it"}
	}
	return reply{Say: "mouse off"}
}

// pointAt does what a mouse asks for. It chooses and scrolls, and never confirms: what is typed into, and dialogs, have no use for it.
func pointAt(m *Model, msg tea.MouseMsg) tea.Cmd {
	if !m.pointing.on {
		return nil
	}
	at := msg.Mouse()
	switch msg.(type) {
	case tea.MouseWheelMsg:
		in := keys.Intent{Action: keys.Down}
		if at.Button == tea.MouseWheelUp {
			in.Action = keys.Up
		} else if at.Button != tea.MouseWheelDown {
			return nil
		}
		return turnWheel(m, in)
	case tea.MouseClickMsg:
		if len(m.stack) > 0 || at.Button != tea.MouseLeft {
			return nil
		}
		if at.Y == 1 && m.pointing.top > 1 {
			for _, s := range m.pointing.spots {
				if at.X >= s.from && at.X < s.to {
					return tea.Batch(m.do(keys.Intent{Action: keys.Screen, N: s.screen}), m.diagnose())
				}
			}
		}
		if m.screen().Click(at.X, at.Y-m.pointing.top, &m.frame) {
			m.dirty = true
			return m.diagnose()
		}
	}
	return nil
}

// turnWheel scrolls a table, or a page over it.
func turnWheel(m *Model, in keys.Intent) tea.Cmd {
	if top := m.stack.top(); top != nil {
		if _, scrolls := top.(page); !scrolls {
			return nil
		}
	}
	var cmds []tea.Cmd
	for range wheelRows {
		cmds = append(cmds, m.do(in))
	}
	m.dirty = true
	return tea.Batch(append(cmds, m.diagnose())...)
}
