package ui

import (
	"strings"
	"testing"
	"testing/synctest"
)

// A terminal that is too small for a screen still shows how many alerts fire and that a source is down, as far as it has room.
func TestTooSmallShowsCounts(t *testing.T) {
	for size, want := range map[Size]string{
		{19, 3}: "2 crit 3 warn|4/5 sources|too small", {60, 3}: "2 crit 3 warn|4/5 sources|too small", {60, 2}: "2 crit 3 warn|4/5 sources",
		{30, 1}: "2 crit 3 warn", {6, 1}: "2 crit",
	} {
		synctest.Test(t, func(t *testing.T) {
			s := open(t, incidentFeed(), look{w: size.Width, h: size.Height})
			if got := strings.Trim(strings.Join(s.lines(), "|"), "|"); got != want {
				t.Errorf("%v: %s, want %s", size, got, want)
			}
			s.close()
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newFeed(nil, nil), look{w: 19, h: 3})
		if !strings.HasPrefix(s.text(), "no data yet") {
			t.Errorf("without a reading:\n%s", s.text())
		}
		s.close()
	})
}

// The window's title has the counts, and none where nothing is read.
func TestWindowTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for feed, want := range map[Feed]string{
			incidentFeed(): "2 critical, 3 warnings, 1 source down - sandglass prod-eu", newFeed(nil, nil): "sandglass prod-eu",
		} {
			s := open(t, feed, look{w: 80, h: 24})
			if got := s.model.View().WindowTitle; got != want {
				t.Errorf("the title is %q, want %q", got, want)
			}
			s.close()
		}
	})
}
