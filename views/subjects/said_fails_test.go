package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// TestFailedCommandsOfAnAgentAreInThePlaneOfCommands: with whose word it is, how often and the newest. A probe that ran a command before them
// is called one of before, and the table shows no health; a single one leaves it.
func TestFailedCommandsOfAnAgentAreInThePlaneOfCommands(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	const said = "by its agent, 6 times, newest 11:59:00Z: ExecTransportError, folder /workspace, directory missing"
	b := &backend.Sandbox{Class: backend.SandboxRunning, Provider: backend.Text("blaxel"), Session: backend.MustID("s")}
	b.Key = backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("a")}
	draw := func(b *backend.Sandbox, alerted bool) (string, string) {
		board := &alerts.Board{}
		if alerted {
			board.Alerts = []*alerts.Alert{{Rule: "contradiction", State: alerts.StatePending, Cause: backend.Text("reported RUNNING, but commands of its agent fail, its agent's log says"), Bounds: alerts.Bounds{Latest: now.Add(-5 * time.Minute)},
				Subjects: []alerts.Subject{{Key: b.Key, Detail: backend.Textf("reported RUNNING, but commands of its agent fail, its agent's log says: %s", backend.Literal(said))}}}}
		}
		st := &fleet.State{Wall: now, Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "log", ID: backend.MustID("log")}, About: []string{"bl"}}},
			Windows: fleet.NewWindows(backend.Count{At: now.Add(-time.Minute), N: 1, Sample: backend.Text("ExecTimeoutError"), Series: backend.Series{Source: "log", Name: backend.MetricSDKExec, Session: backend.MustID("s")}})}
		s := views.NewSnapshot(now, st, board)
		look := theme.New(theme.NoColours, theme.Unicode)
		w := &writer{Doc: &kit.Doc{}, f: &views.Frame{Snapshot: s, Theme: look}}
		w.observed(b)
		w.planes(b)
		return strings.Join(w.Layout(look, 300), "\n"), observedCell(b, s).Text.String()
	}
	probed := b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now.Add(-23 * time.Minute)}})
	for _, c := range []struct {
		b       *backend.Sandbox
		alerted bool
		page    []string
		cell    string
	}{
		{b, true, []string{"nothing was tried", said}, "log: commands fail"},
		{b, false, []string{"nothing was tried", "by its agent, 1 time, newest 11:59:00Z: ExecTimeoutError"}, "not tried"},
		{probed, true, []string{"was ok", "before the fault: it tells nothing of now", said}, "its agent's log says that commands fail; a probe's ran 23m ago, before that"},
		{probed, false, []string{"by its agent, 1 time, newest 11:59:00Z: ExecTimeoutError"}, "23m ago: healthy; not tried: control, filesystem"},
	} {
		page, cell := draw(c.b, c.alerted)
		for _, x := range c.page {
			if !strings.Contains(page, x) {
				t.Errorf("alerted %t: %q is missing:\n%s", c.alerted, x, page)
			}
		}
		if cell != c.cell {
			t.Errorf("alerted %t: the cell says %q, want %q", c.alerted, cell, c.cell)
		}
	}
}
