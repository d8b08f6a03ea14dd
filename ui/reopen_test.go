package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/views"
)

// A console that is killed was kept where it was half a minute before, and not while nothing moves.
func TestAKilledConsoleReopensToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var disk Kept
		writes := 0
		s := openViewer(t, incidentFeed(), look{w: 120, h: 30}, func(v *Viewer) {
			v.Reopens = true
			v.Keep = func(change func(*Kept)) error { writes++; change(&disk); return nil }
		})
		s.press("2")
		time.Sleep(2 * keepEvery)
		s.settle()
		if disk.Last == nil || disk.Last.Screen != "workspaces" || writes != 1 {
			t.Errorf("kept %+v in %d writes", disk.Last, writes)
		}
		time.Sleep(4 * keepEvery)
		s.settle()
		if writes != 1 {
			t.Errorf("%d writes while nothing moved", writes)
		}
		s.close()
	})
}

// A console opens where the one before was left: screen, order, filter and row. It does not where something else is asked for, or
// where that is switched off.
func TestReopens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var disk Kept
		start := func(change func(*Viewer)) *screen {
			return openViewer(t, incidentFeed(), look{w: 120, h: 30}, func(v *Viewer) {
				v.Reopens, v.Kept = true, disk
				v.Keep = func(change func(*Kept)) error { change(&disk); return nil }
				change(v)
			})
		}
		as := func(*Viewer) {}
		s := start(as)
		s.press("2", "/")
		s.typed("state:open")
		s.press(keyEnter, "j", "j", "j")
		left := s.model.screen().Cursor(&s.model.frame)
		s.close()
		if disk.Last == nil || disk.Last.Screen != "workspaces" || disk.Last.Cursor != left || left == (backend.Key{}) {
			t.Fatalf("kept %+v, left at %v", disk.Last, left)
		}
		s = start(as)
		if m := s.model; m.screen().Number() != 2 || m.screen().FilterText() != "state:open" || m.screen().Cursor(&m.frame) != left {
			t.Errorf("opened %s with %q at %v", m.screen().Name(), m.screen().FilterText(), m.screen().Cursor(&m.frame))
		}
		kept := *disk.Last
		s.close()
		for name, c := range map[string]struct {
			change func(*Viewer)
			at     int
		}{
			"switched off":    {func(v *Viewer) { v.Reopens = false }, 1},
			"broken plan":     {func(v *Viewer) { v.Unfinished = []backend.Safe{backend.Text("a plan")} }, 8},
			"unknown screen":  {func(v *Viewer) { v.Kept.Last = &Place{Screen: "nosuch"} }, 1},
			"unknown filter":  {func(v *Viewer) { v.Kept.Last = &Place{Screen: "sandboxes", Look: views.Look{Filter: "nosuch:1"}} }, 3},
			"row that is not": {func(v *Viewer) { v.Kept.Last = &Place{Screen: "sandboxes", Cursor: kept.Cursor} }, 3},
		} {
			s := start(c.change)
			if m := s.model; m.screen().Number() != c.at || m.screen().FilterText() != "" || c.at == 3 && m.screen().Cursor(&m.frame) == (backend.Key{}) {
				t.Errorf("%s: %s with %q at %v", name, m.screen().Name(), m.screen().FilterText(), m.screen().Cursor(&m.frame))
			}
			s.close()
			if name == "broken plan" && disk.Last.Screen == "timeline" {
				t.Error("the screen that a broken-off plan opened was kept as the viewer's")
			}
		}
	})
}
