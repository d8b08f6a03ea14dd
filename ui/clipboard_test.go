package ui

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/subjects"
)

// What went wrong is copied in the words of what reported it: of a workspace, an alert and a source; a row without an error says so.
func TestCopyError(t *testing.T) {
	state, board := incident(time.Now())
	s := views.NewSnapshot(time.Now(), state, board)
	for key, want := range map[backend.Key]string{
		wsKey("helix-eu", "codesess_77c0", "scratch"): "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3",
		views.AlertKey(board.Alerts[2]):               "r2 bucket unreachable",
		state.Sources[1].Key:                          "connection refused (10.2.0.7:8080)",
		sandboxKey("id-web-eval-15"):                  "curl: (7) failed to connect to localhost port 8080",
		sandboxKey("id-web-eval-12"):                  "broken: no /workspace",
		sandboxKey("id-web-eval-14"):                  "",
		wsKey("helix-eu", "codesess_3541", "box"):     "",
		wsKey("helix-eu", "gone", "box"):              "",
	} {
		if got := subjects.LastError(key, s).String(); got != want {
			t.Errorf("%s: %q, want %q", key.Safe(), got, want)
		}
	}
	m := New(Viewer{Now: time.Now, Size: Size{120, 40}}, newFeed(state, board))
	defer m.Close()
	x := &scope{viewer: &m.viewer, frame: &m.frame, screen: m.screen(), keymap: m.keymap, acting: &m.acting, key: sandboxKey("id-web-eval-14")}
	if r := x.copyOf("error"); r.Copy != "" || r.Say != "nothing copied: this has no error" {
		t.Errorf("%+v", r)
	}
	if r := x.copyOf("yaml"); !strings.Contains(r.Copy, "name: web-eval-14\n") || strings.Contains(r.Copy, `"name":`) || r.Say != "reading as YAML sent to the clipboard" {
		t.Errorf("%+v", r)
	}
}

func sandboxKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "docker-local", ID: backend.MustID(id)}
}

// Inside tmux and screen the remark says what lets the text through; screen gets it in pieces that it passes on.
func TestCopyThroughAMultiplexer(t *testing.T) {
	for _, c := range []struct{ environ, hint string }{
		{"TERM=xterm-256color", ""},
		{"TMUX=/tmp/tmux-0/default,1,0 TERM=screen-256color", "set -g set-clipboard on"},
		{"TERM=tmux-256color", "set -g set-clipboard on"},
		{"STY=12.pts-0.host TERM=screen", "screen passes it on"},
		{"TERM=screen.xterm-256color", "screen of another machine drops it"},
	} {
		m := New(Viewer{Now: time.Now, Size: Size{120, 40}, Environ: strings.Fields(c.environ)}, incidentFeed())
		m.do(keys.Intent{Action: keys.Top})
		long := strings.Repeat("id-0123456789\n", 200)
		cmd := m.apply(nil, reply{Copy: long, Say: "ids sent to the clipboard"})
		if want := strings.TrimSuffix("ids sent to the clipboard; "+c.hint, "; "); !strings.Contains(m.say, c.hint) || !strings.HasPrefix(m.say, "ids sent to the clipboard") || c.hint == "" && m.say != want {
			t.Errorf("%s: %q", c.environ, m.say)
		}
		raw, wrapped := cmd().(tea.RawMsg)
		if wrapped != strings.Contains(c.environ, "STY") {
			t.Errorf("%s: wrapped is %v", c.environ, wrapped)
		}
		if wrapped {
			var joined strings.Builder
			for piece := range strings.SplitSeq(fmt.Sprint(raw.Msg), "\x1b\\") {
				if len(piece) > screenPasses+len("\x1bP") {
					t.Errorf("a piece of %d bytes", len(piece))
				}
				joined.WriteString(strings.TrimPrefix(piece, "\x1bP"))
			}
			if want := "\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(long)) + "\x07"; joined.String() != want {
				t.Errorf("screen gives its terminal %q", joined.String())
			}
		}
		m.Close()
	}
}

// The name of a file of evidence is whole on a screen of 80 cells, however long its folder and the id in it are.
func TestEvidenceIsNamedWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		name := "20261129T004534Z-workspace-" + strings.Repeat("3", 20) + "-0123abcd.md"
		s := openViewer(t, incidentFeed(), look{w: 80, h: 24}, func(v *Viewer) {
			v.Bundle = func(context.Context, backend.Key) (string, error) {
				return "/home/mara/" + strings.Repeat("state/", 20) + name, nil
			}
		})
		if s.press("2", "E"); !strings.Contains(s.text(), "evidence written: "+name) {
			t.Errorf("cut:\n%s", s.text())
		}
		s.close()
	})
}
