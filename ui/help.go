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
	pager  kit.Pager

	theme *theme.Theme // of lines
	width int          // of lines
	lines []string
}

func (*helpPage) fillsBody() {}

func (*helpPage) Keys() keys.Context { return keys.Details }

func (v *helpPage) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	in, _ := msg.(keys.Intent)
	switch in.Action {
	case keys.Back, keys.Help:
		return reply{Close: true}, true
	}
	return reply{}, scroll(&v.pager, in)
}

func (*helpPage) offers(a keys.Action, _ *views.Frame) bool {
	return a == keys.Back || a == keys.Palette || a == keys.Quit
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
	head := func(title string) *kit.Doc {
		d := &kit.Doc{}
		d.Head(title)
		out = append(out, d)
		return d
	}
	order := append([]keys.Context{v.from}, keys.Contexts()...)
	for i, c := range order {
		if i > 0 && c == v.from {
			continue
		}
		d := head(c.Name())
		for _, b := range v.keymap.Of(c) {
			if b.Context == c {
				first, others := fitting(b.Help().Key)
				d.Field(first, kit.Span{Text: b.Help().Desc + others})
			}
		}
	}
	words := func(title string, lines ...[2]string) {
		d := head(title)
		for _, line := range lines {
			d.Field(line[0], kit.Span{Text: line[1]})
		}
	}
	words("Filters", [2]string{"word", "rows whose names, states or causes hold it"}, [2]string{"field:word", "rows whose column holds it: state:failed"},
		[2]string{"field~text", "rows whose column matches a regular expression: state~^(failed|evicted)$"},
		[2]string{"!term", "rows that do not match it"}, [2]string{"field>10m", "comparisons with ages, sizes and numbers"},
		[2]string{"tab", "takes the first field or value that is offered"})
	d := head("Signs")
	for _, s := range []struct {
		m    theme.Mark
		tone theme.Tone
		what string
	}{
		{theme.MarkCritical, theme.Critical, "critical"}, {theme.MarkWarn, theme.Warn, "warning, or needs a look"},
		{theme.MarkBad, theme.Bad, "broken"}, {theme.MarkGood, theme.Good, "works"}, {theme.MarkBusy, theme.Normal, "under way"},
		{theme.MarkIdle, theme.Dim, "at rest"}, {theme.MarkHeld, theme.Normal, "held or stale: true when last seen, newer readings failed"},
		{theme.MarkSuspect, theme.Normal, "pending: not decided yet"}, {theme.MarkUnknown, theme.Dim, "unknown: could not be read"},
	} {
		d.Field(t.Mark(s.m), kit.Span{Tone: s.tone, Text: s.what})
	}
	words("Short words", [2]string{"ws se sb", "workspaces, sessions, sandboxes"}, [2]string{"td ho so", "scratch directories, hosts, sources"},
		[2]string{"≥ 40m", "it began at least 40 minutes ago; ≤ 3h: at most 3 hours ago. Of many subjects: the first"},
		[2]string{"1 not evaluated", "so many rules lack an input on some source; 9 Sources says which"}, [2]string{"–  ?", "does not exist for this row; could not be read"})
	return out
}
