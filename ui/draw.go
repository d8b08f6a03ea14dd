package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/plan"
	"sandglass/views/theme"
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
	top = append(top, m.broken(w)...)
	var foot []string
	cursorX := -1
	if h >= footerAlways || m.overlay == overEntry || h > need+1 {
		var line string
		line, cursorX = m.footer(w)
		if m.overlay == overEntry && h >= footerAlways {
			foot = append(foot, m.offered(w)...)
		}
		foot = append(foot, line)
		if h >= ruleFrom {
			foot = append([]string{kit.Rule(t, w)}, foot...)
		}
	}
	body := m.body(w, h-len(top)-len(foot))
	if len(foot) > 0 && m.overlay != overEntry {
		foot[len(foot)-1], _ = m.footer(w) // its place in the table is known only now
	}
	all := kit.Stack(kit.NewBlock(w, len(top), top), body, kit.NewBlock(w, len(foot), foot))
	switch {
	case m.overlay == overPalette:
		box, x := m.palette.draw(w, h, t)
		left, up := middle(w, h, box)
		return kit.Overlay(all, box, left, up), tea.NewCursor(left+x, up+1)
	case m.overlay == overForm:
		box, at := m.form.draw(w, h-1, t)
		left, up := middle(w, h, box)
		at.X, at.Y = at.X+left, at.Y+up
		return kit.Overlay(all, box, left, up), at
	case m.overlay == overPlan || m.overlay == overRun || m.overlay == overVerbs:
		return m.drawActing(all, w, h)
	case m.overlay == overEntry && cursorX >= 0:
		return all, tea.NewCursor(min(cursorX, w-1), h-1)
	}
	return all, nil
}

// body is what lies between header and footer, below any dialog.
func (m *Model) body(w, h int) kit.Block {
	shown := m.overlay
	switch shown {
	case overForm, overPlan, overRun, overVerbs:
		shown = m.under
	}
	switch shown {
	case overDetails:
		return m.detail.draw(w, h, &m.frame)
	case overHelp:
		return m.help.draw(w, h, m.frame.Theme, m.keymap)
	case overSilences:
		return m.silences.draw(w, h, &m.frame)
	case noOverlay, overPalette, overEntry, overForm, overPlan, overRun, overVerbs:
	}
	return m.screen().Render(w, h, &m.frame)
}

// middle is where a dialog lies on a screen of w×h cells: a little above the middle.
func middle(w, h int, box kit.Block) (x, y int) {
	return max(0, (w-box.Width)/2), max(0, (h-box.Height())/3)
}

// broken says which plans were broken off, above everything else. It takes no key but esc, which says that it was read.
func (m *Model) broken(w int) []string {
	var out []string
	for i, b := range m.unfinished {
		if i == mostBroken {
			out = append(out, kit.NewLine(m.frame.Theme, w).Put(theme.Warn, fmt.Sprintf(" and %d more: sandglass audit show", len(m.unfinished)-i)).String())
			break
		}
		for _, l := range kit.Wrap("broken off: "+b.String(), w-2) {
			out = append(out, kit.NewLine(m.frame.Theme, w).Put(theme.Warn, " "+l).String())
		}
	}
	if len(out) > 0 {
		out = append(out, kit.NewLine(m.frame.Theme, w).Put(theme.Dim, " read what became of its targets before anything is done again; esc: read").String())
	}
	return out
}

// mostBroken is how many broken plans are named.
const mostBroken = 3

// form is one way to write the header: what is said, and in how many words.
type form struct {
	long      bool // whole words
	name      bool // the program's name
	counts    bool // how many workspaces and sandboxes there are
	states    bool // and how many of them are in trouble
	suspected bool
	tight     bool // one space between
}

// forms are tried in this order until one fits. What hurts most is in all of them.
func forms() []form {
	return []form{
		{long: true, name: true, counts: true, states: true, suspected: true},
		{name: true, counts: true, states: true, suspected: true},
		{name: true, counts: true, states: true},
		{name: true, counts: true, suspected: true},
		{name: true, suspected: true},
		{name: true},
		{tight: true},
	}
}

