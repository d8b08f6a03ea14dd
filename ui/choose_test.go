package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
)

// Of several processes one is chosen in the dialog; its plan is confirmed like any other, and nothing is done before.
func TestOneOfSeveralIsChosenInTheDialog(t *testing.T) {
	for _, size := range []Size{{80, 24}, {120, 40}} {
		acts(t, size, func(h *hands) *actions.Operator {
			for i := range 60 {
				h.choices = append(h.choices, actions.Choice{Name: fmt.Sprint(300 + i), Text: backend.Textf("%d proc-%d: sleep \x1b[2J%d", 300+i, i, i)})
			}
			c := h.control(t, false)
			h.arm(t, c)
			return c
		}, func(s *screen, h *hands, _ *actions.Operator) {
			s.press("3", "/", "eval-12", keyEnter, "x")
			for !strings.Contains(s.text(), "›     kill-process") {
				s.press(keyDown)
			}
			s.press(keyEnter)
			s.press(keyEnter) // meant for the list: too early for the dialog
			if !strings.Contains(s.text(), "CHOOSE ONE") && !strings.Contains(s.text(), "› 300 proc-0") {
				t.Fatalf("no choice:\n%s", s.text())
			}
			s.ready()
			s.shows("› 300 proc-0", "several processes ran in it", "up and down choose, enter makes the plan for it")
			for range 45 {
				s.press(keyDown)
			}
			s.shows("› 345 proc-45")
			for range 99 {
				s.press(keyDown)
			}
			s.shows("› 359 proc-59")     // the last one can be seen
			s.press("\x1b[5~", keyEnter) // a page up
			s.ready()
			s.shows("process 349 with its group", "type yes and enter")
			if strings.Contains(s.text(), "CHOOSE ONE") || strings.Contains(s.text(), "more than before") || len(h.acted()) > 0 {
				t.Errorf("after the choice, %v was done:\n%s", h.acted(), s.text())
			}
			s.typed("yes")
			s.press(keyEnter)
			s.settle()
			if did := h.acted(); !slices.Equal(did, []string{"web-eval-12 349"}) {
				t.Errorf("done: %q\n%s", did, s.text())
			}
		})
	}
}
