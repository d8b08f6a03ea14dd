package logs

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestAnArchiveThatFailedIsOfItsKind: the reason in the context of an archive error says whether a save or a restore failed, and
// tar's own words are its cause. An archive error without such a reason is none of both, and a chained traceback counts once.
func TestAnArchiveThatFailedIsOfItsKind(t *testing.T) {
	const read, write = `{"level":"error","message":"stop failed","session_id":"s1","error":{"type":"WorkspaceArchiveReadError","message":"failed to read archive for path: /workspace","context":`,
		`{"level":"error","message":"start failed","session_id":"s1","error":{"type":"WorkspaceArchiveWriteError","message":"failed to write archive for path: /workspace","context":`
	for _, c := range []struct {
		name, cause       string
		persists, hydrate float64
		lines             []string
	}{
		{"tar could not save", "tar: ./a: Cannot open", 1, 0, []string{read + `{"path":"/workspace","reason":"tar_failed","output":"tar: ./a: Cannot open"}}}`}},
		{"a logger that sorts the members", "tar: ./a: Cannot open", 1, 0, []string{read + `{"output":"tar: ./a: Cannot open","path":"/workspace","reason":"tar_failed"}}}`}},
		{"tar could not restore", "tar: Unexpected EOF", 0, 1, []string{write + `{"path":"/workspace","reason":"tar_extract_failed","output":"tar: Unexpected EOF"}}}`}},
		{"an unsafe archive", "absolute path", 0, 1, []string{write + `{"path":"/workspace","reason":"unsafe_or_invalid_tar","member":"/etc/x","detail":"absolute path"}}}`}},
		{"a file of the workspace", "", 0, 0, []string{read + `{"path":"/workspace/a.txt"}}}`, write + `{"path":"/workspace/d","reason":"mkdir_failed"}}}`}},
		{"mounts that were not detached or attached", "", 0, 0, []string{read + `{"path":"/workspace","reason":"unmount_failed"}}}`, read + `{"path":"/workspace","reason":"remount_failed"}}}`}},
		{"a chained traceback", "tar: ./a: Cannot open", 1, 0, []string{
			`2026-01-01T11:59:50Z ERROR agents.sandbox stop failed session_id=s1 {'path': '/workspace', 'reason': 'tar_failed', 'output': 'tar: ./a: Cannot open'}`,
			"Traceback (most recent call last):", `  File "blaxel/sandbox.py", line 700, in persist_workspace`,
			"agents.sandbox.errors.WorkspaceArchiveReadError: failed to read archive for path: /workspace",
			"", "The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):",
			"agents.sandbox.errors.WorkspaceArchiveReadError: failed to read archive for path: /workspace"}},
	} {
		_, r := lines(t, nil, c.lines...)
		if p, h := total(r.Counts, backend.MetricPersistFailed, "s1"), total(r.Counts, backend.MetricHydrateFailed, "s1"); p != c.persists || h != c.hydrate {
			t.Errorf("%s: %v saves and %v restores failed", c.name, p, h)
		}
		if c.cause == "" {
			if len(r.Events) > 0 {
				t.Errorf("%s: an event: %s", c.name, r.Events[0].Text)
			}
		} else if len(r.Events) != 1 || !strings.Contains(r.Events[0].Text.String(), c.cause) {
			t.Errorf("%s: events %v, want one with %q", c.name, r.Events, c.cause)
		}
	}
	if got := string(newDecoder("auto", defaults().Fields, time.UTC).decode([]byte(`{"level":"error","message":"m","error":{"message":"e","context":{"reason":"other","output":"x"}}}`)).errText); strings.Contains(got, "other") {
		t.Errorf("the reason of another error is a part of it: %s", got)
	}
}

