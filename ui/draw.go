package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/ui/kit"
	"sandglass/ui/theme"
	"sandglass/views"
	"sandglass/views/columns"
)

// Heights from which the program takes lines for itself even when the screen could use them.
const (
	tabsAlways   = 20
	footerAlways = 10
	ruleFrom     = 30
)

// draw lays the whole screen out.
func (m *Model) draw() (kit.Block, *tea.Cursor) {
	w, h, t := m.width, m.height, m.frame.Theme
	if w < 20 || h < 4 {
		line := kit.NewLine(t, w).Put(theme.Strong, "too small").String()
		return kit.NewBlock(w, h, []string{line}), nil
	}
	top := []string{m.header(w)}
	need := 1 + m.screen().Need(w, &m.frame)
	if h >= tabsAlways || h > need+1 {
		top = append(top, m.tabs(w))
	}
	if h >= ruleFrom {
		top = append(top, kit.Rule(t, w))
	}
	var foot []string
	cursorX := -1
	if h >= footerAlways || m.overlay == overEntry || h > need+1 {
		var line string
		line, cursorX = m.footer(w)
		foot = append(foot, line)
		if h >= ruleFrom {
			foot = append([]string{kit.Rule(t, w)}, foot...)
		}
	}
	bodyH := h - len(top) - len(foot)
	var body kit.Block
	switch m.overlay {
	case overDetails:
		body = m.detail.draw(w, bodyH, &m.frame)
	case overHelp:
		body = m.help.draw(w, bodyH, t, m.keymap)
	case noOverlay, overPalette, overEntry:
		body = m.screen().Render(w, bodyH, &m.frame)
	}
	if len(foot) > 0 && m.overlay != overEntry {
		foot[len(foot)-1], _ = m.footer(w) // its place in the table is known only now
	}
	all := kit.Stack(kit.NewBlock(w, len(top), top), body, kit.NewBlock(w, len(foot), foot))
	switch {
	case m.overlay == overPalette:
		box, x := m.palette.draw(w, h, t)
		left, up := max(0, (w-box.Width)/2), max(0, (h-box.Height())/3)
		return kit.Overlay(all, box, left, up), tea.NewCursor(left+x, up+1)
	case m.overlay == overEntry && cursorX >= 0:
		return all, tea.NewCursor(min(cursorX, w-1), h-1)
	}
	return all, nil
}

// forms is the number of forms of the header, the longest first.
const forms = 6

// header tries longer and shorter forms until one fits.
func (m *Model) header(w int) string {
	end := m.headerEnd(w)
	room := w - spansWidth(end) - 1
	var spans []kit.Span
	for form := range forms {
		if spans = m.headerForm(form, w); spansWidth(spans) <= room {
			break
		}
	}
	l := kit.NewLine(m.frame.Theme, w).Puts(spans...)
	if left := w - spansWidth(end); l.Left() > spansWidth(end) {
		l.To(left).Puts(end...)
	}
	return l.String()
}

func (m *Model) headerForm(form, w int) []kit.Span {
	s := m.frame.Summary
	env := backend.Clean(m.viewer.Environment, 24).String()
	envTone := theme.Accent
	if m.viewer.Production {
		envTone = theme.Warn
		if form == 0 {
			env += " (production)"
		}
	}
	gap, src := "   ", " sources"
	if form >= 1 {
		gap, src = "  ", " src"
	}
	spans := []kit.Span{{Tone: theme.Strong, Text: " sandglass "}, {Tone: envTone, Text: env}}
	srcTone := theme.Normal
	if s.SourcesUp < s.Sources {
		srcTone = theme.Warn
	}
	spans = append(spans, kit.Span{Text: gap}, kit.Span{Tone: srcTone, Text: fmt.Sprintf("%d/%d%s", s.SourcesUp, s.Sources, src)})
	if form <= 2 && w >= 100 {
		spans = append(spans, counts(s, gap, form, form <= 1 && w >= 120)...)
	}
	spans = append(spans, m.alertCounts(s, gap, form)...)
	return spans
}

// counts says how many workspaces and sandboxes there are and, with room, how many of them are in trouble.
func counts(s *views.Summary, gap string, form int, states bool) []kit.Span {
	ws, sb := " workspaces", " sandboxes"
	if form > 0 {
		ws, sb = " ws", " sb"
	}
	spans := []kit.Span{{Text: gap}, {Text: columns.Number(s.Workspaces) + ws}}
	if states && s.Failing > 0 {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " " + columns.Number(s.Failing) + " failing"})
	}
	if states && s.WorkspacesUnknown > 0 {
		spans = append(spans, kit.Span{Tone: theme.Dim, Text: " " + columns.Number(s.WorkspacesUnknown) + " unknown"})
	}
	spans = append(spans, kit.Span{Text: gap}, kit.Span{Text: columns.Number(s.Sandboxes) + sb})
	if states && s.Broken > 0 {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " " + columns.Number(s.Broken) + " broken"})
	}
	return spans
}

