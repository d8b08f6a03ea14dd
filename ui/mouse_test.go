package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sandglass/actions"
	"sandglass/backend"
)

// clicks presses and releases the left button on a cell, counted from 0.
func clicks(x, y int) string { return fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1) }

const (
	wheelDown = "\x1b[<65;5;10M"
	wheelUp   = "\x1b[<64;5;10M"
)

// The mouse does nothing until it is wanted; then a click chooses a row or a tab and the wheel scrolls.
func TestMouse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
			s := open(t, incidentFeed(), look{w: size[0], h: size[1]})
			cursor := func() backend.Key { return s.model.screen().Cursor(&s.model.frame) }
			first := cursor()
			line := func(text string) int {
				i := slices.IndexFunc(s.lines(), func(l string) bool { return strings.Contains(string([]rune(l + strings.Repeat(" ", 60))[:60]), text) })
				if i < 0 {
					t.Fatalf("no %q:\n%s", text, s.text())
				}
				return i
			}
			s.press(clicks(10, line("audit-saturation")))
			if cursor() != first {
				t.Error("a click counts though the mouse is off")
			}
			s.press("*")
			if !strings.Contains(s.text(), "mouse on: click a row or a tab") {
				t.Errorf("it is not said:\n%s", s.text())
			}
			s.press(clicks(10, line("audit-saturation")))
			if got := s.lines()[line("audit-saturation")]; !strings.HasPrefix(got, " ›") {
				t.Errorf("the click did not choose the row: %q", got)
			}
			s.press(wheelUp)
			if cursor() == first || !strings.HasPrefix(s.lines()[line("audit-saturation")-3], " ›") {
				t.Errorf("the wheel did not go three rows up:\n%s", s.text())
			}
			s.press(clicks(strings.Index(s.lines()[1], "Sandboxes")+2, 1))
			if s.model.screen().Number() != 3 {
				t.Errorf("the click on a tab opened %s", s.model.screen().Name())
			}
			s.press("1", clicks(10, size[1]-2)) // a line of the pane
			if cursor().Kind == "" {
				t.Error("a click beside the table moved the cursor")
			}
			s.press("?", wheelDown)
			if strings.Contains(s.text(), "everything about the row under the cursor") && size[1] < 60 {
				t.Errorf("the wheel does not scroll the help:\n%s", s.text())
			}
			s.press("?", "*")
			at := cursor()
			s.press(wheelDown, clicks(10, line("audit-saturation")))
			if cursor() != at {
				t.Error("it counts though it is off again")
			}
			s.close()
		}
	})
}

// Neither click nor wheel confirms anything, or changes what a dialog is about.
func TestMouseNeverConfirms(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		s.press("*", "3", "D")
		s.ready()
		if s.dialog() == nil {
			t.Fatal(s.text())
		}
		at := s.model.screen().Cursor(&s.model.frame)
		for y := range 40 {
			for x := 0; x < 120; x += 7 {
				s.press(clicks(x, y))
			}
			s.press(wheelDown)
		}
		if s.dialog() == nil || len(h.acted()) != 0 || s.model.screen().Cursor(&s.model.frame) != at {
			t.Errorf("acted on %v\n%s", h.acted(), s.text())
		}
	})
}
