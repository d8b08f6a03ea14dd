package logs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sandglass/backend"
)

// TestWhatAgentsTakeTheirSandboxesFor: a line that says whether a sandbox runs is a report about it, of which the newest of a poll stays;
// a number or a line without a session or sandbox says nothing. A command that ran after it gives the sandbox back.
func TestWhatAgentsTakeTheirSandboxesFor(t *testing.T) {
	const about = `"session_id":"s1","sandbox_name":"agents-0a1b2c3d4e5f"`
	for name, c := range map[string]struct {
		lines []string
		want  []string
	}{
		"it runs":                 {[]string{`{"msg":"waiting",` + about + `,"running":true}`}, []string{"agent-runs s1 agents-0a1b2c3d4e5f waiting"}},
		"it does not":             {[]string{`{"msg":"given up",` + about + `,"running":false}`}, []string{"agent-down s1 agents-0a1b2c3d4e5f given up"}},
		"the newest counts":       {[]string{`{"msg":"a",` + about + `,"running":false}`, `{"msg":"b",` + about + `,"running":true}`}, []string{"agent-runs s1 agents-0a1b2c3d4e5f b"}},
		"the check of the SDK":    {[]string{`{"level":"debug","message":"Sandbox health check failed: TimeoutError",` + about + `}`}, []string{"check-failed s1 agents-0a1b2c3d4e5f Sandbox health check failed: TimeoutError"}},
		"a session alone":         {[]string{`{"msg":"a","session_id":"s1","running":false}`}, []string{"agent-down s1  a"}},
		"its session ended":       {[]string{`{"msg":"a",` + about + `,"running":true}`, `{"msg":"session ended",` + about + `,"running":false}`}, []string{"agent-done s1 agents-0a1b2c3d4e5f session ended"}},
		"… by its name":           {[]string{`{"msg":"Session s1 was closed",` + about + `}`}, []string{"agent-done s1 agents-0a1b2c3d4e5f Session s1 was closed"}},
		"… and not its sandbox":   {[]string{`{"level":"warning","msg":"Sandbox delete failed during shutdown",` + about + `}`}, []string{"agent-done s1 agents-0a1b2c3d4e5f Sandbox delete failed during shutdown"}},
		"a terminal ended":        {[]string{`{"msg":"PTY session closed",` + about + `}`}, nil},
		"it did not end":          {[]string{`{"msg":"session not closed",` + about + `}`}, nil},
		"a tool says so":          {[]string{`{"msg":"tool done","output":"session ended",` + about + `}`}, nil},
		"a count":                 {[]string{`{"msg":"a",` + about + `,"running":3}`}, nil},
		"of nothing":              {[]string{`{"msg":"a","running":true}`}, nil},
		"of something in it":      {[]string{`{"msg":"a",` + about + `,"job":{"running":false}}`}, nil},
		"a command ran again":     {[]string{`{"msg":"a",` + about + `,"running":false}`, `{"msg":"command done","command":"npm test","exitCode":0,` + about + `}`}, []string{"agent-runs s1 agents-0a1b2c3d4e5f command done"}},
		"a command ran all along": {[]string{`{"msg":"command done","command":"npm test","exitCode":0,` + about + `}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			at := make([]string, len(c.lines))
			for i, l := range c.lines {
				at[i] = fmt.Sprintf(`{"time":"2026-01-01T12:00:%02dZ",`, i) + l[1:]
			}
			_, r := lines(t, nil, at...)
			var got []string
			for _, x := range r.Reports {
				got = append(got, fmt.Sprintf("%s %s %s %s", x.Kind, x.Session.Raw(), x.Sandbox.Raw(), x.Text))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestOneBeliefIsKeptOfEachSubject: agents say it again and again, which crowds nothing out.
func TestOneBeliefIsKeptOfEachSubject(t *testing.T) {
	var kept []backend.Report
	at := backend.Report{Session: backend.MustID("s")}
	for i := range 10 {
		at.At, at.Kind = time.Date(2026, 1, 1, 12, 0, i, 0, time.UTC), backend.ReportAgentRuns
		kept = backend.KeepReports(kept, []backend.Report{at, {At: at.At, Kind: backend.ReportNudgeFailed, Session: at.Session}}, at.At)
	}
	beliefs := slices.DeleteFunc(slices.Clone(kept), func(r backend.Report) bool { return !r.Kind.Belief() })
	if len(kept) != 11 || len(beliefs) != 1 || !beliefs[0].At.Equal(at.At) {
		t.Errorf("%d kept, beliefs %v", len(kept), beliefs)
	}
}
