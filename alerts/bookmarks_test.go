package alerts

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestBookmarksFollowTheClock: a clock that was set between two processes moves the times of the first.
func TestBookmarksFollowTheClock(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got := restoreBookmarks(map[string][]backend.Bookmark{"log": {{File: "1:2", Sizes: []backend.SizeAt{{Size: 5, At: at, Written: at.Add(-time.Minute)}, {Size: 6, At: at}}}}}, -2*time.Minute)
	s := got["log"][0].Sizes
	if !s[0].At.Equal(at.Add(-2*time.Minute)) || !s[0].Written.Equal(at.Add(-3*time.Minute)) || !s[1].Written.IsZero() {
		t.Errorf("got %v", s)
	}
}
