package ui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Keys that come faster than frames are drawn once a frame. All of them count, and the last one is drawn.
func TestABurstOfKeysIsDrawnOnceAFrame(t *testing.T) {
	now := time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC)
	state, board := incident(now)
	m := New(Viewer{Name: "mara", Now: func() time.Time { return now }, Size: Size{80, 24}}, newFeed(state, board))
	t.Cleanup(m.Close)
	g := &guard{model: m, burst: burst{now: func() time.Time { return now }}}
	g.Init()
	g.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	press := func(key string) (drawn bool) {
		before := g.View().Content
		g.Update(tea.KeyPressMsg{Code: rune(key[0]), Text: key})
		return g.View().Content != before
	}
	now = now.Add(time.Second)
	if !press("2") {
		t.Error("a key after a pause waits for a frame")
	}
	for i := range 99 {
		now = now.Add(time.Millisecond)
		if press([]string{"j", "k", "j", "1"}[i%4]) {
			t.Fatalf("key %d of a burst is drawn at once", i)
		}
	}
	_, _ = g.Update(frameDue{})
	if g.View().Content != m.View().Content {
		t.Error("the frame that was due does not show what the last key did")
	}
	now = now.Add(time.Second)
	if !press("3") {
		t.Error("a key after the burst waits for a frame")
	}
}
