package ui

import (
	"testing"
	"time"

	"sandglass/actions"
)

func TestRepliesNeverConfirm(t *testing.T) {
	replies := []string{"\x1b[?2026;2$y", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]11;rgb:eeee/eeee/eeee\x07", "\x1b[?62;22;52c", "\x1b[12;40R"}
	for _, open := range []struct {
		name  string
		press []string
		typed string
	}{
		{"light", []string{"3", "p"}, ""}, {"name", []string{"3", "D"}, ""}, {"yes", []string{"2", "/", "state:failed", keyEnter, "r"}, "yes"},
		{"count", []string{"2", " ", "j", " ", "j", " ", "j", " ", "r"}, ""},
	} {
		t.Run(open.name, func(t *testing.T) {
			acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
				s.press(open.press...)
				s.ready()
				if s.dialog() == nil {
					t.Fatal(s.text())
				}
				for _, r := range replies {
					s.press(r)
					for cut := 1; cut < len(r); cut++ {
						s.press(r[:cut])
						time.Sleep(time.Second) // the escape timeout has passed: the rest arrives as keys
						s.press(r[cut:])
						if s.dialog() == nil { // a lone escape leaves the dialog, which is as safe
							s.press(open.press...)
							s.ready()
						}
					}
				}
				if s.dialog() != nil && open.typed != "" { // what replies left behind spoils the text
					s.press(keyEnter)
				}
				if got := h.acted(); len(got) != 0 {
					t.Fatalf("acted on %v", got)
				}
			})
		})
	}
}

// While a plan waits for c, the rest of a split reply must not press it. A lone escape stops the plan, which is as safe, so
// that the cut behind it comes last.
func TestRepliesNeverStartAWave(t *testing.T) {
	replies := []string{"\x1b[?2026;2$y", "\x1b]11;rgb:cccc/cccc/cccc\x1b\\", "\x1b]11;rgb:cccc/cccc/cccc\x07", "\x1b[?6c", "\x1b[?62;22;52c", "\x1b[12;40R",
		"\x1bP>|vct(1c)\x1b\\", "\x1b_Gi=31;c\x1b\\"}
	for _, late := range []time.Duration{200 * time.Millisecond, time.Second, 20 * time.Second} {
		acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, c *actions.Operator) {
			h.pending = true
			manyResets(s, 40*time.Second)
			reply := func(r string, cut int) {
				s.press(r[:cut])
				time.Sleep(late)
				s.press(r[cut:])
				time.Sleep(time.Second)
				if got := h.acted(); len(got) != 1 {
					t.Fatalf("%q, cut at %d, the rest %s late: acted on %v", r, cut, late, got)
				}
				if cut > 1 && (!running(s.model) || h.common.Current().Over()) {
					t.Fatalf("%q, cut at %d, the rest %s late, left the plan: %s", r, cut, late, s.text())
				}
			}
			for _, r := range replies {
				for cut := 2; cut < len(r); cut++ {
					reply(r, cut)
				}
			}
			s.press("\x1b[") // somebody's own key after a reply that never came whole
			time.Sleep(time.Minute)
			s.press("c")
			time.Sleep(time.Second)
			if got := h.acted(); len(got) != 2 {
				t.Fatalf("c, pressed, started nothing: %v", got)
			}
			time.Sleep(40 * time.Second)
			s.press("\x1b")
			time.Sleep(late)
			s.press("]11;rgb:cccc/cccc/cccc\x07")
			time.Sleep(time.Second)
			if got := h.acted(); len(got) != 2 {
				t.Fatalf("a reply behind a lone escape: acted on %v", got)
			}
		})
	}
}

// running reports whether a run has the keys.
func running(m *Model) bool {
	_, ok := over[*runView](m)
	return ok
}
