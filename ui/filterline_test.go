package ui

import (
	"strings"
	"testing"
	"testing/synctest"
)

// A mistake is shown with an arrow that points at its character in the line below, also behind wide characters.
func TestTheFilterPointsAtTheMistake(t *testing.T) {
	for typed, at := range map[string]int{"state==x": 7, "名 ok stat:failed": 8, "a !state~(b": 11} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, incidentFeed(), look{w: 100, h: 24})
			s.press("2", "/")
			s.typed(typed)
			lines := s.lines()
			if got := lines[22]; strings.TrimSpace(got) != "↓" || strings.IndexRune(got, '↓') != at {
				t.Errorf("%s: the arrow is not over column %d:\n%s", typed, at, strings.Join(lines[19:], "\n"))
			}
			s.close()
		})
	}
}

// Filters that were kept come back with the arrow keys, on every screen; one with a mistake or that was dropped does not.
func TestFiltersThatWereKeptComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 100, h: 24})
		const keyUp, ctrlC = "\x1b[A", "\x03"
		check := func(want string) {
			t.Helper()
			if got := s.model.screen().FilterText(); got != want {
				t.Errorf("the filter is %q, want %q:\n%s", got, want, s.text())
			}
		}
		s.press("2", "/", keyUp)
		check("")
		if !strings.Contains(s.text(), "no filter was kept before") {
			t.Errorf("not said:\n%s", s.text())
		}
		s.typed("evicted")
		s.press(keyEnter, "/")
		s.typed(" bad:field")
		s.press(keyEnter, "/", ctrlC, "3", "/")
		s.typed("eval")
		s.press(keyEnter, "/", ctrlC, "/")
		s.typed("own")
		s.press(keyUp)
		check("eval")
		s.press(keyUp)
		check("evicted")
		s.press(keyUp) // there is no older one
		check("evicted")
		s.press(keyDown, keyDown)
		check("own")
		s.press(keyDown)
		check("own")
		s.press(keyUp, keyUp, keyEnter, "/", ctrlC, "/", keyUp) // what was kept again is the newest
		check("evicted")
		s.close()
	})
}
