package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// palette finds a command by a part of its name.
type palette struct {
	all   []keys.Binding
	entry entry
	found []keys.Binding
	at    int
}

// openPalette opens it over what is shown: its commands are about that.
func openPalette(x *scope) reply {
	p := &palette{all: x.paletteCommands(), entry: newEntry()}
	cmd := p.entry.open("")
	p.search()
	return reply{Push: p, Cmd: cmd}
}

// paletteCommands are what it offers where it was opened.
func (x *scope) paletteCommands() []keys.Binding {
	all := x.keymap.CommandsIn(x.from)
	if x.from != keys.LogLines {
		all = append(all, x.viewCommands()...)
	}
	return all
}

func (*palette) Keys() keys.Context { return keys.CommandMenu }

func (p *palette) untouched() bool { return p.entry.value() == "" }

func (p *palette) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	in, bound := msg.(keys.Intent)
	if !bound {
		cmd, changed := p.entry.update(msg)
		if changed {
			p.search()
		}
		return reply{Cmd: cmd}, true
	}
	switch in.Action {
	case keys.Up:
		p.at = max(p.at-1, 0)
	case keys.Down:
		p.at = min(p.at+1, len(p.found)-1)
	case keys.Cancel:
		return reply{Close: true}, true
	case keys.Accept:
		in, name := p.chosen()
		return reply{Close: true, Intent: in, Named: ":" + name}, true
	}
	return reply{}, true
}

// chosen is the command under the cursor, or the one that was typed with its arguments: arm 15m REASON.
func (p *palette) chosen() (in keys.Intent, name string) {
	if in, line := p.withArgument(); line != "" {
		return in, strings.Fields(p.entry.value())[0]
	}
	if p.at >= 0 && p.at < len(p.found) {
		return p.found[p.at].Intent, p.found[p.at].Command
	}
	return in, ""
}

// withArgument is a command that was typed with its argument, and the line that says what enter does; empty: another text.
func (p *palette) withArgument() (in keys.Intent, line string) {
	text := strings.TrimSpace(p.entry.value())
	if arg, arms := strings.CutPrefix(text, "arm "); arms {
		return keys.Intent{Action: keys.Arm, Text: arg}, "enter: arm"
	}
	if arg, asks := strings.CutPrefix(text, "requests "); asks {
		return keys.Intent{Action: keys.Requests, Text: arg}, "enter: what was sent last and holds these words"
	}
	if arg, orders := strings.CutPrefix(text, "order "); orders {
		return keys.Intent{Action: keys.Sort, Text: strings.TrimSpace(arg)}, "enter: sort the table by this column; - before it turns the order round"
	}
	for _, b := range p.all {
		if arg, typed := strings.CutPrefix(text, b.Command+" "); typed && b.Takes {
			in := b.Intent
			in.Text = strings.TrimSpace(arg)
			return in, "enter: " + b.Help().Desc
		}
	}
	return keys.Intent{}, ""
}

func (p *palette) search() {
	p.at, p.found = 0, p.all
	text := strings.TrimSpace(p.entry.value())
	if text == "" {
		return
	}
	names := make([]string, len(p.all))
	for i, b := range p.all {
		names[i] = b.Command
	}
	p.found = nil
	for _, hit := range fuzzy.Find(text, names) {
		p.found = append(p.found, p.all[hit.Index])
	}
}

// mostSaid is how many lines say what the chosen command does, where the screen has at least tallEnough lines.
const (
	mostSaid   = 2
	tallEnough = 20
)

// mostCommands is how many commands the palette lists at once.
const mostCommands = 10

func (p *palette) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	t := f.Theme
	w = min(w-4, 56)
	inner := w - 4
	input := kit.NewLine(t, inner).Put(theme.Accent, ": ")
	cursor := 4 + p.entry.draw(input)
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
		lines = append(lines, l.Put(theme.Normal, p.found[i].Command).End(theme.Dim, strings.Join(p.found[i].Keys(), " ")+" ").String())
	}
	if _, line := p.withArgument(); line != "" {
		lines = lines[:2]
		for _, part := range kit.Wrap(line, inner) {
			lines = append(lines, kit.NewLine(t, inner).Put(theme.Normal, part).String())
		}
	} else if len(p.found) == 0 {
		lines = append(lines, kit.NewLine(t, inner).Put(theme.Dim, "no command has this in its name").String())
	} else if what := kit.Wrap(p.found[p.at].Help().Desc, inner); h >= tallEnough {
		lines = append(lines, kit.Rule(t, inner))
		for i := range mostSaid { // as many for each, so that the box keeps its size
			line := kit.NewLine(t, inner)
			if i < len(what) {
				line.Put(theme.Dim, what[i])
			}
			lines = append(lines, line.String())
		}
	}
	return kit.Frame(t, w, "commands", lines), tea.NewCursor(cursor, 1)
}
