package ui

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
)

// A part of a name leads to a subject's details, a screen or a command, from everywhere.
func TestJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 100, h: 30})
		s.press("2", keyEnter, "\x10") // from the details of a row, with ctrl+p
		s.typed("web-eval-12")
		s.press(keyEnter)
		d, shown := over[*details](s.model)
		if !shown || d.key.Kind != backend.KindSandbox || !strings.Contains(s.text(), "web-eval-12") {
			t.Fatalf("not on the sandbox:\n%s", s.text())
		}
		s.press("f")
		s.typed("timeline")
		s.press(keyEnter)
		if s.model.screen().Name() != "Timeline" || len(s.model.stack) != 0 {
			t.Errorf("not on the screen:\n%s", s.text())
		}
		s.press("f")
		s.typed("nothing has this")
		if s.press(keyEnter); !strings.Contains(s.text(), "go to: 0 matches") || !strings.Contains(s.text(), "no name, id or path") {
			t.Errorf("not said:\n%s", s.text())
		}
		s.press("\x03", "f")
		s.typed("docker-loc") // a source, by the beginning of its name
		s.press(keyEnter)
		if d, shown := over[*details](s.model); !shown || d.key.Kind != backend.KindSource {
			t.Errorf("not on the source:\n%s", s.text())
		}
		s.close()
	})
}

// Alerts of one rule and source are told apart by their causes.
func TestJumpTellsAlertsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state, board := incident(time.Now())
		twin := *board.Alerts[2]
		twin.ID, twin.Fingerprint, twin.Cause = "twin", "twin", safe("quota of the account is used up")
		board.Alerts = append(board.Alerts, &twin)
		s := open(t, newFeed(state, board), look{w: 100, h: 30})
		s.press("f")
		s.typed(twin.Rule)
		for _, cause := range []string{twin.Cause.String(), board.Alerts[2].Cause.String()} {
			if !strings.Contains(s.text(), twin.Rule+"  "+cause) {
				t.Errorf("%q is not on the screen:\n%s", cause, s.text())
			}
		}
		s.close()
	})
}

// All commands and subjects can be found, a workspace by its session and name.
func TestJumpSearchesEverything(t *testing.T) {
	m, _, _ := benchModel(3)
	defer m.Close()
	m.press(tea.KeyPressMsg{Code: 'f', Text: "f"})
	j, _ := over[*jump](m)
	if j == nil || j.index.Len() != len(j.targets) || len(j.targets) < 20 {
		t.Fatal("not open, or nothing to find")
	}
	for _, r := range "codesess_000000/box" {
		m.press(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	if j.total != 1 || j.targets[j.found[0]].key.ID.Raw() != "box" {
		t.Errorf("%d found", j.total)
	}
}

// A key while 100,000 subjects are searched, from the message to the finished view; and opening the search. Target: 30 ms.
func BenchmarkJump(b *testing.B) {
	m, _, _ := benchModel(100_000)
	defer m.Close()
	key := func(c rune, text string) {
		m.Update(tea.KeyPressMsg{Code: c, Text: text})
		m.View()
	}
	key('f', "f")
	b.Run(fmt.Sprintf("key/%d", 100_000), func(b *testing.B) {
		for i := range b.N {
			if i%2 == 0 {
				key('b', "b")
			} else {
				key(tea.KeyBackspace, "")
			}
		}
	})
	key('x', "x")
	b.Run("open", func(b *testing.B) {
		for range b.N {
			m.stack = nil
			key('f', "f")
		}
	})
}