// Widths in cells from which the header says more.
const (
	countsFrom = 100
	statesFrom = 120
	modeFrom   = 72
)

// header tries longer and shorter forms until one fits.
func (m *Model) header(w int) string {
	end := m.headerEnd(w)
	room := w - spansWidth(end) - 2
	var spans []kit.Span
	for _, f := range forms() {
		f.counts = f.counts && w >= countsFrom
		f.states = f.states && w >= statesFrom
		if spans = m.headerForm(f); spansWidth(spans) <= room {
			break
		}
	}
	l := kit.NewLine(m.frame.Theme, w).Puts(spans...)
	if left := w - spansWidth(end); l.Left() > spansWidth(end) {
		l.To(left).Puts(end...)
	}
	return l.String()
}

func (m *Model) headerForm(f form) []kit.Span {
	s := m.frame.Summary
	env := kit.Span{Tone: theme.Accent, Text: backend.Clean(m.viewer.Environment, 24).String()}
	if m.viewer.Production {
		env.Tone = theme.Warn
		if f.long {
			env.Text += " (production)"
		}
	}
	gap, src := "  ", " src"
	if f.long {
		gap, src = "   ", " sources"
	}
	spans := []kit.Span{{Text: " "}}
	if f.name {
		spans = append(spans, kit.Span{Tone: theme.Strong, Text: "sandglass "})
	}
	up := kit.Span{Text: fmt.Sprintf("%d/%d%s", s.SourcesUp, s.Sources, src)}
	if s.SourcesUp < s.Sources {
		up.Tone = theme.Warn
	}
	spans = append(spans, env, kit.Span{Text: gap}, up)
	if f.counts {
		spans = append(spans, counts(s, gap, f)...)
	}
	return append(spans, alertCounts(s, gap, f)...)
}

// counts says how many workspaces and sandboxes there are and, with room, how many of them are in trouble.
func counts(s *views.Summary, gap string, f form) []kit.Span {
	ws, sb := " ws", " sb"
	if f.long {
		ws, sb = " workspaces", " sandboxes"
	}
	spans := []kit.Span{{Text: gap}, {Text: kit.Number(s.Workspaces) + ws}}
	if f.states && s.Failing > 0 {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " " + kit.Number(s.Failing) + " failing"})
	}
	if f.states && s.WorkspacesUnknown > 0 {
		spans = append(spans, kit.Span{Tone: theme.Dim, Text: " " + kit.Number(s.WorkspacesUnknown) + " unknown"})
	}
	spans = append(spans, kit.Span{Text: gap}, kit.Span{Text: kit.Number(s.Sandboxes) + sb})
	if f.states && s.Broken > 0 {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " " + kit.Number(s.Broken) + " broken"})
	}
	return spans
}

func alertCounts(s *views.Summary, gap string, f form) []kit.Span {
	crit, warn, susp := " crit", " warn", " susp"
	if f.long {
		crit, warn, susp = " critical", " warning", " suspected"
	}
	between := "  "
	if f.tight {
		gap, between = " ", " "
	}
	var spans []kit.Span
	add := func(tone theme.Tone, n int, word string) {
		if n > 0 {
			lead := between
			if len(spans) == 0 {
				lead = gap
			}
			spans = append(spans, kit.Span{Text: lead}, kit.Span{Tone: tone, Text: kit.Number(n) + word})
		}
	}
	add(theme.Critical, s.Critical, crit)
	add(theme.Warn, s.Warning, warn)
	if len(spans) == 0 && s.SourcesUp > 0 {
		spans = append(spans, kit.Span{Text: gap}, kit.Span{Tone: theme.Good, Text: "no alert"})
	}
	if f.suspected {
		add(theme.Normal, s.Suspected, susp)
	}
	if s.BlindRule > 0 {
		spans = append(spans, kit.Span{Text: between}, kit.Span{Tone: theme.Dim, Text: fmt.Sprintf("blind %d", s.BlindRule)})
	}
	return spans
}

