package logs

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestHubLinesAreReports: what a line of the Coder Hub says, about whom, with its status and its duration in seconds.
func TestHubLinesAreReports(t *testing.T) {
	const session, sandbox = "codesess_4cf3926c7813", "sbx_50445cf9266fbb2f74d00156ac64409324c3953a4360c19debdc4b5a4d8d"
	for line, want := range map[string]backend.Report{
		`2026-04-04T01:00:00Z [hub] WARN failed to send USR1 reconnect nudge to ` + session + ` in ` + sandbox + `: HTTP 500 Internal Server Error (immediate)`: {
			Kind: backend.ReportNudgeFailed, Session: backend.MustID(session), Sandbox: backend.MustID(sandbox), Status: 500, Phase: backend.Text("right after the resume"),
			Text: backend.Text("2026-04-04T01:00:00Z [hub] WARN failed to send USR1 reconnect nudge to codesess_4cf3926c7813 in " + sandbox + ": HTTP 500 Internal Server Error (immediate)")},
		`ERROR ` + session + ` still has not reconnected after 5000 ms; sending follow-up nudge`: {
			Kind: backend.ReportNotReconnected, Session: backend.MustID(session), Limit: 5 * time.Second, Phase: backend.Text("follow-up"),
			Text: backend.Text("ERROR codesess_4cf3926c7813 still has not reconnected after 5 s; sending follow-up nudge")},
		`{"level":"error","msg":"wake failed","sessionId":"` + session + `","sandboxId":"` + sandbox + `","error":"Sandbox driver did not connect within 120000ms. Check sandbox background jobs for details."}`: {
			Kind: backend.ReportDriverTimeout, Session: backend.MustID(session), Sandbox: backend.MustID(sandbox), Limit: 2 * time.Minute,
			Text: backend.Text("Sandbox driver did not connect within 120 s. Check sandbox background jobs for details.")},
		`{"level":"info","msg":"Waiting for driver to connect","session":"` + session + `"}`: {
			Kind: backend.ReportDriverWaiting, Session: backend.MustID(session), Text: backend.Text("Waiting for driver to connect")},
	} {
		_, r := lines(t, nil, line)
		if len(r.Reports) != 1 || len(r.Events) != 1 {
			t.Errorf("%d reports and %d events of %s", len(r.Reports), len(r.Events), line)
			continue
		}
		got := r.Reports[0]
		if got.Source == "" || got.At.IsZero() {
			t.Errorf("it is of %q at %s", got.Source, got.At)
		}
		got.Source, got.At = "", time.Time{}
		if got != want {
			t.Errorf("%s\nis  %+v\nnot %+v", line, got, want)
		}
	}
	for _, line := range []string{`INFO waiting for driver nvidia to load`, `epoch 1: no checkpoint data found, starting from scratch`,
		`{"level":30,"msg":"tool done","sessionId":"` + session + `","output":"[hub] WARN failed to send USR1 reconnect nudge: 500"}`} {
		if _, r := lines(t, nil, line); len(r.Reports)+len(r.Events) > 0 {
			t.Errorf("reported: %s", line)
		}
	}
}