func (m *Model) alertCounts(s *views.Summary, gap string, form int) []kit.Span {
	crit, warn, susp := " critical", " warning", " suspected"
	if form >= 1 {
		crit, warn, susp = " crit", " warn", " susp"
	}
	var spans []kit.Span
	add := func(tone theme.Tone, n int, word string) {
		if n > 0 {
			lead := "  "
			if len(spans) == 0 {
				lead = gap
			}
			if form == forms-1 {
				lead = " "
			}
			spans = append(spans, kit.Span{Text: lead}, kit.Span{Tone: tone, Text: columns.Number(n) + word})
		}
	}
	add(theme.Critical, s.Critical, crit)
	add(theme.Warn, s.Warning, warn)
	if len(spans) == 0 && s.Sources > 0 && s.SourcesUp > 0 {
		spans = append(spans, kit.Span{Text: gap}, kit.Span{Tone: theme.Good, Text: "no alert"})
	}
	if form < 4 {
		add(theme.Normal, s.Suspected, susp)
	}
	if s.BlindRule > 0 {
		spans = append(spans, kit.Span{Text: "  "}, kit.Span{Tone: theme.Dim, Text: fmt.Sprintf("blind %d", s.BlindRule)})
	}
	return spans
}

// headerEnd is the right end: how old the data is once that matters, whether it is live, the clock, permissions.
func (m *Model) headerEnd(w int) []kit.Span {
	var spans []kit.Span
	if h := views.Lagging(m.frame.Ctx); h != nil {
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: "data " + columns.Age(m.frame.Now.Sub(h.LastOK)) + " old  "})
	}
	word := "live "
	switch {
	case m.state == nil || m.state.Number == 0:
		word = "connecting "
	case w < 100 || len(spans) > 0:
		word = ""
	}
	mode, short := "read-only", "read"
	if m.viewer.Permissions.Act {
		mode, short = "not armed", "safe"
	}
	if w < 100 {
		mode = short
	}
	return append(spans, kit.Span{Tone: theme.Dim, Text: word}, kit.Span{Text: m.frame.Now.UTC().Format("15:04Z")},
		kit.Span{Tone: theme.Dim, Text: "  " + mode + " "})
}

func spansWidth(spans []kit.Span) int {
	n := 0
	for _, s := range spans {
		n += kit.Width(s.Text)
	}
	return n
}

// tabs draws the screens' names.
func (m *Model) tabs(w int) string {
	l := kit.NewLine(m.frame.Theme, w)
	for i, s := range m.screens {
		num, name := theme.Dim, theme.Dim
		if i == m.current {
			num, name = theme.Accent, theme.Accent
		}
		l.Gap(1).Put(num, fmt.Sprint(s.Number(), " ")).Put(name, s.Name())
		if w >= 80 {
			l.Gap(1)
		}
	}
	return l.String()
}

// footer is the last line: what is being typed, a remark, or the filter in force; then keys; the place at the right.
func (m *Model) footer(w int) (line string, cursor int) {
	l := kit.NewLine(m.frame.Theme, w)
	cursor = -1
	status := m.screen().Status(&m.frame)
	if m.overlay == overDetails || m.overlay == overHelp {
		status = ""
	}
	switch {
	case m.overlay == overEntry:
		l.Put(theme.Accent, " /")
		cursor = 2 + m.entry.draw(l)
		l.Gap(3)
	case m.say != "":
		l.Put(theme.Accent, " "+m.say).Gap(3)
	case m.screen().FilterText() != "" && m.overlay == noOverlay:
		l.Put(theme.Accent, " /"+backend.Clean(m.screen().FilterText(), 60).String()).Put(theme.Dim, "  esc clears it").Gap(3)
	}
	if p := m.screen().FilterProblem(); p != "" && (m.overlay == overEntry || m.overlay == noOverlay) {
		l.Put(theme.Warn, p).Gap(3)
	}
	room := l.Left() - kit.Width(status) - 2
	for _, b := range m.keymap.Of(m.context()) {
		if b.Hint == "" {
			continue
		}
		key := strings.ReplaceAll(b.Keys[0], "pgdown", "pgdn")
		n := kit.Width(key) + kit.Width(b.Hint) + 4
		if n > room {
			break
		}
		room -= n
		l.Gap(1).Put(theme.Strong, key).Gap(1).Put(theme.Dim, b.Hint).Gap(2)
	}
	if status != "" {
		l.End(theme.Dim, status+" ")
	}
	return l.String(), cursor
}
