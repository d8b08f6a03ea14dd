package ui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// entry is a line of text that is being typed. It is edited by the library and drawn by us, so that what was typed or
// pasted is as safe as any other text.
type entry struct{ input textinput.Model }

// maxEntry bounds a typed text in characters.
const maxEntry = 500

func newEntry() entry {
	in := textinput.New()
	in.CharLimit = maxEntry
	in.Prompt = ""
	in.SetVirtualCursor(false)
	in.KeyMap.Paste.SetEnabled(false) // it would read the clipboard of the machine the console runs on
	return entry{input: in}
}

func (e *entry) open(text string) tea.Cmd {
	e.input.SetValue(text)
	e.input.CursorEnd()
	return e.input.Focus()
}

func (e *entry) update(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	e.input, cmd = e.input.Update(msg)
	return cmd
}

func (e *entry) value() string { return e.input.Value() }

// draw writes the text and returns the cursor's place in cells from where it began.
func (e *entry) draw(l *kit.Line) int {
	runes := []rune(e.value())
	at := max(0, min(e.input.Position(), len(runes)))
	before := backend.Clean(string(runes[:at]), maxEntry).String()
	after := backend.Clean(string(runes[at:]), maxEntry).String()
	l.Put(theme.Strong, before)
	l.Put(theme.Strong, after)
	return kit.Width(before)
}

// typed hands a key to the filter line and the filter to the screen.
func (m *Model) typed(msg tea.Msg) tea.Cmd {
	before := m.entry.value()
	cmd := m.entry.update(msg)
	if text := m.entry.value(); text != before {
		m.screen().Update(keys.Intent{Action: keys.SetFilter, Text: text}, &m.frame)
		return tea.Batch(cmd, m.goOn())
	}
	return cmd
}

// complete takes the first suggestion.
func (m *Model) complete() tea.Cmd {
	all := m.screen().Suggest(&m.frame)
	if len(all) == 0 {
		return nil
	}
	cmd := m.entry.open(all[0].Text)
	m.screen().Update(keys.Intent{Action: keys.SetFilter, Text: all[0].Text}, &m.frame)
	return tea.Batch(cmd, m.goOn())
}

// offered is the line above the filter that is typed: what is wrong with it, or how it can go on.
func (m *Model) offered(w int) []string {
	t := m.frame.Theme
	if p := m.screen().FilterProblem(); p != "" {
		var out []string
		for _, part := range kit.Wrap(p, w-2) {
			out = append(out, kit.NewLine(t, w).Gap(1).Put(theme.Warn, part).String())
		}
		return out[:min(len(out), mostOffered)]
	}
	all := m.screen().Suggest(&m.frame)
	if len(all) == 0 {
		return nil
	}
	l := kit.NewLine(t, w).Gap(1).Put(theme.Accent, "tab ")
	for i, s := range all {
		if kit.Width(s.Word)+2 >= l.Left() {
			l.Put(theme.Dim, "…")
			break
		}
		tone := theme.Dim
		if i == 0 {
			tone = theme.Normal
		}
		l.Put(tone, s.Word).Gap(2)
	}
	return []string{l.String()}
}

// mostOffered is how many lines a problem of a filter may take.
const mostOffered = 3

// goOn lets the screen go on with a long filter between two messages.
func (m *Model) goOn() tea.Cmd {
	if !m.screen().Busy() {
		return nil
	}
	return func() tea.Msg { return stepMsg{} }
}

// paste goes to text entries only.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	msg.Content = backend.Clean(strings.Join(strings.Fields(msg.Content), " "), 200).String()
	switch m.overlay {
	case overEntry:
		return m.typed(msg)
	case overPalette:
		return m.palette.update(msg, m.keymap)
	case overForm:
		return m.typedInForm(msg)
	case overPlan:
		m.pasteInPlan()
	case noOverlay, overDetails, overHelp, overSilences, overRun, overVerbs:
	}
	return nil
}

// endEntry keeps the filter or drops it. A kept one that hides the row under the cursor puts it on the first that matches:
// the operator asked for other rows, none went away by itself.
func (m *Model) endEntry(in keys.Intent) {
	m.overlay = noOverlay
	switch {
	case in.Action == keys.Cancel:
		m.screen().Update(keys.Intent{Action: keys.SetFilter}, &m.frame)
	case m.screen().Cursor(&m.frame) == (backend.Key{}):
		m.screen().Update(keys.Intent{Action: keys.Top}, &m.frame)
	}
}
