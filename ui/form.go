package ui

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// form is a box with text fields. It only collects: what is done with the texts is the order's matter. Enter goes to
// the next field. On the last field it gives the order, if no field is empty.
type form struct {
	order  order
	fields []field
	at     int // the field that is typed into
	note   string
	wrong  bool // note says what is wrong
	busy   bool // the order is on its way
	round  int  // changes with the texts, so that an answer to an older text is told from one to this
}

type field struct {
	label string
	entry entry
}

// order is what a form collects for.
type order interface {
	title() string
	about() []string
	// check reads the texts of the form. The command carries the order out; its answer is an orderedMsg.
	check(f *form) (tea.Cmd, error)
	// preview asks what the order would do with the texts as they are; nil when there is nothing to ask.
	preview(f *form) tea.Cmd
}

func newForm(o order, labels ...string) *form {
	f := &form{order: o}
	for _, l := range labels {
		f.fields = append(f.fields, field{l, newEntry()})
	}
	return f
}

// open shows the form with the i-th field to type into.
func (f *form) open(i int) reply {
	return reply{Push: f, Cmd: tea.Batch(f.focus(i), f.order.preview(f))}
}

func (f *form) waits() bool { return f.busy }

func (*form) Keys() keys.Context { return keys.Form }

// untouched reports whether nothing is typed in any field.
func (f *form) untouched() bool {
	return !f.busy && !slices.ContainsFunc(f.fields, func(x field) bool { return x.entry.value() != "" })
}

func (f *form) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case keys.Intent:
		return f.act(msg), true
	case orderedMsg:
		return f.ordered(msg), true
	case previewMsg:
		if msg.round == f.round && !f.busy {
			f.say(msg.wrong, msg.note)
		}
	case tea.KeyPressMsg, tea.PasteMsg:
		return reply{Cmd: f.typed(msg)}, true
	}
	return reply{}, true
}

// act handles a key that is bound.
func (f *form) act(in keys.Intent) reply {
	switch in.Action {
	case keys.Cancel:
		return reply{Close: true}
	case keys.NextLink:
		return reply{Cmd: f.focus(f.at + 1)}
	case keys.PrevLink:
		return reply{Cmd: f.focus(f.at - 1)}
	case keys.Accept:
		return reply{Cmd: f.accept()}
	}
	return reply{}
}

// accept goes to the next field, or gives the order.
func (f *form) accept() tea.Cmd {
	if f.busy {
		return nil
	}
	if f.at < len(f.fields)-1 {
		return f.focus(f.at + 1)
	}
	if i := f.empty(); i >= 0 {
		f.say(true, f.fields[i].label+" is empty: fill it in first")
		return f.focus(i)
	}
	do, err := f.order.check(f)
	if err != nil {
		f.say(true, err.Error())
		return nil
	}
	f.busy = true
	return do
}

// ordered closes the form, or says in it why nothing was done.
func (f *form) ordered(msg orderedMsg) reply {
	f.busy = false
	if msg.err != nil {
		f.say(true, backend.Clean(msg.err.Error(), 300).String())
		return reply{}
	}
	r := msg.done()
	r.Close = true
	return r
}

// typed hands a key or pasted text to the field.
func (f *form) typed(msg tea.Msg) tea.Cmd {
	if f.busy {
		return nil
	}
	before := f.fields[f.at].entry.value()
	cmd, _ := f.fields[f.at].entry.update(msg)
	if f.fields[f.at].entry.value() == before {
		return cmd
	}
	f.round++
	f.say(false, "")
	return tea.Batch(cmd, f.order.preview(f))
}

// orderedMsg says how an order ended.
type orderedMsg struct {
	form   *form // that gave it; nil: none
	say    string
	err    error
	failed string       // begins the remark about err; empty: not done
	then   func() reply // what follows; nil: nothing
}

func (msg orderedMsg) to() overlay {
	if msg.form == nil {
		return nil
	}
	return msg.form
}

func (msg orderedMsg) missed() reply {
	if msg.err != nil {
		return reply{Say: cmp.Or(msg.failed, "not done") + ": " + backend.Clean(msg.err.Error(), 300).String()}
	}
	return msg.done()
}

func (msg orderedMsg) done() reply {
	var r reply
	if msg.then != nil {
		r = msg.then()
	}
	if r.Say == "" {
		r.Say = msg.say
	}
	r.Refresh = true
	return r
}

// previewMsg says what an order would do.
type previewMsg struct {
	form  *form
	round int
	note  string
	wrong bool
}

func (msg previewMsg) to() overlay { return msg.form }

func (previewMsg) missed() reply { return reply{} }

// set fills a field in.
func (f *form) set(i int, text string) {
	f.fields[i].entry.open(text)
	f.fields[i].entry.input.Blur()
}

func (f *form) focus(i int) tea.Cmd {
	f.fields[f.at].entry.input.Blur()
	f.at = (i + len(f.fields)) % len(f.fields)
	return f.fields[f.at].entry.input.Focus()
}

func (f *form) value(i int) string {
	return backend.Clean(strings.TrimSpace(f.fields[i].entry.value()), maxEntry).String()
}

// empty is the first field without a text, -1 when all have one.
func (f *form) empty() int {
	for i := range f.fields {
		if f.value(i) == "" {
			return i
		}
	}
	return -1
}

func (f *form) say(wrong bool, note string) { f.wrong, f.note = wrong, note }

// formWidth is how wide the dialog is where there is room.
const formWidth = 76

func (f *form) Render(w, h int, frame *views.Frame) (kit.Block, *tea.Cursor) {
	t := frame.Theme
	w, h = min(w-2, formWidth), h-1
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
		l.Put(theme.Accent, mark).Put(tone, f.fields[i].label).PadTo(label + 4)
		if i == f.at {
			x, y = 2+label+4+f.fields[i].entry.drawTail(l, inner-label-5), y+i
		} else {
			f.fields[i].entry.drawHead(l, inner-label-5)
		}
		lines = append(lines, l.String())
	}
	note, tone := f.note, theme.Dim
	switch {
	case f.busy:
		note = frame.Spin
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
