package ui

import (
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions"
)

// A sign turns while the targets are read, and nothing is sent before and after.
func TestASignTurnsOnlyWhileSomethingIsAwaited(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		h.looking = func() { time.Sleep(4 * time.Second) }
		sent := func(d time.Duration) int64 {
			before := s.bytes.Load()
			time.Sleep(d)
			synctest.Wait()
			return s.bytes.Load() - before
		}
		s.press("3")
		if n := sent(2 * time.Second); n > 200 { // ages of some seconds
			t.Errorf("%d bytes before anything is awaited", n)
		}
		s.press("D")
		idle, waits := s.model.spin.turning, sent(2*time.Second)
		if !idle || waits < 10*10 || waits > 10*120 {
			t.Errorf("turning %t: %d bytes in the 10 turns of two seconds", idle, waits)
		}
		s.press(keyEsc)
		time.Sleep(time.Second)
		s.settle()
		if n := sent(2 * time.Second); n > 200 || s.model.spin.turning {
			t.Errorf("%d bytes after esc dropped it", n)
		}
		time.Sleep(5 * time.Second) // the reading ends
	})
}
