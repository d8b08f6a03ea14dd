package browse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

// Pinned rows stay on top in the order in which they were pinned, whatever sort, filter, groups and scrolling say.
func TestPins(t *testing.T) {
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.ASCII), Pins: &views.Pins{}}
	var all []entry
	for i := range 40 {
		all = append(all, entry{fmt.Sprintf("row%02d", i), fmt.Sprintf("state%d", i%5)})
	}
	l := entries(all...)
	l.cfg.Kinds = []backend.Kind{backend.KindWorkspace}
	key := func(id string) backend.Key {
		return backend.Key{Kind: backend.KindWorkspace, Source: "s", ID: backend.MustID(id)}
	}
	ids := func(h int) (out []string) {
		for _, line := range grouped(l, f, h)[1:] {
			for _, word := range strings.Fields(line) {
				word = strings.TrimLeft(word, ">^")
				if strings.HasPrefix(word, "row") && !strings.HasPrefix(word, "rows") {
					out = append(out, word)
				}
			}
		}
		return out
	}
	l.Render(120, 12, f)
	l.Update(keys.Intent{Action: keys.Down}, f)
	at := l.Cursor(f)
	f.Pins.Toggle(key("row30"))
	f.Pins.Toggle(key("row07"))
	if l.Cursor(f) != at {
		t.Errorf("the cursor went to %v", l.Cursor(f))
	}
	for _, does := range []keys.Intent{{}, {Action: keys.Sort, Text: "id"}, {Action: keys.Sort, Text: "-id"}, {Action: keys.SortReverse}, {Action: keys.SortReverse}, {Action: keys.Sort, Text: "id"},
		{Action: keys.SetFilter, Text: "state:state3"}, {Action: keys.SetFilter}, {Action: keys.Bottom}, {Action: keys.Group, Text: "state"}, {Action: keys.Top}} {
		l.Update(does, f)
		for h := 7; h < 30; h += 5 {
			got := ids(h)
			if len(got) < 3 || got[0] != "row30" || got[1] != "row07" {
				t.Errorf("%+v, height %d: %q\n%s", does, h, got, strings.Join(grouped(l, f, h), "\n"))
			}
			seen := map[string]bool{}
			for _, id := range got {
				if seen[id] {
					t.Errorf("%+v, height %d: %s is there twice: %q", does, h, id, got)
				}
				seen[id] = true
			}
			if k := l.Cursor(f); k != (backend.Key{}) && !seen[k.ID.Raw()] {
				t.Errorf("%+v, height %d: the cursor's row %s is not in sight: %q", does, h, k.ID.Raw(), got)
			}
		}
	}
	if got := ids(3); len(got) == 0 {
		t.Errorf("no row is in sight: %q", got)
	}
	f.Pins.Toggle(key("row30"))
	f.Pins.Toggle(key("gone"))
	if got := ids(20); got[0] != "row07" || !strings.Contains(l.Status(f, false), "1 pinned not there") {
		t.Errorf("%q, %s", got, l.Status(f, false))
	}
	f.Pins.Toggle(key("row07"))
	f.Pins.Toggle(key("gone"))
	l.Update(keys.Intent{Action: keys.Group, Text: "off"}, f)
	l.Update(keys.Intent{Action: keys.Top}, f)
	if got := ids(20); got[0] != "row00" {
		t.Errorf("no pin is left: %q", got)
	}
}

// The line below a pinned row shows what was seen of it, and what is not known as such.
func TestVitals(t *testing.T) {
	p := &views.Pins{}
	k := backend.Key{Kind: backend.KindSandbox, Source: "s", ID: backend.MustID("a")}
	p.Toggle(k)
	f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), nil, nil), Theme: theme.New(theme.NoColours, theme.Unicode), Pins: p}
	l := entries()
	l.pinned.pins = p
	line := func() string {
		return strings.TrimSpace(strings.Join(strings.Fields(stripped(l.vitals(f.Theme, 120, k))), " "))
	}
	if got := line(); got != "pinned: nothing was seen yet" {
		t.Errorf("%q", got)
	}
	now := time.Unix(1000, 0)
	for i := range 60 {
		s := views.Sample{CPU: backend.Known(float64(i)), Mem: backend.Unknown[float64](), Health: theme.MarkGood}
		if i == 59 {
			s.Health, s.CPU = theme.MarkBad, backend.Unknown[float64]()
		}
		if len(p.Due(now)) != 1 {
			t.Error("not due")
		}
		p.Add(k, s, now)
		if len(p.Due(now.Add(time.Second))) != 0 {
			t.Error("due again after a second")
		}
		now = now.Add(views.SampleEvery)
	}
	if v := p.Of(k); len(v.CPU) > 48 || len(v.Mem) != len(v.CPU) || len(v.Health) != len(v.CPU) {
		t.Errorf("%d samples are kept", len(v.CPU))
	}
	got := line()
	for _, want := range []string{"cpu ▇", "█· · mem", "mem ··", "health ●●", "●✗ last 3m"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}
