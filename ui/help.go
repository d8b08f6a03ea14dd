package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// helpPage shows the table of keys, first those of the context it was opened from.
type helpPage struct {
	keymap *keys.Map
	from   keys.Context
	pager  pager

	theme *theme.Theme // of lines
	width int          // of lines
	lines []string
}

func (*helpPage) fillsBody() {}

func (*helpPage) Keys() keys.Context { return keys.Details }

func (v *helpPage) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	in, _ := msg.(keys.Intent)
	if in.Action == keys.Help {
		return reply{Close: true}, true
	}
	return v.pager.read(in)
}

func (*helpPage) offers(a keys.Action, _ *views.Frame) bool {
	return a == keys.Back || a == keys.Palette || a == keys.Quit || a == keys.Filter
}

// helpColumn is how wide a column of the help has to be; with room for several, they stand side by side.
const helpColumn = 58

func (v *helpPage) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	if v.theme != f.Theme || v.width != w {
		v.theme, v.width, v.lines = f.Theme, w, v.layOut(w, f.Theme)
	}
	title := kit.NewLine(f.Theme, w).Put(theme.Accent, " Help").String()
	return paged(&v.pager, w, h, f.Theme, title, v.lines), nil
}

// layOut puts the sections into as many columns as have room, of about the same height.
func (v *helpPage) layOut(w int, t *theme.Theme) []string {
	n := max(w/helpColumn, 1)
	each := w / n
	var parts [][]string
	total := 0
	for _, d := range v.sections(t) {
		lines := append(d.Layout(t, each), kit.NewLine(t, each).String())
		parts, total = append(parts, lines), total+len(lines)
	}
	columns := make([][]string, n)
	at := 0
	for _, p := range parts {
		if at < n-1 && len(columns[at]) > 0 && len(columns[at])+len(p)/2 > total/n {
			at++
		}
		columns[at] = append(columns[at], p...)
	}
	blocks := make([]string, n)
	for i, c := range columns {
		blocks[i] = strings.Join(c, "\n")
	}
	return strings.Split(lipgloss.JoinHorizontal(lipgloss.Top, append(blocks, strings.Repeat(" ", w-n*each))...), "\n")
}

// fitting are as many of an intent's keys as have room beside what it does, and the others in words.
func fitting(all string) (first, others string) {
	names := strings.Fields(all)
	for i, name := range names {
		if i > 0 && kit.Width(first+" "+name) > kit.MaxLabel {
			return first, " (also " + strings.Join(names[i:], " ") + ")"
		}
		first = strings.TrimSpace(first + " " + name)
	}
	return first, ""
}

func (v *helpPage) sections(t *theme.Theme) []*kit.Doc {
	var out []*kit.Doc
	for i, c := range append([]keys.Context{v.from}, keys.Contexts()...) {
		if i > 0 && c == v.from {
			continue
		}
		d := &kit.Doc{}
		d.Head(c.Name())
		for _, b := range v.keymap.Of(c) {
			if b.Context == c {
				first, others := fitting(b.Help().Key)
				d.Field(first, kit.Span{Text: b.Help().Desc + others})
			}
		}
		out = append(out, d)
	}
	var d *kit.Doc
	for _, l := range helpLines {
		if l.text == "" {
			d = &kit.Doc{}
			d.Head(l.label)
			out = append(out, d)
			continue
		}
		if l.label == "" {
			l.label = t.Mark(l.mark)
		}
		d.Field(l.label, kit.Span{Tone: l.tone, Text: l.text})
	}
	return out
}

// helpLines are what the help says besides the keys: a line without a text is a title, one without a label has a mark. They are data,
// and not code, which takes more room in the program.
var helpLines = [...]struct {
	label, text string
	mark        theme.Mark
	tone        theme.Tone
}{
	{label: "Filters"},
	{label: "word", text: "rows whose names, states or causes hold it"},
	{label: "field:word", text: "rows whose column holds it: state:failed"},
	{label: "field~text", text: "rows whose column matches a regular expression: state~^(failed|evicted)$"},
	{label: "!term", text: "rows that do not match it"},
	{label: "field>10m", text: "comparisons with ages, sizes and numbers"},
	{label: "tab", text: "takes the first field or value that is offered"},
	{label: "Signs"},
	{"", "critical", theme.MarkCritical, theme.Critical},
	{"", "warning, or needs a look", theme.MarkWarn, theme.Warn},
	{"", "broken", theme.MarkBad, theme.Bad},
	{"", "works", theme.MarkGood, theme.Good},
	{"", "under way", theme.MarkBusy, theme.Normal},
	{"", "at rest", theme.MarkIdle, theme.Dim},
	{"", "held or stale: true when last seen, newer readings failed", theme.MarkHeld, theme.Normal},
	{"", "pending: not decided yet", theme.MarkSuspect, theme.Normal},
	{"", "unknown: could not be read", theme.MarkUnknown, theme.Dim},
	{label: "Short words"},
	{label: "ws se sb", text: "workspaces, sessions, sandboxes"},
	{label: "td ho so", text: "scratch directories, hosts, sources"},
	{label: "≥ 40m", text: "it began at least 40 minutes ago; ≤ 3h: at most 3 hours ago. Of many subjects: the first"},
	{label: "1 not evaluated", text: "so many rules lack an input on some source; 9 Sources says which"},
	{label: "–  ?", text: "does not exist for this row; could not be read"},
}
