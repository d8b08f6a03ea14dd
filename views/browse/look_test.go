package browse

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

// A table that is given the look of another shows its rows as that does.
func TestLookOfAnother(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	make := func() *List[entry] { return entries(entry{"a", "ready"}, entry{"b", "evicted"}, entry{"c", "failed"}) }
	for _, does := range [][]keys.Intent{
		nil,
		{{Action: keys.Sort, Text: "state"}},
		{{Action: keys.Sort, Text: "-state"}},
		{{Action: keys.SortReverse}},
		{{Action: keys.SetFilter, Text: "state:e"}, {Action: keys.Wide}},
		{{Action: keys.Column, Text: "state"}},
		{{Action: keys.Group, Text: "state"}, {Action: keys.Sort, Text: "-id"}},
	} {
		one, other := make(), make()
		one.Render(120, 20, f)
		for _, in := range does {
			one.Update(in, f)
		}
		look := one.Look()
		if part, why := one.CheckLook(look); part != "" {
			t.Errorf("%v: its own look is wrong: %s: %s", does, part, why)
		}
		if zero := reflect.DeepEqual(look, views.Look{}); zero != (does == nil) {
			t.Errorf("%v: the look is %+v", does, look)
		}
		other.SetLook(look)
		other.sync(f)
		if a, b := text(one, f), text(other, f); a != b || !reflect.DeepEqual(other.Look(), look) {
			t.Errorf("%v, %+v:\n%s\n%s", does, look, a, b)
		}
		other.SetLook(views.Look{})
		if a, b := text(make(), f), text(other, f); a != b {
			t.Errorf("%v: the look stays:\n%s", does, b)
		}
	}
}

func text(l *List[entry], f *views.Frame) string {
	l.Update(keys.Intent{Action: keys.Top}, f)
	return ansi.Strip(strings.Join(l.Render(120, 6, f).Lines, "\n"))
}

func TestWrongLook(t *testing.T) {
	l := entries()
	for _, c := range []struct {
		look      views.Look
		part, why string
	}{
		{views.Look{Filter: "nosuch:x"}, "filter", "(character 1 of the filter)"},
		{views.Look{Sort: "-nosuch"}, "sort", `"nosuch" is not the name of a column: id, state`},
		{views.Look{Group: "label:x"}, "group", "have no labels"},
		{views.Look{Group: "nosuch"}, "group", `"nosuch" is nothing to group by`},
		{views.Look{Columns: []string{"-state", "nosuch"}}, "columns", `"nosuch" is not`},
		{views.Look{Sort: "-none", Filter: "state:x", Columns: []string{"id"}}, "", ""},
	} {
		if part, why := l.CheckLook(c.look); part != c.part || !strings.Contains(why, c.why) {
			t.Errorf("%+v: %s: %s", c.look, part, why)
		}
	}
}

// A column goes and comes back at its own place; the last one stays.
func TestColumnsOffAndOn(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	l := entries(entry{"a", "ready"})
	for _, c := range []struct{ name, say, head string }{
		{"STATE", "state is off", "ID"},
		{"id", "id is the last column: it stays", "ID"},
		{"state", "state is on, where there is room", "ID STATE"},
		{"nosuch", `"nosuch" is not the name of a column: id, state`, "ID STATE"},
		{"", "write a column after it: id, state", "ID STATE"},
	} {
		l.Render(120, 20, f)
		out := l.Update(keys.Intent{Action: keys.Column, Text: c.name}, f)
		head := strings.Join(strings.Fields(ansi.Strip(l.Render(120, 20, f).Lines[0])), " ")
		if out.Say != c.say || !strings.EqualFold(head, c.head) {
			t.Errorf("%s: %q, %q", c.name, out.Say, head)
		}
	}
}

// The cursor goes to a row that comes later, and stays where the viewer moved it before.
func TestSeekARowThatComesLater(t *testing.T) {
	for moved, want := range map[bool]string{false: "z", true: "b"} {
		rows := []entry{{"a", "ready"}, {"b", "ready"}, {"c", "ready"}}
		l := entries(rows...)
		l.Seek(backend.Key{Kind: backend.KindWorkspace, Source: "s", ID: backend.MustID("z")})
		f := &views.Frame{Theme: theme.New(theme.NoColours, theme.ASCII)}
		show := func(n uint64) {
			f.Snapshot = views.NewSnapshot(time.Unix(1, 0), &fleet.State{Number: n}, nil)
			l.Render(80, 10, f)
		}
		show(1)
		if got := l.Cursor(f).ID.Raw(); got != "a" {
			t.Errorf("before: %q", got)
		}
		if moved {
			l.Update(keys.Intent{Action: keys.Down}, f)
		}
		rows[2].id = "z"
		show(2)
		if got := l.Cursor(f).ID.Raw(); got != want {
			t.Errorf("moved %v: on %q", moved, got)
		}
	}
}