// TestAPreviewThatFailedIsOfItsKind: the kind is the cause, and a chained traceback counts once.
func TestAPreviewThatFailedIsOfItsKind(t *testing.T) {
	for _, kind := range previewDetails {
		_, r := lines(t, nil,
			`2026-01-01T11:59:50Z ERROR agents.sandbox exposed port unavailable session_id=s1 {'port': 3000, 'exposed_ports': (8081,), 'backend': 'blaxel', 'detail': '`+kind+`'}`,
			"Traceback (most recent call last):", "agents.sandbox.errors.ExposedPortUnavailableError: exposed port unavailable",
			"", "The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):",
			"agents.sandbox.errors.ExposedPortUnavailableError: exposed port unavailable")
		if n := total(r.Counts, backend.MetricPreviewFailed, "s1"); n != 1 || len(r.Events) != 1 || !strings.Contains(r.Events[0].Text.String(), kind) {
			t.Errorf("%s: %v lines, events %v", kind, n, r.Events)
		}
		for _, other := range previewDetails {
			if n := total(r.Counts, backend.PreviewFailedBy(other), "s1"); (n == 1) != (other == kind) {
				t.Errorf("%s: %v lines of %s", kind, n, other)
			}
		}
	}
}

// TestAPreviewThatFailedNamesItsPort: which port was asked for and which are exposed, from a line whose message does not say it.
func TestAPreviewThatFailedNamesItsPort(t *testing.T) {
	for context, want := range map[string]string{
		`{"port":3000,"exposed_ports":[8081,9000],"backend":"blaxel","detail":"invalid_preview_url"}`: "port 3000: exposed ports 8081 9000: detail: invalid_preview_url",
		`{"detail":"url_parse_failed","port":3000,"exposed_ports":[]}`:                                "detail: url_parse_failed: port 3000: exposed ports none",
		`{"port":"3000; rm","exposed_ports":["x"],"detail":"url_parse_failed"}`:                       "detail: url_parse_failed",
		`{"port":70000,"exposed_ports":null,"detail":"url_parse_failed"}`:                             "detail: url_parse_failed",
	} {
		_, r := lines(t, nil, `{"level":"error","message":"run failed","session_id":"s1","error":{"type":"ExposedPortUnavailableError","message":"exposed port unavailable","context":`+context+`}}`)
		if n := total(r.Counts, backend.MetricPreviewFailed, "s1"); n != 1 || len(r.Events) != 1 || !strings.Contains(r.Events[0].Text.String(), want) || strings.Contains(r.Events[0].Text.String(), "rm") {
			t.Errorf("%s: %v lines, events %v, want %q", context, n, r.Events, want)
		}
	}
	if got := string(newDecoder("auto", defaults().Fields, time.UTC).decode([]byte(`{"level":"error","message":"m","error":{"message":"e","context":{"port":3000,"reason":"tar_failed"}}}`)).errText); strings.Contains(got, "3000") {
		t.Errorf("the port of another error is a part of it: %s", got)
	}
}

// TestTerminalsOfAnAgent: the number of open ones is the sample, and a chained traceback, in which both parts have the same frame,
// counts once.
func TestTerminalsOfAnAgent(t *testing.T) {
	traceback := []string{"Traceback (most recent call last):", `  File "sandbox.py", line 712, in pty_exec_start`, "    ws = await asyncio.wait_for(", "TimeoutError", "",
		"The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):",
		`  File "sandbox.py", line 741, in pty_exec_start`, "agents.sandbox.errors.ExecTimeoutError: command timed out"}
	var all []string
	for range 2 {
		all = append(all, "2026-01-01T11:59:50Z ERROR agents.sandbox tool failed session_id=s1")
		all = append(all, traceback...)
	}
	all = append(all, `{"level":"error","message":"tool failed","session_id":"s1","exception":"Traceback (most recent call last):\n  in pty_write_stdin\nTimeoutError: no room","time":"2026-01-01T11:59:50Z"}`,
		`2026-01-01T11:59:50Z WARNING agents PTY process count reached warning threshold: 61 active sessions session_id=s1`)
	_, r := lines(t, nil, all...)
	if n := total(r.Counts, backend.MetricPTYFailed, "s1"); n != 3 {
		t.Errorf("%v failures of terminals", n)
	}
	for _, c := range r.Counts {
		switch {
		case c.Series.Name == backend.MetricPTYCount && c.N > 0 && c.Sample.String() != "61 active":
			t.Errorf("count %s", c.Sample)
		case c.Series.Name == backend.MetricPTYFailed && c.Series.Session.Raw() == "s1" && c.N > 0 && !strings.HasSuffix(c.Sample.String(), "it took no input: TimeoutError: no room") &&
			!strings.HasSuffix(c.Sample.String(), "it did not start: ExecTimeoutError: command timed out"):
			t.Errorf("failure %s", c.Sample)
		}
	}
	if n := total(r.Counts, backend.MetricPTYCount, "s1"); n != 1 {
		t.Errorf("%v counts", n)
	}
}

