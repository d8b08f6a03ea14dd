package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// An eviction, a restart and a kill for memory that are over stay on their rows, in words, for as long as the settings say.
func TestSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		st, board := incident(now)
		var evicted *backend.Workspace
		for w := range st.Workspaces.All() {
			if w.Reported.String() == "open" {
				evicted = w
				break
			}
		}
		evicted.History = []backend.StatusChange{{Status: safe("open"), At: now.Add(-time.Hour)}, {Status: safe("evicted"), At: now.Add(-4 * time.Minute)},
			{Status: evicted.Reported, At: now.Add(-2 * time.Minute)}}
		var running []*backend.Sandbox
		for b := range st.Sandboxes.All() {
			if b.Class == backend.SandboxRunning {
				running = append(running, b)
			}
		}
		running[0].RestartCount, running[0].FinishedAt = backend.Known(2), at(now, 3*time.Minute)
		feed := newFeed(st, board)
		for _, size := range []Size{{80, 24}, {120, 40}, {200, 60}} {
			feed.state = st
			s := openViewer(t, feed, look{w: size.Width, h: size.Height}, func(v *Viewer) { v.MarkedFor = 6 * time.Minute })
			row := func(of string) string {
				for _, l := range s.lines() {
					if strings.Contains(l, of) {
						return l
					}
				}
				return ""
			}
			s.press("2", "/")
			s.typed(evicted.Key.ID.Raw())
			s.press(keyEnter)
			if strings.Count(s.text(), "▲ evicted") != 1 || size.Width > 80 && !strings.Contains(s.text(), "▲ evicted 4m") {
				t.Errorf("%v: the eviction is not marked:\n%s", size, s.text())
			}
			s.press("3")
			if got := row(running[0].Name.String()); !strings.Contains(got, "▲ restarted") {
				t.Errorf("%v: the restart is not marked: %q\n%s", size, got, s.text())
			}
			next := *st
			next.Number++
			next.Events = []backend.Event{{Kind: backend.EventPlatform, Name: "oom", At: time.Now(), Subject: running[1].Key, Text: safe("out of memory")}}
			feed.set(&next, board)
			time.Sleep(time.Second)
			s.settle()
			if got := row(running[1].Name.String()); !strings.Contains(got, "▲ oom") {
				t.Errorf("%v: the kill is not marked: %q\n%s", size, got, s.text())
			}
			if n := strings.Count(s.text(), "▲ oom"); n != 1 {
				t.Errorf("%d rows are marked", n)
			}
			time.Sleep(7 * time.Minute)
			s.settle()
			for _, over := range []string{"▲ oom", "▲ restarted", "RECENT"} {
				if strings.Contains(s.text(), over) {
					t.Errorf("%v: %q is still there:\n%s", size, over, s.text())
				}
			}
			s.close()
			now = time.Now()
			running[0].FinishedAt = at(now, 3*time.Minute)
			evicted.History[1].At = now.Add(-4 * time.Minute)
		}
		off := openViewer(t, feed, look{w: 120, h: 40}, func(v *Viewer) { v.MarkedFor = -1 })
		off.press("3")
		if strings.Contains(off.text(), "RECENT") {
			t.Errorf("switched off:\n%s", off.text())
		}
		off.close()
	})
}

// On a small screen what was proved of a sandbox stays beside a mark of another one.
func TestAMarkHidesNoProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, board := incident(time.Now())
		for b := range st.Sandboxes.All() {
			if b.Class == backend.SandboxRunning {
				b.Name, b.RestartCount, b.FinishedAt = safe("helix-of-a-long-name"), backend.Known(2), at(time.Now(), 3*time.Minute)
				break
			}
		}
		s := openViewer(t, newFeed(st, board), look{w: 60, h: 15}, func(v *Viewer) { v.MarkedFor = 6 * time.Minute })
		defer s.close()
		s.press("3")
		if !strings.Contains(s.text(), "OBSERVED") {
			t.Errorf("not shown what was observed:\n%s", s.text())
		}
	})
}
