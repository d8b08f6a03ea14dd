package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/find"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// jump finds a screen, a command or a subject by any part of its names. It searches what was there when it opened, so that no row
// moves while the operator types.
type jump struct {
	entry   entry
	index   *find.Index
	targets []target
	found   []int // places in targets
	total   int
	at      int
}

// target is where a jump leads: an intent, or the details of a subject.
type target struct {
	name, about, what string
	intent            keys.Intent
	key               backend.Key
}

// mostFound is how many targets can be gone through.
const mostFound = 200

// openJump opens it over what is shown, as the palette.
func openJump(x *scope) reply {
	j := &jump{entry: newEntry(), index: &find.Index{}}
	for _, b := range x.paletteCommands() {
		to := target{name: b.Command, what: "command", intent: b.Intent}
		switch name, view := strings.CutPrefix(b.Command, "view "); {
		case view:
			to.name, to.what = name, "view"
		case b.Intent.Action == keys.Screen:
			to.what = "screen"
		}
		j.add(to)
	}
	for _, f := range subjects.All(x.frame.Snapshot) {
		for i := range f.Names {
			f.Names[i] = x.frame.Shown(f.Names[i])
		}
		j.add(target{name: f.Names[0], about: x.frame.Shown(f.About), what: x.frame.Shown(subjects.KindAndSource(f.Key)), key: f.Key}, f.Names[1:]...)
	}
	cmd := j.entry.open("")
	j.search()
	return reply{Push: j, Cmd: cmd}
}

func (j *jump) add(t target, others ...string) {
	j.targets = append(j.targets, t)
	j.index.Add(append([]string{t.name}, others...)...)
}

func (*jump) Keys() keys.Context { return keys.CommandMenu }

func (j *jump) untouched() bool { return j.entry.value() == "" }

func (j *jump) search() {
	j.at = 0
	j.found, j.total = j.index.Search(j.entry.value(), mostFound)
}

func (j *jump) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg:
		cmd, changed := j.entry.update(msg)
		if changed {
			j.search()
		}
		return reply{Cmd: cmd}, true
	case keys.Intent:
		return j.act(msg), true
	}
	return reply{}, true
}

func (j *jump) act(in keys.Intent) reply {
	switch in.Action {
	case keys.Up:
		j.at = max(j.at-1, 0)
	case keys.Down:
		j.at = max(0, min(j.at+1, len(j.found)-1))
	case keys.Cancel:
		return reply{Close: true}
	case keys.Accept:
		if j.at >= len(j.found) {
			return reply{}
		}
		t := j.targets[j.found[j.at]]
		if t.key != (backend.Key{}) {
			return reply{Close: true, Push: &details{key: t.key}}
		}
		return reply{Close: true, Intent: t.intent, Named: ":" + t.name}
	}
	return reply{}
}

func (j *jump) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	t := f.Theme
	w = min(w-4, 90)
	inner := w - 4
	input := kit.NewLine(t, inner).Put(theme.Accent, "› ")
	cursor := 4 + j.entry.draw(input)
	lines := []string{input.String(), kit.Rule(t, inner)}
	n := min(mostCommands, max(h-6, 1))
	first := max(0, min(j.at-n+1, len(j.found)-n))
	for i := first; i < min(first+n, len(j.found)); i++ {
		to := j.targets[j.found[i]]
		l := kit.NewLine(t, inner)
		if i == j.at {
			l.OnCursor().Put(theme.Accent, "› ")
		} else {
			l.Gap(2)
		}
		what := kit.Cut(to.what, inner/2)
		room := inner - kit.Width(what) - 5
		l.Put(theme.Normal, kit.CutMiddle(to.name, room))
		if room -= kit.Width(to.name) + 2; to.about != "" && room > 0 {
			l.Gap(2).Put(theme.Dim, kit.CutMiddle(to.about, room))
		}
		l.End(theme.Dim, what+" ")
		lines = append(lines, l.String())
	}
	if len(j.found) == 0 {
		lines = append(lines, kit.NewLine(t, inner).Put(theme.Dim, "no name, id or path has this in it").String())
	}
	return kit.Frame(t, w, "go to: "+kit.Count(j.total, "match", "matches"), lines), tea.NewCursor(cursor, 1)
}