// TestTheSampleOfASnapshotTellsItsPhase: the reason, the frame or the members of the context do; what comes last hides the rest.
func TestTheSampleOfASnapshotTellsItsPhase(t *testing.T) {
	const read = `{"level":"error","message":"stop failed","session_id":"s1","error":{"type":"WorkspaceArchiveReadError","message":"failed to read archive for path: /workspace","context":`
	for line, want := range map[string]backend.SnapshotPhase{
		read + `{"reason":"tar_failed","output":"tar: ./a: Cannot open"}}}`:                                                                                                                       backend.PhaseTar,
		`{"level":"error","message":"start failed","session_id":"s1","error":{"message":"x","context":{"reason":"tar_extract_failed","output":"tar: Unexpected EOF"}}}`:                           backend.PhaseUnpack,
		`{"level":"error","message":"start failed","session_id":"s1","error":{"message":"x","context":{"reason":"unsafe_or_invalid_tar","detail":"absolute path"}}}`:                              backend.PhaseRefused,
		`{"level":"error","message":"SnapshotPersistError: x","session_id":"s1","exception":"File \"mounts.py\", line 3, in teardown_for_snapshot"}`:                                              backend.PhaseDetach,
		`{"level":"error","message":"failed to persist snapshot","session_id":"s1","exception":"reason: tar_failed; File \"mounts.py\", line 3, in restore_after_snapshot"}`:                      backend.PhaseReattach,
		`{"version":1,"session_id":"s1","seq":9,"op":"persist_workspace","phase":"finish","ok":false,"error_code":"workspace_archive_read_error","error_message":"failed to read archive for x"}`: backend.PhaseUntold,
		`{"level":"error","message":"failed to persist snapshot: disk quota exceeded","session_id":"s1"}`:                                                                                         "",
	} {
		_, r := lines(t, nil, line)
		found := 0
		for _, c := range r.Counts {
			if (c.Series.Name == backend.MetricPersistFailed || c.Series.Name == backend.MetricHydrateFailed) && c.N > 0 {
				if found++; backend.SignedPhase(c.Sample) != want {
					t.Errorf("%s: %q, want %q", line, c.Sample, want)
				}
			}
		}
		if found != 1 {
			t.Errorf("%s: %d counts", line, found)
		}
	}
	_, r := lines(t, nil, `{"version":1,"session_id":"s1","seq":9,"op":"persist_workspace","phase":"finish","ok":true}`)
	if n := total(r.Counts, backend.MetricPersistDone, "s1"); n != 1 {
		t.Errorf("%v saves went well", n)
	}
}

// TestATerminalThatEndedWithoutAResult: neither an exit code nor a process; the tokens say that its output was cut.
func TestATerminalThatEndedWithoutAResult(t *testing.T) {
	const head = `{"level":"info","message":"exec_command result","session_id":"s1",`
	const cut = backend.TerminalEnded + ", output cut: it had 9000 tokens"
	for line, want := range map[string]string{
		head + `"exit_code": null, "process_id": null, "original_token_count": 9000}`:                                                           cut,
		head + `"update":{"process_id":null,"exit_code":null,"original_token_count":9000}}`:                                                     cut,
		head + `"update":{"exit_code":null,"original_token_count":null}}`:                                                                       backend.TerminalEnded,
		`2026-01-01T11:59:50Z INFO agents PtyExecUpdate(process_id=None, output=b'x', exit_code=None, original_token_count=9000) session_id=s1`: cut,
		head + `"exit_code": 0, "process_id": null, "original_token_count": 9000}`:                                                              "",
		head + `"exit_code": null, "process_id": 1001, "original_token_count": 9000}`:                                                           "",
		head + `"output":"{\"exit_code\": null, \"original_token_count\": 9000}"}`:                                                              "",
	} {
		_, r := lines(t, nil, line)
		if got := sampleOf(r, backend.MetricSDKNotice, "s1"); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
