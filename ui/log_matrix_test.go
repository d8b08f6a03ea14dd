package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"sandglass/backend"
	"sandglass/backend/logstream"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

// threeLogs are those of a session: a container, a file, and one that cannot be read.
func threeLogs() (l Logs, to *logstream.Sink) {
	to = new(logstream.Sink)
	set := backend.LogSet{Logs: []backend.Log{{Name: backend.Text("container web-eval-12")}, {Name: backend.Text("/var/log/agents/eu.log")}, {Name: backend.Text("container box-7")}},
		Lacking: []backend.Safe{backend.Text("blaxel: not without waking it")}}
	return Logs{Cleaner: backend.NewCleaner("our-own-secret"), Of: func(backend.Key) backend.LogSet { return set },
		Follow: func(_ context.Context, _ []backend.Log, sink logstream.Sink) { *to = sink }}, to
}

// stillLogs is a log view of which every line has come, drawn on an emulated terminal.
func stillLogs(t *testing.T, l look) *screen {
	t.Helper()
	logs, to := threeLogs()
	s := still(t, matrixFeed("Sandboxes"), l, 3)
	s.model.viewer.Logs = logs
	s.model.press(tea.KeyPressMsg{Code: 'j', Text: "j"})
	s.model.press(tea.KeyPressMsg{Code: 'l', Text: "l"})
	p, opened := s.model.stack.top().(*logPage)
	if !opened {
		t.Fatalf("no log view: %q", s.model.say)
	}
	t.Cleanup(p.cancel)
	for i, x := range []struct {
		log  int
		text string
	}{
		{0, "INFO  http: GET /v1/sandboxes/8f3a/files 200 12ms"},
		{1, `{"level":"warn","time":"2026-11-21T14:02:57.100Z","msg":"eviction retry","workspace":"box","attempt":3,"token":"our-own-secret"}`},
		{0, "ERROR exec: cannot start the command: no space left on device (/workspace/.cache/a/path/that/is/long/enough/to/be/cut/in/a/narrow/window)"},
		{1, "hostile \x1b]0;title\a and \u202ereversed"},
		{0, "Zeichen: 日本語のログ, und mehr"},
	} {
		(*to).Line(x.log, backend.LogLine{At: noonUTC.Add(time.Duration(i-6) * time.Second), Text: []byte(x.text), Stderr: x.log == 0 && i > 1})
	}
	(*to).State(0, logstream.State{Live: true})
	(*to).State(1, logstream.State{Live: true})
	(*to).State(2, logstream.State{Err: errors.New("permission denied"), Again: 8 * time.Second})
	for !p.store.Step() {
	}
	p.view.Came(noonUTC)
	s.draw()
	return s
}

// The log view in the sizes and tiers of the matrix: following, and stopped under a filter with a line unfolded.
func TestLogMatrix(t *testing.T) {
	for name, prepare := range map[string]func(*testing.T, *screen){
		"following": func(*testing.T, *screen) {},
		"unfolded": func(t *testing.T, s *screen) {
			p := s.model.stack.top().(*logPage)
			if err := p.view.SetFilter("~retry|space"); err != nil {
				t.Fatal(err)
			}
			for !p.store.Step() {
			}
			p.act(keys.Intent{Action: keys.Top}, &s.model.frame)
			p.act(keys.Intent{Action: keys.Enter}, &s.model.frame)
			s.draw()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, size := range andSmall() {
				for _, glyphs := range []theme.Glyphs{theme.Unicode, theme.ASCII} {
					matrixText(t, func(l look) *screen {
						s := stillLogs(t, l)
						prepare(t, s)
						return s
					}, size, glyphs, tiers()[:3], &b)
				}
			}
			golden.RequireEqual(t, []byte(b.String()))
		})
	}
}

// The key of the logs is in the footer only where there may be one.
func TestLogsAreOfferedWhereTheyAre(t *testing.T) {
	s := still(t, matrixFeed("Sandboxes"), look{w: 120, h: 40}, 3)
	m := s.model
	m.press(tea.KeyPressMsg{Code: 'j', Text: "j"})
	has := true
	for _, x := range []struct {
		change func()
		want   bool
	}{
		{func() {}, false},
		{func() { m.viewer.Logs, _ = threeLogs() }, true},
		{func() { m.viewer.Logs.Has = func(k backend.Key) bool { return has && k.Kind == backend.KindSandbox } }, true},
		{func() { has = false }, false},
		{func() { has = true; m.press(tea.KeyPressMsg{Code: tea.KeyEnter}) }, true},
		{func() { m.open(9); m.press(tea.KeyPressMsg{Code: 'j', Text: "j"}) }, false},
	} {
		x.change()
		if s.draw(); strings.Contains(s.text(), "l logs") != x.want {
			t.Errorf("offered %t:\n%s", !x.want, s.text())
		}
	}
}
