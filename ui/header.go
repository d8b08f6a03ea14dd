package ui

import (
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// unfinished says above everything else which plans were broken off. It takes no key but esc, which says that it was read.
func unfinished(w int, f *views.Frame, plans []backend.Safe) []string {
	t := f.Theme
	var out []string
	for i, b := range plans {
		if i == mostUnfinished {
			out = append(out, kit.NewLine(t, w).Put(theme.Warn, fmt.Sprintf(" and %d more: %s", len(plans)-i, f.Pasted("sandglass audit show"))).String())
			break
		}
		for _, l := range kit.Wrap(f.Shown("broken off: "+b.String()), w-2) {
			out = append(out, kit.NewLine(t, w).Put(theme.Warn, " "+l).String())
		}
	}
	if len(out) > 0 {
		out = append(out, kit.NewLine(t, w).Put(theme.Dim, " check each target before you act again; esc: read").String())
	}
	return out
}

// mostUnfinished is how many of them are named.
const mostUnfinished = 3

// wording is one way to write the header: what is said, and in how many words.
type wording struct {
	long   bool // whole words for severities
	counts bool // how many workspaces and sandboxes there are
	states bool // and how many of them are in trouble
	clock  bool
	tight  bool // one space between
	merged merging
}

// merging is which counts are added up where there is no room: none of them is left out.
type merging int

const (
	mergeNone   merging = iota
	mergeOthers         // pending and info: "5 other"
	mergeRest           // all but critical, warnings and held
	mergeAll            // all but critical and warnings
)

// wordings are tried in this order until one fits.
func wordings() []wording {
	list := []wording{
		{long: true, counts: true, states: true, clock: true},
		{counts: true, states: true, clock: true},
		{counts: true, clock: true},
	}
	for m := mergeNone; m <= mergeAll; m++ {
		list = append(list, wording{clock: true, merged: m}, wording{merged: m}, wording{tight: true, merged: m})
	}
	return list
}

// Widths in cells from which the header says more; from countsFrom on it has the program's name.
const (
	countsFrom = 100
	statesFrom = 120
	modeFrom   = 72
)

// header tries longer and shorter forms until one fits. The clock is in it where the tabs have no room for it; told says whether
// it is in one of them.
func header(w int, v *Viewer, f *views.Frame, clock bool) (line string, told bool) {
	told = !clock
	var spans, end []kit.Span
	for _, how := range wordings() {
		how.clock = how.clock && clock
		how.counts = how.counts && w >= countsFrom
		how.states = how.states && w >= statesFrom
		spans, end = headerIn(w, how, v, f.Summary), headerEnd(w, f, how)
		if spansWidth(spans)+spansWidth(end)+2 <= w {
			told = told || how.clock
			break
		}
	}
	if spansWidth(spans)+spansWidth(end) >= w { // whether it acts is said at all costs; how many sources answer says that data is old
		end = end[len(end)-1:]
	}
	l := kit.NewLine(f.Theme, w).PutSpans(spans...)
	if left := w - spansWidth(end); l.Left() > spansWidth(end) {
		l.PadTo(left).PutSpans(end...)
	}
	return l.String(), told
}

func headerIn(w int, f wording, v *Viewer, s *views.Summary) []kit.Span {
	env := kit.Span{Tone: theme.Accent, Text: backend.Clean(v.Environment, 24).String()}
	if v.Production {
		env.Tone = theme.Warn
		if f.long {
			env.Text += " (production)"
		}
	}
	gap, src := "  ", " sources"
	switch {
	case f.long:
		gap = "   "
	case f.tight:
		gap = " "
	}
	if f.merged == mergeAll && w < modeFrom {
		src = " src"
	}
	spans := []kit.Span{{Text: " "}}
	if w >= countsFrom {
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
func counts(s *views.Summary, gap string, f wording) []kit.Span {
	_, many := s.Machines()
	ws, sb := " workspaces", " "+many
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

func alertCounts(s *views.Summary, gap string, f wording) []kit.Span {
	crit, warn := " crit", " warn"
	if f.long {
		crit, warn = " critical", " warning"
	}
	between := "  "
	if f.tight {
		between = " "
	}
	firing := s.Critical+s.Warning > 0
	info, held, pending, blind, more, other := s.Info, s.Held, s.Pending, s.BlindRule, 0, 0
	switch {
	case firing && f.merged == mergeAll:
		more = held + info + pending + blind
		held, info, pending, blind = 0, 0, 0, 0
	case firing && f.merged == mergeRest:
		more = info + pending + blind
		info, pending, blind = 0, 0, 0
	case firing && f.merged == mergeOthers && info > 0 && pending > 0:
		other = info + pending
		info, pending = 0, 0
	}
	calm, calmly := theme.Good, ""
	if s.SourcesUp < s.Sources || s.BlindRule > 0 {
		calm = theme.Normal // unknown is not healthy
	}
	switch {
	case firing || info+held > 0 || s.SourcesUp == 0:
	case pending > 0:
		calmly = "none firing"
	default:
		calmly = "no alert"
	}
	unjudged := " rules not evaluated"
	switch {
	case f.tight:
		unjudged = " not evaluated"
	case blind == 1:
		unjudged = " rule not evaluated"
	}
	var spans []kit.Span
	for _, x := range [...]struct {
		tone theme.Tone
		n    int
		word string
	}{{theme.Critical, s.Critical, crit}, {theme.Warn, s.Warning, warn}, {theme.Normal, info, " info"}, {theme.Warn, held, " held"},
		{theme.Normal, more, " more"}, {calm, len(calmly), calmly}, {theme.Normal, other, " other"}, {theme.Normal, pending, " pending"}, {theme.Dim, blind, unjudged}} {
		if x.n == 0 {
			continue
		}
		if x.word != calmly {
			x.word = kit.Number(x.n) + x.word
		}
		if len(spans) > 0 || x.tone == theme.Dim {
			gap = between
		}
		spans = append(spans, kit.Span{Text: gap}, kit.Span{Tone: x.tone, Text: x.word})
	}
	return spans
}

// headerEnd is the right end: how old the data is once that matters, whether it is live, the clock where there is room, permissions.
func headerEnd(w int, f *views.Frame, how wording) []kit.Span {
	var spans []kit.Span
	if h := views.Lagging(f.Snapshot); h != nil {
		age := "data " + backend.Age(f.Now.Sub(h.DataAt()))
		if w >= modeFrom {
			age += " old"
		}
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: age + "  "})
	}
	word := "live "
	switch {
	case f.State.Number == 0:
		word = "connecting "
	case w < countsFrom || len(spans) > 0:
		word = ""
	case f.Summary.SourcesUp == 0:
		word = "no data "
	}
	spans = append(spans, kit.Span{Tone: theme.Dim, Text: word})
	if how.clock {
		spans = append(spans, kit.Span{Text: clockOf(f) + "  "})
	}
	return append(spans, mode(f))
}

// mode says whether this console can act, and until when, at every width.
func mode(f *views.Frame) kit.Span {
	long, tone := "read-only", theme.Dim
	if a := &f.Acting; a.Can {
		long = "actions disabled"
		if !a.Until.IsZero() {
			long, tone = "actions enabled "+backend.Age(a.Until.Sub(f.Now)), theme.Accent
		}
	}
	if p := f.Acting.Run; p != nil && !p.Over() {
		long, tone = fmt.Sprintf("%s %d/%d", p.Plan.Verb, p.Acted(), len(p.Lines)), theme.Accent
	}
	return kit.Span{Tone: tone, Text: long + " "}
}

func spansWidth(spans []kit.Span) int {
	n := 0
	for _, s := range spans {
		n += kit.Width(s.Text)
	}
	return n
}

// tabs draws the names of the screens that can have something to show, and of the one that is shown, and the clock where there is
// room; it says whether there is, and where each name is.
func tabs(w int, f *views.Frame, all []views.Screen, current views.Screen) (line string, clock bool, spots []spot) {
	var screens []views.Screen
	for _, s := range all {
		if s == current || f.Summary == nil || s.Offered(f) {
			screens = append(screens, s)
		}
	}
	l := kit.NewLine(f.Theme, w)
	gap := 2
	if w < 80 || wholeTabs(w, gap, f, screens, current) < len(screens) {
		gap = 1
	}
	whole := wholeTabs(w, gap, f, screens, current)
	for i, s := range screens {
		tone, text := theme.Dim, tabText(f, s)
		if i >= whole && s != current {
			if i > whole && screens[i-1] != current {
				continue
			}
			text = "…"
		}
		if s == current {
			tone = theme.Accent
		}
		l.Gap(1)
		from := w - l.Left()
		if l.Put(tone, text); text != "…" {
			spots = append(spots, spot{from, w - l.Left(), s.Number()})
		}
		l.Gap(gap - 1)
	}
	now := clockOf(f) + " "
	if clock = l.Left() > len(now); clock {
		l.PadTo(w-len(now)).Put(theme.Normal, now)
	}
	return l.String(), clock, spots
}

// tabText is the key and the name of a screen.
func tabText(f *views.Frame, s views.Screen) string {
	return strings.TrimSpace(f.Keys.First(keys.Everywhere, keys.Intent{Action: keys.Screen, N: s.Number()}) + " " + s.Name())
}

// wholeTabs is how many screens from the left stand with number and name; the one that is shown always does, and the others are
// a sign that there are more.
func wholeTabs(w, gap int, f *views.Frame, screens []views.Screen, current views.Screen) int {
	for whole := len(screens); whole > 0; whole-- {
		used := 0
		for i, s := range screens {
			switch {
			case i < whole || s == current:
				used += gap + kit.Width(tabText(f, s))
			case i == whole || screens[i-1] == current:
				used += gap + 1
			}
		}
		if used <= w {
			return whole
		}
	}
	return 0
}
