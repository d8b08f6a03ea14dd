package logs

import (
	"testing"

	"sandglass/backend"
)

// TestHubLinesInAnyForm: what the Hub writes is known after a level tag, with and without its own tag, as logfmt and in JSON.
func TestHubLinesInAnyForm(t *testing.T) {
	const session, sandbox = "codesess_4cf3926c7813", "sbx_50445cf9266fbb2f74d00156ac64409324c3953a4360c19debdc4b5a4d8d"
	says := map[string]backend.ReportKind{
		"failed to send USR1 reconnect nudge to " + session + ": 500": backend.ReportNudgeFailed,
		"Failed to send USR1 reconnect nudge for session " + session:  backend.ReportNudgeFailed,
		"driver for " + session + " still has not reconnected":        backend.ReportNotReconnected,
		"Controller rejected for unknown session " + session:          backend.ReportUnknownSession,
		"Sandbox driver did not connect within 120000ms: " + session:  backend.ReportDriverTimeout,
		"rpc-driver process not found in " + sandbox:                  backend.ReportDriverNotFound,
		"409 " + sandbox + " is suspended but has no checkpoint data": backend.ReportNoCheckpoint,
		"Waiting for driver of " + session:                            backend.ReportDriverWaiting,
	}
	for text, kind := range says {
		for _, before := range []string{"", "[ERROR] ", "[WARN] [hub] ", "ERROR: ", "warn: [Hub] ", "[hub] ", "[coder-hub] ", "2026-04-04T01:05:00.123Z [WARN] [hub] ", "2026-04-04 01:05:00 ERROR hub: ",
			"Apr  4 01:05:00 host hub[12]: ", "\x1b[33mWARN\x1b[0m ", "time=2026-04-04T01:05:00Z level=WARN msg=\"", `{"level":"warn","time":"2026-04-04T01:05:00Z","msg":"`,
			`{"level":40,"msg":"[hub] `, `{"severity":"ERROR","message":"`, `{"level":"error","msg":"wake failed","err":{"message":"`,
			`{"level":"error","msg":"wake failed","error":{"message":"`, `{"level":"error","msg":"wake failed","err":"`} {
			line := before + text
			switch {
			case before != "" && before[len(before)-1] == '"' && before[0] == 't':
				line += `"`
			case len(before) > 0 && before[0] == '{':
				line += `"}`
				if before[len(before)-12:] == `{"message":"` && before[2:10] == `level":"` {
					line += "}"
				}
			}
			_, r := lines(t, nil, line)
			if len(r.Reports) != 1 || r.Reports[0].Kind != kind || r.Reports[0].Session.IsZero() && r.Reports[0].Sandbox.IsZero() {
				t.Errorf("%+v of %s", r.Reports, line)
			}
		}
	}
}

// TestInfoOfAHubIsNoFailure: what a hub tells as information, or below, is neither a failure nor on the Timeline, whatever its
// words are. It still joins the session and the sandbox that it names, and a hub may wait at any level.
func TestInfoOfAHubIsNoFailure(t *testing.T) {
	const session, sandbox = "codesess_4cf3926c7813", "sbx_50445cf9266fbb2f74d00156ac64409324c3953a4360c19debdc4b5a4d8d"
	heads := map[string]string{"[INFO] ": "", "2026-04-04T01:05:00Z info: [hub] ": "", "DEBUG ": "", `{"level":30,"msg":"`: `"}`, `{"level":"debug","message":"[hub] `: `"}`, "level=notice msg=\"": `"`}
	for _, text := range []string{"failed to send USR1 reconnect nudge (initial): 500", "driver still has not reconnected after 5000ms", "Controller rejected for unknown session",
		"Sandbox driver did not connect within 120000ms", "rpc-driver process not found", "it is suspended but has no checkpoint data", "Failed to resume sandbox: 409"} {
		for head, tail := range heads {
			line := head + session + " " + sandbox + ": " + text + tail
			_, r := lines(t, nil, line)
			if len(r.Reports) != 1 || r.Reports[0].Kind != backend.ReportJoin || r.Reports[0].Session.Raw() != session || r.Reports[0].Sandbox.Raw() != sandbox || len(r.Events) != 0 {
				t.Errorf("%+v and %d events of %s", r.Reports, len(r.Events), line)
			}
		}
	}
	for head, tail := range heads {
		line := head + session + " is waiting for driver" + tail
		if _, r := lines(t, nil, line); len(r.Reports) != 1 || r.Reports[0].Kind != backend.ReportDriverWaiting || len(r.Events) != 1 {
			t.Errorf("%+v and %d events of %s", r.Reports, len(r.Events), line)
		}
	}
}
