package logs

import (
	"fmt"
	"strings"
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

// TestALineThatNamesBothJoinsThem: session and sandbox of any line of a hub, once; a line of several is none. The handle of an
// answer is no session, although the platform calls it so.
func TestALineThatNamesBothJoinsThem(t *testing.T) {
	const session, sandbox = "codesess_4cf3926c7813", "sbx_50445cf9266fbb2f74d0"
	bound := `2026-04-04T01:00:00Z [INFO] [hub] session ` + session + ` bound to sandbox ` + sandbox
	_, r := lines(t, nil, bound, bound, `INFO moved `+session+` from sbx_1111 to sbx_2222`, `{"level":"info","msg":"waking","sessionId":"codesess_aaaa","sandboxId":"sbx_bbbb"}`)
	if len(r.Reports) != 2 || len(r.Events) != 0 {
		t.Fatalf("%d events, %+v", len(r.Events), r.Reports)
	}
	for i, want := range [][2]string{{session, sandbox}, {"codesess_aaaa", "sbx_bbbb"}} {
		if x := r.Reports[i]; x.Kind != backend.ReportJoin || x.Session.Raw() != want[0] || x.Sandbox.Raw() != want[1] || x.Kind.Suspicious() {
			t.Errorf("%+v", x)
		}
	}
	_, r = lines(t, nil, `[ERROR] [hub] `+session+`: failed to send USR1 reconnect nudge (initial): APIErrorResponse: Internal Server Error { sessionId: 'sess_9a3e3d8a03fbeecf1d40d668e9f823f3', status: 500 }`)
	if len(r.Reports) != 1 || r.Reports[0].Session.Raw() != session || len(r.Events) != 1 || !strings.Contains(r.Events[0].Text.String(), "session "+session) || strings.Contains(r.Events[0].Text.String(), "sess_9a3e") {
		t.Errorf("%+v %+v", r.Reports, r.Events)
	}
}

// TestManyLinesOfAHub: a fleet that is bound in one poll does not hide what fails in it, and of many failures the newest are told.
func TestManyLinesOfAHub(t *testing.T) {
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("[INFO] session codesess_%04d bound to sandbox sbx_%04d", i, i))
	}
	for i := range maxReports + 100 {
		all = append(all, fmt.Sprintf("[ERROR] codesess_%04d: failed to send USR1 reconnect nudge: 500", i))
	}
	_, r := lines(t, nil, all...)
	joins, failed := 0, map[string]bool{}
	for _, x := range r.Reports {
		if x.Kind == backend.ReportJoin {
			joins++
		} else {
			failed[x.Session.Raw()] = true
		}
	}
	if joins != 300 || len(failed) != maxReports || !failed[fmt.Sprintf("codesess_%04d", maxReports+99)] {
		t.Errorf("%d joins, %d failures", joins, len(failed))
	}
}
