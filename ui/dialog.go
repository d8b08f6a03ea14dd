package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// dialog is a box with text fields. It only collects: what is done with the texts is the order's matter. Enter goes to
// the next field and, from the last one, asks for the order; nothing is ordered while a field is empty.
type dialog struct {
	order  order
	fields []field
	at     int // the field that is typed into
	note   string
	wrong  bool // note says what is wrong
	busy   bool // the order is on its way
	round  int  // tells answers to an older text from those to this one
}

type field struct {
	label string
	entry entry
}

func newDialog(o order, labels ...string) dialog {
	f := dialog{order: o}
	for _, l := range labels {
		f.fields = append(f.fields, field{l, newEntry()})
	}
	return f
}

// set fills a field in.
func (f *dialog) set(i int, text string) {
	f.fields[i].entry.open(text)
	f.fields[i].entry.input.Blur()
}

func (f *dialog) focus(i int) tea.Cmd {
	f.fields[f.at].entry.input.Blur()
	f.at = (i + len(f.fields)) % len(f.fields)
	return f.fields[f.at].entry.input.Focus()
}

func (f *dialog) value(i int) string {
	return backend.Clean(strings.TrimSpace(f.fields[i].entry.value()), maxEntry).String()
}

// empty is the first field without a text, -1 when all have one.
func (f *dialog) empty() int {
	for i := range f.fields {
		if f.value(i) == "" {
			return i
		}
	}
	return -1
}

func (f *dialog) say(wrong bool, note string) { f.wrong, f.note = wrong, note }

// typed hands a key or pasted text to the field.
func (f *dialog) typed(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	before := f.fields[f.at].entry.value()
	cmd = f.fields[f.at].entry.update(msg)
	if changed = f.fields[f.at].entry.value() != before; changed {
		f.round++
		f.say(false, "")
	}
	return cmd, changed
}

// step handles a key that is bound; ready says that everything is filled in and the last enter asked for the order.
func (f *dialog) step(in keys.Intent) (cmd tea.Cmd, ready bool) {
	switch in.Action {
	case keys.NextLink:
		return f.focus(f.at + 1), false
	case keys.PrevLink:
		return f.focus(f.at - 1), false
	case keys.Accept:
		if f.busy {
			return nil, false
		}
		if f.at < len(f.fields)-1 {
			return f.focus(f.at + 1), false
		}
		if i := f.empty(); i >= 0 {
			f.say(true, f.fields[i].label+" is empty: fill it in first")
			return f.focus(i), false
		}
		return nil, true
	}
	return nil, false
}

// formWidth is how wide the dialog is where there is room.
const formWidth = 76

func (f *dialog) draw(w, h int, t *theme.Theme) (block kit.Block, cursor *tea.Cursor) {
	w = min(w-2, formWidth)
	inner := w - 4
	var lines []string
	for _, s := range f.order.about() {
		for _, l := range kit.Wrap(s, inner) {
			lines = append(lines, kit.NewLine(t, inner).Put(theme.Dim, l).String())
		}
	}
	if room := max(h-len(f.fields)-4, 0); len(lines) > room {
		lines = lines[:room]
	}
	label := 0
	for _, x := range f.fields {
		label = max(label, kit.Width(x.label))
	}
	y := len(lines) + 1
	x := 0
	for i := range f.fields {
		l := kit.NewLine(t, inner)
		mark, tone := "  ", theme.Dim
		if i == f.at {
			mark, tone = "› ", theme.Accent
		}
		l.Put(theme.Accent, mark).Put(tone, f.fields[i].label).To(label + 4)
		at := f.fields[i].entry.drawTail(l, inner-label-5)
		if i == f.at {
			x, y = 2+label+4+at, y+i
		}
		lines = append(lines, l.String())
	}
	note, tone := f.note, theme.Dim
	switch {
	case f.busy:
		note = "…"
	case note == "":
		note = "enter goes to the next line, on the last one it is done; esc leaves"
	case f.wrong:
		tone = theme.Warn
	}
	for _, l := range kit.Wrap(note, inner) {
		if len(lines) < h-2 {
			lines = append(lines, kit.NewLine(t, inner).Put(tone, l).String())
		}
	}
	return kit.Frame(t, w, f.order.title(), lines), tea.NewCursor(x, y)
}

// drawTail writes the text in w cells so that the cursor is in sight, and returns the cursor's place from where it began.
func (e *entry) drawTail(l *kit.Line, w int) int {
	runes := []rune(e.value())
	at := max(0, min(e.input.Position(), len(runes)))
	before := backend.Clean(string(runes[:at]), maxEntry).String()
	before = kit.CutLeft(before, w-1)
	l.Put(theme.Strong, before)
	after := kit.Cut(backend.Clean(string(runes[at:]), maxEntry).String(), w-kit.Width(before))
	l.Put(theme.Strong, after)
	return kit.Width(before)
}
