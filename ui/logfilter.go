package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// logFilter is the filter of a log view while it is typed, in the footer.
type logFilter struct {
	page    *logPage
	entry   entry
	problem string
}

func openLogFilter(p *logPage) reply {
	l := &logFilter{page: p, entry: newEntry()}
	return reply{Push: l, Cmd: l.entry.open(p.view.Filter())}
}

func (*logFilter) Keys() keys.Context { return keys.FilterLine }

func (l *logFilter) untouched() bool { return l.entry.value() == "" }

func (l *logFilter) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case keys.Intent:
		switch msg.Action {
		case keys.Cancel:
			l.set("")
			return reply{Close: true}, true
		case keys.Accept:
			if l.problem != "" {
				return reply{}, true // it is said above
			}
			return reply{Close: true}, true
		}
	case tea.KeyPressMsg, tea.PasteMsg:
		cmd, changed := l.entry.update(msg)
		if changed {
			l.set(l.entry.value())
		}
		return reply{Cmd: cmd}, true
	}
	return reply{}, true
}

func (l *logFilter) set(text string) {
	l.problem = ""
	if err := l.page.view.SetFilter(text); err != nil {
		l.problem = err.Error()
	}
}

func (l *logFilter) prompt(line *kit.Line) (cursor int) {
	line.Put(theme.Accent, " /")
	return promptWidth + l.entry.draw(line)
}

// Render draws the line above the filter: what is wrong with it, or what it takes.
func (l *logFilter) Render(w, _ int, f *views.Frame) (kit.Block, *tea.Cursor) {
	line := kit.NewLine(f.Theme, w).Gap(1)
	if l.problem != "" {
		line.Put(theme.Warn, l.problem)
	} else {
		line.Put(theme.Dim, "all must be in the line; !WORD must not; ~EXPRESSION, up to the next ~ or !; lower case finds both cases")
	}
	return kit.NewBlock(w, 1, []string{line.String()}), nil
}
