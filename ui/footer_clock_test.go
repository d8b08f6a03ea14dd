package ui

import (
	"strings"
	"testing"
)

// TestTheClockIsOnEveryScreen holds that each screen of 80 columns tells the time in one of its outer lines.
func TestTheClockIsOnEveryScreen(t *testing.T) {
	outer := func(s *screen) string {
		all := s.lines()
		return strings.Join([]string{all[0], all[1], all[s.h-1]}, "\n")
	}
	for _, press := range [][]string{{"1"}, {"2"}, {"3"}, {"7"}, {"8"}, {"9"}, {"1", keyEnter}, {"9", keyEnter}, {"R"}, {"?"}, {"M"}, {"a"}} {
		if text := take(t, orderlyFeed, look{w: 80, h: 24}, press, outer); strings.Count(text, "14:03Z") != 1 {
			t.Errorf("after %q the time is there %d times:\n%s", press, strings.Count(text, "14:03Z"), text)
		}
	}
}
