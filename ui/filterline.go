package ui

import (
	"slices"
	"strings"

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
	past   *pastFilters
	at     int    // which of past is shown; their number: none
	own    string // what was typed before the first of past was shown
	note   string // what the last key did not find; empty: it did what it is for
}

func openFilter(s views.Screen, past *pastFilters) reply {
	l := &filterLine{screen: s, entry: newEntry(), past: past, at: len(past.texts)}
	return reply{Push: l, Cmd: l.entry.open(s.FilterText())}
}

// pastFilters are the filters that were kept, on any screen, the newest last.
type pastFilters struct{ texts []string }

// mostPast is how many filters are remembered.
const mostPast = 50

func (p *pastFilters) add(text string) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	p.texts = append(slices.DeleteFunc(p.texts, func(old string) bool { return old == text }), text)
	p.texts = p.texts[max(0, len(p.texts)-mostPast):]
}

func (*filterLine) Keys() keys.Context { return keys.FilterLine }

func (l *filterLine) untouched() bool { return l.entry.value() == "" }

func (l *filterLine) Update(msg tea.Msg, f *views.Frame) (reply, bool) {
	l.note = ""
	switch msg := msg.(type) {
	case keys.Intent:
		return l.act(msg, f), true
	case tea.KeyPressMsg, tea.PasteMsg:
		cmd, changed := l.entry.update(msg)
		if changed {
			l.set(l.entry.value(), f)
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
		return l.replace(all[0].Text, f)
	case keys.Up, keys.Down:
		return l.recall(in.Action == keys.Up, f)
	case keys.Cancel:
		l.set("", f)
	default:
		if what, _ := l.screen.FilterProblem(); what == "" {
			l.past.add(l.entry.value())
		}
		if l.screen.Cursor(f) == (backend.Key{}) {
			l.screen.Update(keys.Intent{Action: keys.Top}, f)
		}
	}
	return reply{Close: true}
}

// recall shows the filter that was kept before the one that is shown, or after it; after the last one, what was typed.
func (l *filterLine) recall(older bool, f *views.Frame) reply {
	n, at := len(l.past.texts), l.at+1
	if older {
		at = l.at - 1
	}
	switch {
	case n == 0:
		l.note = "no filter was kept before"
		return reply{}
	case at < 0:
		l.note = "this is the oldest filter that was kept"
		return reply{}
	case at > n:
		l.note = "this is the newest filter"
		return reply{}
	case l.at == n:
		l.own = l.entry.value()
	}
	l.at = at
	if at == n {
		return l.replace(l.own, f)
	}
	return l.replace(l.past.texts[at], f)
}

func (l *filterLine) replace(text string, f *views.Frame) reply {
	cmd := l.entry.open(text)
	l.set(text, f)
	return reply{Cmd: cmd}
}

func (l *filterLine) set(text string, f *views.Frame) {
	l.screen.Update(keys.Intent{Action: keys.SetFilter, Text: text}, f)
}

func (l *filterLine) prompt(line *kit.Line) (cursor int) {
	line.Put(theme.Accent, " /")
	return promptWidth + l.entry.draw(line)
}

// Render draws the line above the filter: what is wrong with it, or how it can go on.
func (l *filterLine) Render(w, _ int, f *views.Frame) (kit.Block, *tea.Cursor) {
	lines := l.offered(w, f)
	return kit.NewBlock(w, len(lines), lines), nil
}

func (l *filterLine) offered(w int, f *views.Frame) []string {
	t := f.Theme
	if l.note != "" {
		return []string{kit.NewLine(t, w).Gap(1).Put(theme.Accent, l.note).String()}
	}
	if p, at := l.screen.FilterProblem(); p != "" {
		var out []string
		for _, part := range kit.Wrap(p, w-2) {
			out = append(out, kit.NewLine(t, w).Gap(1).Put(theme.Warn, part).String())
		}
		out = out[:min(len(out), mostOffered)]
		if x := promptWidth + l.entry.column(at-1); x < w { // the arrow points at the character in the line below
			out = append(out, kit.NewLine(t, w).PadTo(x).Put(theme.Warn, "↓").String())
		}
		return out
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

// promptWidth is how many cells come before the typed text.
const promptWidth = 2

// mostOffered is how many lines a problem of a filter may take.
const mostOffered = 3
