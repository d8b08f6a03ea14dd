package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

func scroll(p *kit.Pager, in keys.Intent) {
	switch in.Action {
	case keys.Up:
		p.Move(-1)
	case keys.Down:
		p.Move(1)
	case keys.PageUp:
		p.Page(-1)
	case keys.PageDown:
		p.Page(1)
	case keys.Top:
		p.Home()
	case keys.Bottom:
		p.End()
	}
}

// paged draws a title, a rule that says what lies out of sight, and the lines in sight.
func paged(p *kit.Pager, w, h int, t *theme.Theme, title string, lines []string) kit.Block {
	visible, above, below := p.Window(lines, max(h-2, 0))
	note := ""
	switch {
	case above > 0 && below > 0:
		note = fmt.Sprintf("%d above ↑  %d below ↓", above, below)
	case above > 0:
		note = fmt.Sprintf("%d above ↑", above)
	case below > 0:
		note = fmt.Sprintf("%d below ↓", below)
	}
	return kit.NewBlock(w, h, append([]string{title, kit.RuleWith(t, w, theme.Strong, note)}, visible...))
}

// helpView shows the table of keys, those of the place it was opened from first.
type helpView struct {
	pager kit.Pager
	from  keys.Context
}

func (v *helpView) update(in keys.Intent, o *overlay) {
	if in.Action == keys.Back {
		*o = noOverlay
		return
	}
	scroll(&v.pager, in)
}

// helpColumn is how wide a column of the help has to be; with room for several, they stand side by side.
const helpColumn = 58

func (v *helpView) draw(w, h int, t *theme.Theme, m *keys.Map) kit.Block {
	n := max(w/helpColumn, 1)
	each := w / n
	var parts [][]string
	total := 0
	for _, d := range v.sections(t, m) {
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
	var lines []string
	for i, more := 0, true; more; i++ {
		more = false
		line := ""
		for _, c := range columns {
			if i < len(c) {
				line, more = line+c[i], true
			} else {
				line += kit.NewLine(t, each).String()
			}
		}
		if more {
			lines = append(lines, line+kit.NewLine(t, w-n*each).String())
		}
	}
	title := kit.NewLine(t, w).Put(theme.Accent, " Help").String()
	return paged(&v.pager, w, h, t, title, lines)
}

func (v *helpView) sections(t *theme.Theme, m *keys.Map) []*kit.Doc {
	var out []*kit.Doc
	head := func(title string) *kit.Doc {
		d := &kit.Doc{}
		d.Head(title)
		out = append(out, d)
		return d
	}
	order := []keys.Context{v.from, keys.Everywhere, keys.List, keys.Details, keys.Doable, keys.Plan, keys.Running, keys.Muted, keys.Form, keys.Entry, keys.Menu}
	for i, c := range order {
		if i > 0 && c == v.from {
			continue
		}
		d := head(c.Name())
		for _, b := range m.Of(c) {
			if b.Context == c {
				d.Field(b.Show(), kit.Span{Text: b.Help})
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
		{theme.MarkSuspect, theme.Normal, "suspected: not decided yet"}, {theme.MarkUnknown, theme.Dim, "unknown: nobody could read it"},
	} {
		d.Field(t.Mark(s.m), kit.Span{Tone: s.tone, Text: s.what})
	}
	words("Short words", [2]string{"ws se sb", "workspaces, sessions, sandboxes"}, [2]string{"td ho so", "scratch directories, hosts, sources"},
		[2]string{"40m+ <41m", "for at least, for at most that long: what is known about the beginning"},
		[2]string{"blind 1", "so many rules lack what they read on some source; 9 Sources says which"}, [2]string{"–  ?", "does not exist for this row; nobody could read it"})
	return out
}

// palette finds a command by a part of its name.
type palette struct {
	entry entry
	found []keys.Binding
	at    int
}

func newPalette() palette { return palette{entry: newEntry()} }

func (p *palette) open(m *keys.Map) tea.Cmd {
	cmd := p.entry.open("")
	p.search(m)
	return cmd
}

func (p *palette) update(msg tea.Msg, m *keys.Map) tea.Cmd {
	cmd := p.entry.update(msg)
	p.search(m)
	return cmd
}

func (p *palette) search(m *keys.Map) {
	all := m.Commands()
	p.at, p.found = 0, all
	text := strings.TrimSpace(p.entry.value())
	if text == "" {
		return
	}
	names := make([]string, len(all))
	for i, b := range all {
		names[i] = b.Command
	}
	p.found = nil
	for _, hit := range fuzzy.Find(text, names) {
		p.found = append(p.found, all[hit.Index])
	}
}

// act moves the choice; ok is true when a command was chosen.
func (p *palette) act(in keys.Intent) (chosen keys.Intent, ok bool) {
	switch in.Action {
	case keys.Up:
		p.at = max(p.at-1, 0)
	case keys.Down:
		p.at = min(p.at+1, len(p.found)-1)
	case keys.Accept:
		if p.at >= 0 && p.at < len(p.found) {
			return p.found[p.at].Intent, true
		}
	}
	return keys.Intent{}, false
}

// mostCommands is how many commands the palette lists at once.
const mostCommands = 10

func (p *palette) draw(w, h int, t *theme.Theme) (block kit.Block, cursor int) {
	w = min(w-4, 56)
	inner := w - 4
	input := kit.NewLine(t, inner).Put(theme.Accent, ": ")
	cursor = 4 + p.entry.draw(input)
	lines := []string{input.String(), kit.Rule(t, inner)}
	n := min(mostCommands, max(h-6, 1))
	first := max(0, min(p.at-n+1, len(p.found)-n))
	for i := first; i < min(first+n, len(p.found)); i++ {
		l := kit.NewLine(t, inner)
		if i == p.at {
			l.OnCursor().Put(theme.Accent, "› ")
		} else {
			l.Gap(2)
		}
		lines = append(lines, l.Put(theme.Normal, p.found[i].Command).End(theme.Dim, p.found[i].Show()+" ").String())
	}
	if len(p.found) == 0 {
		lines = append(lines, kit.NewLine(t, inner).Put(theme.Dim, "no command has this in its name").String())
	}
	return kit.Frame(t, w, "commands", lines), cursor
}
