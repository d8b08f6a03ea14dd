package ui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
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

// update hands a message to the field, and reports whether the text is another now.
func (e *entry) update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	before := e.value()
	e.input, cmd = e.input.Update(msg)
	return cmd, e.value() != before
}

func (e *entry) value() string { return e.input.Value() }

// draw writes the text and returns the cursor's place in cells from where it began.
func (e *entry) draw(l *kit.Line) int {
	runes := []rune(e.value())
	at := max(0, min(e.input.Position(), len(runes)))
	before := backend.Clean(string(runes[:at]), maxEntry).String()
	after := backend.Clean(string(runes[at:]), maxEntry).String()
	l.Typed(theme.Strong, before)
	l.Typed(theme.Strong, after)
	return kit.Width(before)
}

// column is where draw puts the i-th character, in cells from where the text began.
func (e *entry) column(i int) int {
	runes := []rune(e.value())
	return kit.Width(backend.Clean(string(runes[:max(0, min(i, len(runes)))]), maxEntry).String())
}

// drawHead writes the text in w cells from its beginning: what it is about is read there while another field is typed in.
func (e *entry) drawHead(l *kit.Line, w int) {
	l.Typed(theme.Strong, kit.Cut(backend.Clean(e.value(), maxEntry).String(), w))
}

// drawTail writes the text in w cells so that the cursor is in sight, and returns the cursor's place from where it began.
func (e *entry) drawTail(l *kit.Line, w int) int {
	runes := []rune(e.value())
	at := max(0, min(e.input.Position(), len(runes)))
	before := backend.Clean(string(runes[:at]), maxEntry).String()
	before = kit.CutLeft(before, w-1)
	l.Typed(theme.Strong, before)
	after := kit.Cut(backend.Clean(string(runes[at:]), maxEntry).String(), w-kit.Width(before))
	l.Typed(theme.Strong, after)
	return kit.Width(before)
}
