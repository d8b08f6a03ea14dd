package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// pageLine is a text about a page while it is typed, in the footer: a filter, or what is sought.
type pageLine struct {
	entry entry
	set   func(text string)
}

func openPageLine(text string, set func(string)) reply {
	e := &pageLine{entry: newEntry(), set: set}
	return reply{Push: e, Cmd: e.entry.open(text)}
}

func (*pageLine) Keys() keys.Context { return keys.FilterLine }

func (e *pageLine) untouched() bool { return e.entry.value() == "" }

func (*pageLine) offers(a keys.Action, _ *views.Frame) bool { return a != keys.Complete }

func (e *pageLine) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case keys.Intent:
		switch msg.Action {
		case keys.Cancel:
			e.set("")
			return reply{Close: true}, true
		case keys.Accept:
			return reply{Close: true}, true
		}
	case tea.KeyPressMsg, tea.PasteMsg:
		cmd, changed := e.entry.update(msg)
		if changed {
			e.set(e.entry.value())
		}
		return reply{Cmd: cmd}, true
	}
	return reply{}, true
}

func (e *pageLine) prompt(line *kit.Line) (cursor int) {
	line.Put(theme.Accent, " /")
	return promptWidth + e.entry.draw(line)
}

// Render draws nothing above the footer.
func (e *pageLine) Render(w, _ int, _ *views.Frame) (kit.Block, *tea.Cursor) {
	return kit.NewBlock(w, 0, nil), nil
}
