package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/backend"
)

// A plan that arrives late must not take the place of another one under somebody's fingers.
func TestAnOlderPlanNeverReplacesADialog(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		delays := []time.Duration{5 * time.Second, 0}
		h.looking = func() {
			if len(delays) > 0 {
				d := delays[0]
				delays = delays[1:]
				time.Sleep(d)
			}
		}
		s.press("3", "D")
		s.press("j", "D")
		s.ready()
		if s.dialog() == nil {
			t.Fatal(s.text())
		}
		second := s.dialog().view.Plan
		s.typed(second.Wants()[:4])
		time.Sleep(6 * time.Second)
		s.settle()
		if s.dialog().view.Plan != second || s.dialog().confirming.typed() != second.Wants()[:4] {
			t.Errorf("another plan took its place:\n%s", s.text())
		}
	})
}

func TestAPlanIsDroppedByEscAndByAnotherScreen(t *testing.T) {
	for _, key := range []string{keyEsc, "2", "?", ":", "/"} {
		acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
			h.looking = func() { time.Sleep(3 * time.Second) }
			s.press("3", "D")
			time.Sleep(time.Second)
			s.press(key)
			time.Sleep(5 * time.Second)
			s.settle()
			if s.dialog() != nil {
				t.Errorf("after %q the dialog opened all the same", key)
			}
		})
	}
}

// Keys that were on their way when the dialog appeared are not read as an answer to it.
func TestKeysFromBeforeTheDialogCountForNothing(t *testing.T) {
	for _, c := range []struct{ open, typed string }{{"p", "ppp"}, {"D", ""}} {
		acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
			h.looking = func() { time.Sleep(time.Second) }
			s.press("3", c.open)
			for range 30 { // held down while it is read and while it appears
				s.press(c.open)
				if s.dialog() != nil {
					break
				}
			}
			s.press(c.open, keyEnter, c.open)
			h.looking = nil
			if got := h.acted(); len(got) != 0 {
				t.Errorf("%q acted on %v", c.open, got)
			}
		})
	}
}

func TestEscAfterTheConfirmationStopsTheRun(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, c *actions.Operator) {
		s.press("2", "/", "state:failed", keyEnter, " ", "j", " ", "j", " ", "r")
		s.ready()
		ok, err := actions.ConfirmDigest(s.dialog().view.Plan, s.dialog().view.Plan.Digest, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		h.slow = 4 * time.Second
		cmd := s.dialog().start(ok) // the key was pressed; what it began has not come back
		s.press(keyEsc)
		s.prog.Send(cmd())
		time.Sleep(20 * time.Second)
		s.settle()
		if p := h.common.Current().Progress(); p.Phase != actions.PhaseStopped || len(h.acted()) > 1 {
			t.Errorf("%s, %s: %v", p.Phase, p.Why, h.acted())
		}
	})
}

// What comes up while the dialog is read shows in the plan made anew.
func TestARefusalAtTheStartShowsInTheDialog(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		s.press("2", "/", "state:failed", keyEnter, "r")
		s.ready()
		h.concerns = []actions.Concern{{ID: "x", Rule: "eviction-storm", Source: "helix-eu", Firing: true, Cause: backend.Text("max_instances reached")}}
		s.typed("yes")
		s.press(keyEnter)
		s.ready()
		if len(h.acted()) != 0 || !strings.Contains(s.text(), "adds opens") || !strings.Contains(s.text(), "eviction-storm fires") {
			t.Errorf("acted on %v:\n%s", h.acted(), s.text())
		}
	})
}

func TestWhatTheFilterHidesIsIncludedByName(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		s.press("2", "/", "state:failed", keyEnter, " ", "j", " ", "/", " 77c1", keyEnter, "r")
		s.ready()
		if n := len(s.dialog().view.Plan.Targets); n != 1 || !strings.Contains(s.text(), "with NAME") {
			t.Fatalf("%d targets:\n%s", n, s.text())
		}
		hidden := s.dialog().view.Plan.Hidden()[0]
		s.typed("with nothing-of-that-name")
		s.press(keyEnter)
		if !strings.Contains(s.text(), "none of what the filter hides") {
			t.Error(s.text())
		}
		s.typed("with " + hidden.Label.String())
		s.press(keyEnter)
		s.ready()
		if n := len(s.dialog().view.Plan.Targets); n != 2 || len(h.acted()) != 0 {
			t.Fatalf("%d targets, acted on %v:\n%s", n, h.acted(), s.text())
		}
		s.typed(s.dialog().view.Plan.Wants())
		s.press(keyEnter)
		time.Sleep(time.Minute)
		s.settle()
		if got := h.acted(); len(got) != 2 {
			t.Errorf("acted on %v", got)
		}
	})
}

// A journal that hangs must not hold the screen up.
func TestTheScreenAnswersWhileTheJournalHangs(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		release := make(chan struct{})
		h.writing = func(e audit.Entry) {
			if e.Phase == audit.PhaseIntent {
				<-release
			}
		}
		s.press("3", "p")
		s.ready()
		s.press("p")
		time.Sleep(3 * time.Second)
		s.press("v", "2", "?")
		if _, helps := over[*helpPage](s.model); !helps {
			t.Error(s.text())
		}
		time.Sleep(time.Minute)
		s.settle()
		if len(h.acted()) != 0 {
			t.Errorf("acted on %v without a journal", h.acted())
		}
		close(release)
	})
}

// In every window the line that says what to type is there.
func TestDialogsInSmallWindows(t *testing.T) {
	for _, size := range []Size{{80, 24}, {40, 12}, {30, 8}} {
		for name, keys := range map[string][]string{"name": {"3", "D"}, "light": {"3", "p"}, "many": {"2", "/", "state:failed", keyEnter, " ", "j", " ", "r"}} {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size.Width, size.Height), func(t *testing.T) {
				acts(t, size, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
					h.label = "web-\x1b[31m\u202e" + strings.Repeat("long", 60)
					if name == "name" {
						h.label = strings.Repeat("longname", 20)
					}
					s.press(keys...)
					s.ready()
					want := s.dialog().view.Plan.Wants()
					if name == "light" {
						want = "press p "
					}
					if !strings.Contains(s.text(), want) {
						t.Errorf("%q is not in sight:\n%s", want, s.text())
					}
				})
			})
		}
	}
}
