package alerts

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
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

// TestASourceThatOnlyAsksToWaitLosesNoBookmarks: until when it wants to be left alone stands beside where the process before stopped.
func TestASourceThatOnlyAsksToWaitLosesNoBookmarks(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	own, quiet := backend.Bookmark{File: "own", Sizes: []backend.SizeAt{{At: at}}}, backend.QuietBookmark(at.Add(time.Minute))
	for name, x := range map[string]struct {
		lastOK time.Time
		told   []backend.Bookmark
		want   int
		until  time.Time
	}{
		"it never answered": {time.Time{}, []backend.Bookmark{quiet}, 2, at.Add(time.Minute)},
		"it answered":       {at, []backend.Bookmark{own}, 1, time.Time{}},
	} {
		h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, LastOK: x.lastOK, LastTry: at, Bookmarks: x.told}
		ev := &evaluation{st: &fleet.State{Sources: []*fleet.SourceHealth{h}}, old: &memory{bookmarks: map[string][]backend.Bookmark{"cf": {own, backend.QuietBookmark(at.Add(-time.Minute))}}}, next: &memory{}}
		ev.bookmarks()
		marks := ev.next.bookmarks["cf"]
		if until, others := backend.TakeQuiet(marks, at); len(marks) != x.want || !until.Equal(x.until) || len(others) != 1 || others[0].File != "own" {
			t.Errorf("%s: %+v", name, marks)
		}
	}
}
