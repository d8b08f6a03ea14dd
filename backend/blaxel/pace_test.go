package blaxel

import (
	"context"
	"testing"
	"time"
)

// TestAPollWithoutAListIsAsOldAsTheListBefore: sandboxes are listed every 10 s however often the source is polled.
func TestAPollWithoutAListIsAsOldAsTheListBefore(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page(""))
	for _, x := range []struct {
		after, answered time.Duration
		lists           int
	}{{0, 0, 1}, {5, 0, 1}, {10, 10, 2}, {15, 10, 2}, {20, 20, 3}} {
		w.clock.Add(zero.Add(x.after * time.Second).Sub(w.clock.Now()))
		r, err := w.src.Poll(context.Background())
		if n := w.requests("/sandboxes?"); err != nil || n != x.lists || !r.SoAt().Equal(zero.Add(x.answered*time.Second)) || r.Every != 10*time.Second {
			t.Errorf("after %d s: %d lists, want %d; of %v, every %v, %v", x.after, n, x.lists, r.SoAt(), r.Every, err)
		}
	}
}
