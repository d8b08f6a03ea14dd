package ui

import "testing"

// What differs from half an hour before, of everything and of one subject; no action begins on the page about everything.
func TestDiffersScreens(t *testing.T) {
	sizedShots(t, "everything", evictionFeed, []Size{{80, 24}, {120, 40}}, "1", "d")
	t.Run("one", func(t *testing.T) { shot(t, evictionFeed, look{w: 80, h: 24}, "2", keyEnter, "d") })
	t.Run("no-action", func(t *testing.T) { shot(t, evictionFeed, look{w: 80, h: 24}, "3", "d", "D") })
}
