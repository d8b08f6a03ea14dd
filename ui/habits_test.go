package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"sandglass/backend"
	"sandglass/views/theme"
)

// habitsFeed is the incident with compose projects, and with an eviction, a restart and a kill that are over.
func habitsFeed() Feed {
	now := time.Now()
	st, board := incident(now)
	n := 0
	for b := range st.Sandboxes.All() {
		if n++; n%3 != 0 {
			b.Labels = []backend.Field{{Name: safe("com.docker.compose.project"), Value: safe([]string{"shop", "evaluation"}[n%2])}}
		}
		if n == 2 {
			b.RestartCount, b.FinishedAt = backend.Known(2), at(now, 3*time.Minute)
		}
	}
	for w := range st.Workspaces.All() {
		if w.Reported.String() == "open" {
			w.History = []backend.StatusChange{{Status: safe("open"), At: now.Add(-time.Hour)}, {Status: safe("evicted"), At: now.Add(-4 * time.Minute)},
				{Status: w.Reported, At: now.Add(-2 * time.Minute)}}
			break
		}
	}
	return newFeed(st, board)
}

// The bodies of screens as habits change them, at every width: rows in groups, a pinned row with what was seen of it, rows that are
// marked for what happened lately, columns that were chosen, and rows chosen with the mouse.
func TestHabits(t *testing.T) {
	command := func(text string) func(*screen) {
		return func(s *screen) {
			s.press(":")
			s.typed(text)
			s.press(keyEnter)
		}
	}
	for _, c := range []struct {
		name   string
		screen string
		do     []func(*screen)
	}{
		{"groups-of-projects", "3", []func(*screen){command("group compose")}},
		{"groups-of-a-column", "2", []func(*screen){command("group state"), command("order session")}},
		{"pins", "3", []func(*screen){func(s *screen) {
			s.press("P", "G", "P", "g")
			time.Sleep(2 * time.Minute)
			s.settle()
		}}},
		{"pins-in-groups", "3", []func(*screen){func(s *screen) { s.press("G", "P") }, command("group compose")}},
		{"recent-sandboxes", "3", nil},
		{"recent-workspaces", "2", []func(*screen){command("order recent")}},
		{"mouse", "9", []func(*screen){func(s *screen) { s.press("*", clicks(10, s.body().y+4)) }}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			for _, size := range widths() {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(14*time.Hour + 3*time.Minute)
					s := openViewer(t, habitsFeed(), look{w: size.Width, h: size.Height}, func(v *Viewer) { v.MarkedFor = time.Hour })
					s.press(c.screen)
					for _, do := range c.do {
						do(s)
					}
					fmt.Fprintf(&b, "=== %dx%d\n%s", size.Width, size.Height, s.golden(s.body()))
					s.close()
				})
			}
			golden.RequireEqual(t, []byte(b.String()))
		})
	}
}

// The colours of each theme on the home screen and on a table with every kind of mark, with few and with many colours. The text is
// the same in all of them.
func TestThemes(t *testing.T) {
	for _, n := range []string{"1", "3"} {
		t.Run(n, func(t *testing.T) {
			text := ""
			var b strings.Builder
			for _, palette := range theme.Palettes() {
				for _, c := range tiers()[1:] {
					synctest.Test(t, func(t *testing.T) {
						time.Sleep(14*time.Hour + 3*time.Minute)
						s := openViewer(t, habitsFeed(), look{w: 80, h: 24, profile: c.profile}, func(v *Viewer) { v.Theme, v.MarkedFor = palette, time.Hour })
						s.press(n)
						if got := strings.Join(s.rows(s.body()), "\n"); text == "" {
							text = got
						} else if got != text {
							t.Errorf("%s with %s colours has another text:\n%s", palette, c.name, got)
						}
						fmt.Fprintf(&b, "=== %s, colours: %s\n%s", palette, c.name, s.styles(s.body()))
						s.close()
					})
				}
			}
			golden.RequireEqual(t, []byte(text+"\n"+b.String()))
		})
	}
}
