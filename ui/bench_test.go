package ui

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

func benchModel(n int) (*Model, *fixedFeed, *time.Time) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	feed := newFeed(big(now, n), &alerts.Board{})
	m := New(Viewer{Name: "bench", Environment: "x", Size: Size{120, 40}, ColorProfile: colorprofile.ANSI256, Now: func() time.Time { return now }}, feed)
	m.open(2)
	m.View()
	return m, feed, &now
}

// A key, from the message to the finished view.
func BenchmarkKey(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		m, _, _ := benchModel(n)
		press := func(k tea.KeyPressMsg) {
			m.Update(k)
			m.View()
		}
		for name, k := range map[string]tea.KeyPressMsg{"down": {Code: tea.KeyDown}, "page": {Code: tea.KeyPgDown}, "end": {Code: 'G', Text: "G"},
			"sort": {Code: 's', Text: "s"}, "reverse": {Code: 'I', Text: "I"}} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for range b.N {
					press(k)
				}
			})
		}
		b.Run(fmt.Sprintf("filter/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			press(tea.KeyPressMsg{Code: '/', Text: "/"})
			for i := range b.N {
				k := tea.KeyPressMsg{Code: 'e', Text: "e"}
				if i%2 == 1 {
					k = tea.KeyPressMsg{Code: tea.KeyBackspace}
				}
				press(k)
			}
			press(tea.KeyPressMsg{Code: tea.KeyEscape})
		})
		m.Close()
	}
}

// A key on Alerts home, with the pane of an alert beside or below the table and 100,000 workspaces behind it; and a State that
// redraws the details of an alert.
func BenchmarkAlertsKey(b *testing.B) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	for _, size := range []Size{{120, 40}, {200, 60}} {
		m, _ := watched(&now, 100_000)
		m.Update(tea.WindowSizeMsg{Width: size.Width, Height: size.Height})
		m.View()
		b.Run(fmt.Sprintf("down and up/%dx%d", size.Width, size.Height), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				k := tea.KeyPressMsg{Code: tea.KeyDown}
				if i%16 > 7 {
					k = tea.KeyPressMsg{Code: tea.KeyUp}
				}
				m.Update(k)
				m.View()
			}
		})
		b.Run(fmt.Sprintf("details and back/%dx%d", size.Width, size.Height), func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				k := tea.KeyPressMsg{Code: tea.KeyEnter}
				if i%2 == 1 {
					k = tea.KeyPressMsg{Code: tea.KeyEscape}
				}
				m.Update(k)
				m.View()
			}
		})
		m.Close()
	}
}

// A State in which 1 % changed, merged into the screen and drawn.
func BenchmarkRefresh(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, feed, now := benchModel(n)
			state, board := feed.Latest()
			next := touch(state, *now, 100, 1)
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				s := *next
				s.Number = state.Number + uint64(i) + 1
				feed.set(&s, board)
				m.Update(changedMsg{})
				m.View()
			}
			m.Close()
		})
	}
}

// A cursor key on Sandboxes of an engine with 200 containers, where the rest of the row stands below the table; and a State that
// changed in nothing, as one comes with each second.
func BenchmarkSandboxesKey(b *testing.B) {
	now := time.Date(2026, 11, 21, 14, 3, 0, 0, time.UTC)
	boxes := make([]*backend.Sandbox, 200)
	for i := range boxes {
		c := *machines(now, "docker-local")[3]
		c.Name, c.Key.ID = safe(fmt.Sprintf("agent-%d", i)), backend.MustID(fmt.Sprintf("%012x", i*7919))
		c.Image, c.Command, c.ReadAt = safe("bb:1"), safe("sleep 100000"), now
		boxes[i] = &c
	}
	state := &fleet.State{Number: 100, Wall: now, Sandboxes: fleet.NewTable(boxes...),
		Sources: []*fleet.SourceHealth{source(now, "docker-local", "docker", fleet.StatusOK, backend.InputContainers)}}
	m := New(Viewer{Name: "bench", Size: Size{120, 40}, ColorProfile: colorprofile.ANSI256, Now: func() time.Time { return now }}, newFeed(state, &alerts.Board{}))
	defer m.Close()
	m.open(3)
	m.View()
	b.Run("down and up", func(b *testing.B) {
		b.ReportAllocs()
		for i := range b.N {
			k := tea.KeyPressMsg{Code: tea.KeyDown}
			if i%16 > 7 {
				k = tea.KeyPressMsg{Code: tea.KeyUp}
			}
			m.Update(k)
			m.View()
		}
	})
	b.Run("second", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			m.Update(tickMsg{})
			m.View()
		}
	})
}
