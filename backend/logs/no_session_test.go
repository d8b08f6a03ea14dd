package logs

import (
	"slices"
	"testing"
	"time"

	"sandglass/backend"
)

// TestALineWithoutASessionJoinsItsSandbox: a command that ran in no session names its sandbox by sandboxId alone. Another one that ran without a session
// ends it, and one of a session of that sandbox tells nothing of it.
func TestALineWithoutASessionJoinsItsSandbox(t *testing.T) {
	t.Parallel()
	const bad = `{"level":"error","msg":"tool failed","sandboxId":"demo","err":{"message":"Failed to execute command 'npm test' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'"}}`
	for line, sandbox := range map[string]string{
		bad: "demo",
		`{"level":"error","message":"Unknown Error, TODO","sandbox_id":"demo"}`:                                                                                                            "demo",
		`2026-01-01T12:00:00Z ERROR sandboxId=sandbox-x Failed to execute command 'ls' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'`:               "sandbox-x",
		`2026-01-01T12:00:00Z ERROR in sandbox: Failed to execute command 'ls' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'`:                       "",
		`{"level":30,"msg":"tool done","sandboxId":"demo","output":"Failed to execute command 'ls' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'"}`: "",
	} {
		_, r := lines(t, nil, line)
		if len(r.Reports) != min(len(sandbox), 1) || len(r.Events) != len(r.Reports) {
			t.Errorf("%s: %+v", line, r.Reports)
		} else if sandbox != "" && (r.Reports[0].Kind != backend.ReportNotStarted || r.Reports[0].Sandbox.Raw() != sandbox || !r.Reports[0].Session.IsZero()) {
			t.Errorf("%s: %+v", line, r.Reports[0])
		}
	}
	for ran, ends := range map[string]bool{
		`{"level":"info","msg":"command done","sandboxId":"demo","command":"ls","exitCode":0}`:                            true,
		`{"level":"info","msg":"command done","sandboxId":"other","command":"ls","exitCode":0}`:                           false,
		`{"level":"info","msg":"command done","sandboxId":"demo","sessionId":"sandbox-demo","command":"ls","exitCode":0}`: false,
		`{"level":"info","msg":"command done","sandboxId":"demo","command":"ls","cwd":"/tmp","exitCode":0}`:               false,
	} {
		opts := defaults()
		a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
		a.begin(0, time.Second)
		for i, l := range []string{bad, ran} {
			at := t0.Add(time.Duration(i) * time.Second)
			a.line([]byte(l), len(l)+1, time.Time{}, &placement{lo: at, hi: at}, &lineage{})
		}
		var r backend.Reading
		a.finish(&r, t0.Add(time.Minute))
		if is := slices.ContainsFunc(r.Reports, func(x backend.Report) bool {
			return x.Kind == backend.ReportCommandRan && x.Sandbox.Raw() == "demo" && x.Session.IsZero()
		}); is != ends || (len(a.commands.bookmarks(t0.Add(time.Minute))) == 0) != ends {
			t.Errorf("%s: ends it %v: %+v", ran, is, r.Reports)
		}
	}
}