// headerEnd is the right end: how old the data is once that matters, whether it is live, the clock, permissions.
func (m *Model) headerEnd(w int) []kit.Span {
	var spans []kit.Span
	if h := views.Lagging(m.frame.Snapshot); h != nil {
		age := "data " + backend.Age(m.frame.Now.Sub(h.LastOK))
		if w >= modeFrom {
			age += " old"
		}
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: age + "  "})
	}
	word := "live "
	switch {
	case m.state == nil || m.state.Number == 0:
		word = "connecting "
	case w < countsFrom || len(spans) > 0:
		word = ""
	}
	spans = append(spans, kit.Span{Tone: theme.Dim, Text: word}, kit.Span{Text: m.frame.Now.UTC().Format("15:04Z")})
	return append(spans, m.mode(w))
}

// mode says whether this console can act, and whether it does right now. What can hurt is said at every width.
func (m *Model) mode(w int) kit.Span {
	long, short, tone := "read-only", "read", theme.Dim
	c := m.viewer.Control
	if c != nil && c.CanAct() {
		long, short = "not armed", "safe"
		if a, armed := c.Armed(); armed {
			long, tone = "armed "+backend.Age(a.Until.Sub(m.frame.Now)), theme.Warn
			short = long
		}
		if r := c.Current(); r != nil {
			if p := r.Snapshot(); !p.Over() {
				long, tone = fmt.Sprintf("%s %d/%d", p.Plan.Verb, p.Acted(), len(p.Lines)), theme.Accent
				short = long
			}
		}
	}
	switch {
	case w < modeFrom && tone == theme.Dim:
		return kit.Span{Text: " "}
	case w < countsFrom:
		long = short
	}
	return kit.Span{Tone: tone, Text: "  " + long + " "}
}

// drawActing lays a plan's dialog, a run or the list of verbs over the screen.
func (m *Model) drawActing(all kit.Block, w, h int) (kit.Block, *tea.Cursor) {
	t, a, now := m.frame.Theme, &m.act, m.viewer.Now()
	var box kit.Block
	var cursor *tea.Cursor
	x, y := 0, 0
	switch {
	case m.overlay == overPlan && a.confirming != nil:
		a.confirming.Drawn(now)
		a.dialog.Now, a.dialog.Typed, a.dialog.Ready = now, a.confirming.Typed(), a.confirming.Ready(now)
		box, x, y = a.dialog.Draw(w-2, h-2, t)
		cursor = tea.NewCursor(x, y)
	case m.overlay == overRun && a.run != nil:
		v := plan.Progress{Progress: a.run.Snapshot(), Now: now, Pager: &a.pager, Note: m.say}
		box = v.Draw(w-2, h-2, t)
	default:
		box = plan.Verbs(a.label, a.verbs, a.at, w-2, h-2, t)
	}
	left, up := middle(w, h, box)
	if cursor != nil {
		cursor.X, cursor.Y = cursor.X+left, cursor.Y+up
	}
	return kit.Overlay(all, box, left, up), cursor
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
	gap := 1
	if w >= 80 {
		gap = 2
	}
	most := m.tabWidth(w, gap)
	for i, s := range m.screens {
		tone, name := theme.Dim, kit.Cut(s.Name(), most)
		if i == m.current {
			tone, name = theme.Accent, s.Name()
		}
		l.Gap(1).Put(tone, fmt.Sprint(s.Number(), " ")).Put(tone, name).Gap(gap - 1)
	}
	return l.String()
}

// tabWidth is how many cells the name of a screen gets so that all of them fit; that of the one that is shown is whole.
func (m *Model) tabWidth(w, gap int) int {
	const whole, least = 20, 3
	for most := whole; most > least; most-- {
		used := 0
		for i, s := range m.screens {
			n := kit.Width(s.Name())
			if i != m.current {
				n = min(n, most)
			}
			used += gap + 2 + n
		}
		if used <= w {
			return most
		}
	}
	return least
}
