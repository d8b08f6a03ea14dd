package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// filterLine is the filter of a screen while it is typed, in the footer.
type filterLine struct {
	screen views.Screen
	entry  entry
}

func openFilter(s views.Screen) reply {
	l := &filterLine{screen: s, entry: newEntry()}
	return reply{Push: l, Cmd: l.entry.open(s.FilterText())}
}

func (*filterLine) Keys() keys.Context { return keys.FilterLine }

func (l *filterLine) Update(msg tea.Msg, f *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case keys.Intent:
		return l.act(msg, f), true
	case tea.KeyPressMsg, tea.PasteMsg:
		before := l.entry.value()
		cmd := l.entry.update(msg)
		if text := l.entry.value(); text != before {
			l.set(text, f)
		}
		return reply{Cmd: cmd}, true
	}
	return reply{}, true
}

// act ends the entry. A filter that is kept and hides the row under the cursor puts the cursor on the first row that
// matches: the operator asked for other rows.
func (l *filterLine) act(in keys.Intent, f *views.Frame) reply {
	switch in.Action {
	case keys.Complete:
		all := l.screen.Suggest(f)
		if len(all) == 0 {
			return reply{}
		}
		cmd := l.entry.open(all[0].Text)
		l.set(all[0].Text, f)
		return reply{Cmd: cmd}
	case keys.Cancel:
		l.set("", f)
	default:
		if l.screen.Cursor(f) == (backend.Key{}) {
			l.screen.Update(keys.Intent{Action: keys.Top}, f)
		}
	}
	return reply{Close: true}
}

func (l *filterLine) set(text string, f *views.Frame) {
	l.screen.Update(keys.Intent{Action: keys.SetFilter, Text: text}, f)
}

func (l *filterLine) prompt(line *kit.Line) (cursor int) {
	line.Put(theme.Accent, " /")
	return 2 + l.entry.draw(line)
}

// Render draws the line above the filter: what is wrong with it, or how it can go on.
func (l *filterLine) Render(w, _ int, f *views.Frame) (kit.Block, *tea.Cursor) {
	lines := l.offered(w, f)
	return kit.NewBlock(w, len(lines), lines), nil
}

func (l *filterLine) offered(w int, f *views.Frame) []string {
	t := f.Theme
	if p := l.screen.FilterProblem(); p != "" {
		var out []string
		for _, part := range kit.Wrap(p, w-2) {
			out = append(out, kit.NewLine(t, w).Gap(1).Put(theme.Warn, part).String())
		}
		return out[:min(len(out), mostOffered)]
	}
	all := l.screen.Suggest(f)
	if len(all) == 0 {
		return nil
	}
	line := kit.NewLine(t, w).Gap(1).Put(theme.Accent, "tab ")
	for i, s := range all {
		if kit.Width(s.Word)+2 >= line.Left() {
			line.Put(theme.Dim, "…")
			break
		}
		tone := theme.Dim
		if i == 0 {
			tone = theme.Normal
		}
		line.Put(tone, s.Word).Gap(2)
	}
	return []string{line.String()}
}

// mostOffered is how many lines a problem of a filter may take.
const mostOffered = 3
