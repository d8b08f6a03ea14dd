package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// P keeps a row on top with what is known of it, also in the next console, until P again.
func TestPins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var disk Kept
		start := func(size Size) *screen {
			return openViewer(t, incidentFeed(), look{w: size.Width, h: size.Height}, func(v *Viewer) {
				v.Kept = disk
				v.Keep = func(change func(*Kept)) error { change(&disk); return nil }
			})
		}
		for _, size := range []Size{{80, 24}, {120, 40}, {200, 60}} {
			disk = Kept{}
			s := start(size)
			s.press("3", "G", "k", "k")
			key := s.model.screen().Cursor(&s.model.frame)
			name := s.model.state.Sandbox(key).Name.String()
			s.press("P")
			if len(disk.Pins) != 1 || disk.Pins[0] != key || !strings.Contains(s.text(), "stays on top") {
				t.Errorf("kept %v\n%s", disk.Pins, s.text())
			}
			s.close()
			s = start(size)
			s.press("3")
			time.Sleep(time.Minute)
			s.settle()
			body := s.rows(s.body())
			if !strings.Contains(body[1], "^ ") && !strings.Contains(body[1], "›^") || !strings.Contains(body[1], name) || !strings.Contains(body[2], "health ") {
				t.Errorf("%v: %s is not on top:\n%s", size, name, s.text())
			}
			s.press("1")
			time.Sleep(2 * time.Second)
			seen := false
			for _, k := range s.model.visible {
				seen = seen || k == key
			}
			if !seen {
				t.Error("its figures are not asked for while another screen is open")
			}
			s.press("3", "g", "P")
			if len(disk.Pins) != 0 || !strings.Contains(s.text(), "not pinned any more") {
				t.Errorf("kept %v\n%s", disk.Pins, s.text())
			}
			s.press("P", ":")
			s.typed("pin off")
			s.press(keyEnter)
			if len(disk.Pins) != 0 || len(s.model.frame.Pins.Keys) != 0 {
				t.Errorf("kept %v", disk.Pins)
			}
			s.close()
		}
		disk = Kept{Pins: []backend.Key{{Kind: backend.KindSandbox, Source: "s", ID: backend.MustID("long-gone")}}}
		s := start(Size{120, 40})
		s.press("3")
		if !strings.Contains(s.text(), "1 pinned not there") {
			t.Errorf("a pinned sandbox that is gone is not told:\n%s", s.text())
		}
		s.press(":")
		s.typed("pin gone")
		s.press(keyEnter)
		if len(disk.Pins) != 0 {
			t.Errorf("kept %v", disk.Pins)
		}
		s.close()
	})
}
