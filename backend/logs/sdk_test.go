package logs

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// sampleOf is the sample of the one count of a metric.
func sampleOf(r backend.Reading, m backend.Metric, session string) string {
	for _, c := range r.Counts {
		if c.Series.Name == m && c.Series.Session.Raw() == session && c.N > 0 {
			return c.Sample.String()
		}
	}
	return ""
}

// TestErrorsOfAnAgentSDKInEachForm: as attributes, as the mapping that is the first argument, in a stack, and in plain text of several
// lines. An error counts once, as what it is: a save, a restore, a terminal, else evidence.
func TestErrorsOfAnAgentSDKInEachForm(t *testing.T) {
	const head = `{"level":"error","message":"stop failed","session_id":"s1",`
	plain := func(of string, more ...string) []string { return append([]string{of}, more...) }
	dated := `2026-01-01T11:59:50Z ERROR agents.sandbox stop failed session_id=s1`
	persist := []string{"Traceback (most recent call last):", `  File "blaxel/sandbox.py", line 700, in persist_workspace`, "    raise WorkspaceArchiveReadError(",
		"agents.sandbox.errors.ExecTimeoutError: command timed out", "", "The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):",
		`  File "session.py", line 90, in stop`, `  File "blaxel/sandbox.py", line 731, in persist_workspace`, "agents.sandbox.errors.WorkspaceArchiveReadError: failed to read archive for path: /workspace"}
	for _, c := range []struct {
		name, sample string
		metric       backend.Metric
		lines        []string
	}{
		{"a frame in err.stack", "WorkspaceArchiveReadError: failed to read archive for path: /workspace (phase: cannot tell)", backend.MetricPersistFailed,
			[]string{head + `"err":{"type":"WorkspaceArchiveReadError","message":"failed to read archive for path: /workspace","stack":"Traceback:\n  File \"sandbox.py\", line 7, in persist_workspace\nWorkspaceArchiveReadError: failed to read archive for path: /workspace"}}`}},
		{"a frame in exception", "WorkspaceArchiveWriteError: failed to write archive for path: /workspace (phase: cannot tell)", backend.MetricHydrateFailed,
			[]string{head + `"exception":"Traceback (most recent call last):\n  File \"sandbox.py\", line 7, in hydrate_workspace\nagents.sandbox.errors.WorkspaceArchiveWriteError: failed to write archive for path: /workspace"}`}},
		{"a frame in exc_info", "WorkspaceArchiveReadError: failed (phase: detach)", backend.MetricPersistFailed,
			[]string{head + `"exc_info":"Traceback (most recent call last):\n  in persist_workspace\n  in teardown_for_snapshot\nWorkspaceArchiveReadError: failed"}`}},
		{"frames in parts", "WorkspaceArchiveReadError", backend.MetricPersistFailed,
			[]string{head + `"exception":[{"exc_type":"WorkspaceArchiveReadError","exc_value":"failed","frames":[{"filename":"s.py","lineno":7,"name":"persist_workspace"}]}]}`}},
		{"a wait that ended in a chain", "WorkspaceArchiveReadError: failed to read archive for path: /workspace, after TimeoutError (phase: cannot tell)", backend.MetricPersistFailed,
			[]string{head + `"exception":"Traceback (most recent call last):\n  File \"sandbox.py\", line 7, in persist_workspace\nTimeoutError\n\nThe above exception was the direct cause of the following exception:\n\nagents.sandbox.errors.WorkspaceArchiveReadError: failed to read archive for path: /workspace"}`}},
		{"no bytes in a traceback", "WorkspaceWriteTypeError: payload must be bytes (phase: no bytes)", backend.MetricHydrateFailed,
			plain(dated, "Traceback (most recent call last):", `  File "blaxel/sandbox.py", line 9, in hydrate_workspace`, "agents.sandbox.errors.WorkspaceWriteTypeError: payload must be bytes")},
		{"the first argument of a save", "tar: ./a: Cannot open (phase: tar)", backend.MetricPersistFailed,
			[]string{head + `"error":{"type":"WorkspaceArchiveReadError","args":[{"path":"/workspace","reason":"tar_failed","output":"tar: ./a: Cannot open"}]}}`}},
		{"the first argument as a text", "tar: ./a: Cannot open (phase: tar)", backend.MetricPersistFailed,
			[]string{head + `"error":{"type":"WorkspaceArchiveReadError","args":["{'reason': 'tar_failed', 'output': 'tar: ./a: Cannot open'}"]}}`}},
		{"the first argument in the text of an error", "tar: Unexpected EOF (phase: unpack)", backend.MetricHydrateFailed,
			[]string{head + `"error":"WorkspaceArchiveWriteError({'path': '/workspace', 'reason': 'tar_extract_failed', 'output': 'tar: Unexpected EOF'})"}`}},
		{"an attribute of the error", "unsafe", backend.MetricHydrateFailed, []string{head + `"error":{"type":"WorkspaceArchiveWriteError","message":"failed to write archive","reason":"unsafe_or_invalid_tar"}}`}},
		{"a traceback in plain text", "WorkspaceArchiveReadError: failed to read archive for path: /workspace, after ExecTimeoutError (phase: cannot tell)", backend.MetricPersistFailed, plain(dated, persist...)},
		{"a traceback whose snapshot is given up", "failed to persist snapshot", backend.MetricPersistFailed,
			plain(dated, append(persist, "", "During handling of the above exception, another exception occurred:", "", "Traceback (most recent call last):", "agents.sandbox.errors.SnapshotPersistError: failed to persist snapshot")...)},
		{"a traceback in a log without times", "WorkspaceArchiveReadError: failed to read archive for path: /workspace, after ExecTimeoutError (phase: cannot tell)", backend.MetricPersistFailed,
			plain("ERROR:agents.sandbox:stop failed session_id=s1", append(persist, "INFO:agents:done")...)},
		{"the mapping in plain text", "tar: Unexpected EOF (phase: unpack)", backend.MetricHydrateFailed,
			plain(dated, "Traceback (most recent call last):", `  File "blaxel/sandbox.py", line 9, in start`, "WorkspaceArchiveWriteError: {'path': '/workspace', 'reason': 'tar_extract_failed', 'output': 'tar: Unexpected EOF'}")},
		{"the class before its frame", "WorkspaceArchiveReadError: failed to read archive for path: /workspace, after ExecTimeoutError (phase: cannot tell)", backend.MetricPersistFailed,
			plain("2026-01-01T11:59:50Z ERROR agents WorkspaceArchiveReadError: failed session_id=s1", persist...)},
		{"no bytes to restore", "(phase: no bytes)", backend.MetricHydrateFailed,
			[]string{head + `"error":{"type":"WorkspaceWriteTypeError","message":"write() expects a binary file-like object","context":{"path":"/tmp/bl-hydrate-0a1b.tar","actual_type":"str"}}}`}},
		{"a terminal", "it did not start: ExecTimeoutError: command timed out", backend.MetricPTYFailed,
			plain(dated, "Traceback (most recent call last):", `  File "sandbox.py", line 7, in pty_exec_start`, "TimeoutError", "", "The above exception was the direct cause of the following exception:", "",
				"Traceback (most recent call last):", `  File "sandbox.py", line 9, in pty_exec_start`, "agents.sandbox.errors.ExecTimeoutError: command timed out")},

		{"a terminal that is not known any more", "PTY session not found: 4242", backend.MetricPTYUnknown,
			plain(dated, "Traceback (most recent call last):", `  File "sandbox.py", line 7, in pty_write_stdin`, "agents.sandbox.errors.PtySessionNotFoundError: PTY session not found: 4242")},
		{"… in an exception", "PTY session not found: 4242", backend.MetricPTYUnknown,
			[]string{head + `"exception":"Traceback (most recent call last):\n  in pty_write_stdin\nPtySessionNotFoundError: PTY session not found: 4242"}`}},
		{"a message with its time", "ExecTimeoutError, timeout 300.0 s", backend.MetricSDKExec, []string{head + `"err":{"name":"ExecTimeoutError","message":"command timed out after 300.0s"}}`}},
		{"a command that was given up", "ExecTimeoutError, timeout 300.0 s", backend.MetricSDKExec, []string{head + `"error":{"type":"ExecTimeoutError","message":"command timed out","context":{"command":["npm","test"],"timeout_s":300.0}}}`}},
		{"… that the SDK made of 0", "ExecTimeoutError, timeout 0.001 s", backend.MetricSDKExec, []string{head + `"error":{"type":"ExecTimeoutError","context":{"timeout_s":0.001}}}`}},
		{"… as the first argument", "ExecTimeoutError, timeout 0 s", backend.MetricSDKExec, []string{head + `"error":{"name":"ExecTimeoutError","args":[{"timeout_s":0}]}}`}},
		{"… in plain text", "ExecTransportError, HTTP 504", backend.MetricSDKExec,
			plain(dated, "Traceback (most recent call last):", `  File "sandbox.py", line 7, in _exec_internal`, "agents.sandbox.errors.ExecTransportError: Blaxel exec failed: HTTP 504: <html>")},
		{"… with the platform's code", "ExecTransportError, HTTP 404, WORKLOAD_UNAVAILABLE, not answering yet", backend.MetricSDKExec,
			[]string{head + `"error":{"code":"exec_transport_error","context":{"backend":"blaxel","provider_error_code":"WORKLOAD_UNAVAILABLE","http_status":404}}}`}},
		{"a wait that ended inside", "ExecTransportError, timeout 300 s, HTTP 422, the process goes on", backend.MetricSDKExec,
			[]string{head + `"err":{"name":"ExecTransportError","context":{"http_status":422,"body":"process timed out after 300 seconds"}}}`}},
		{"… in a chained traceback", "ExecTransportError, timeout 300 s, HTTP 422, the process goes on", backend.MetricSDKExec,
			plain(dated, "Traceback (most recent call last):", `blaxel.core.sandbox.types.ResponseError: {"status":422,"error":"process timed out after 300 seconds"}`, "",
				"The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):", `  File "sandbox.py", line 9, in _exec_internal`, "agents.sandbox.errors.ExecTransportError: exec transport error")},
		{"a sandbox that wakes", "ExecTransportError, HTTP 404, not answering yet", backend.MetricSDKExec,
			[]string{head + `"err":{"name":"ExecTransportError","context":{"http_status":404,"code":"WORKLOAD_UNAVAILABLE","retryable":true}}}`}},
		{"a sandbox that is gone", "ExecTransportError, HTTP 404, no such sandbox", backend.MetricSDKExec,
			[]string{head + `"err":{"name":"ExecTransportError","context":{"http_status":404,"cause":{"error":{"code":"WORKLOAD_NOT_FOUND"}}}}}`}},
		{"a full disk", "ExecTransportError, HTTP 422, disk full", backend.MetricSDKExec,
			[]string{head + `"err":{"name":"ExecTransportError","message":"write: no space left on device","context":{"http_status":422}}}`}},
		{"… that only another answer names", "ExecTransportError, HTTP 500", backend.MetricSDKExec,
			[]string{head + `"err":{"name":"ExecTransportError","message":"write: no space left on device","context":{"http_status":500}}}`}},
		{"a permission", "HTTP 422, permission denied", backend.MetricSDKFiles,
			[]string{head + `"err":{"name":"WorkspaceArchiveWriteError","context":{"path":"/workspace/a.txt","http_status":422,"output":"open /workspace/a.txt: permission denied"}}}`}},
		{"a file that was not there", "WorkspaceReadNotFoundError, path /workspace/a.txt", backend.MetricSDKMissing, []string{head + `"error":{"type":"WorkspaceReadNotFoundError","message":"file not found: /workspace/a.txt"}}`}},
		{"a read outside of a snapshot", "WorkspaceArchiveReadError, path /workspace/a.txt", backend.MetricSDKFiles, []string{head + `"error":{"type":"WorkspaceArchiveReadError","context":{"path":"/workspace/a.txt"}}}`}},
		{"a directory", "WorkspaceArchiveWriteError, path /workspace/d, reason mkdir_failed", backend.MetricSDKFiles, []string{head + `"error":{"type":"WorkspaceArchiveWriteError","context":{"path":"/workspace/d","reason":"mkdir_failed"}}}`}},
		{"a root that was not made", "Workspace root mkdir failed; retrying during materialization: TimeoutError", backend.MetricSDKNotice, []string{`{"level":"debug","session_id":"s1","msg":"Workspace root mkdir failed; retrying during materialization: TimeoutError"}`}},
		{"an extra that is missing", "the extra blaxel of the OpenAI Agents SDK is not installed where the agent runs: pip install 'openai-agents[blaxel]'", backend.MetricPackageMissing, []string{head + `"error":{"type":"ImportError","message":"BlaxelSandboxClient requires the optional ` + "`blaxel`" + ` dependency.\nInstall the Blaxel extra before using this sandbox backend."}}`}},
		{"a check of access", "WorkspaceArchiveWriteError, path /workspace/a, access check failed", backend.MetricSDKFiles, []string{
			head + `"error":{"type":"WorkspaceArchiveWriteError","message":"failed to write archive for path: /workspace/a","context":{"path":"/workspace/a","command":["sh","-lc","<write_access_check>","/workspace/a"],"stdout":"","stderr":""}}}`}},
		{"… of a read", "WorkspaceReadNotFoundError, path /workspace/a, access check failed", backend.MetricSDKMissing, []string{
			head + `"error":{"type":"WorkspaceReadNotFoundError","message":"file not found: /workspace/a","context":{"command":["sh","-lc","<read_access_check>","/workspace/a"]}}}`}},
		{"… in plain text", "WorkspaceArchiveWriteError, path /workspace/a, access check failed", backend.MetricSDKFiles, []string{
			`2026-01-01T11:59:50Z ERROR agents session_id=s1 WorkspaceArchiveWriteError: {'path': '/workspace/a', 'command': ['sh', '-lc', '<rm_access_check>', '/workspace/a']}`}},
		{"permission denied in stderr", "WorkspaceArchiveWriteError, path /workspace/a, permission denied", backend.MetricSDKFiles, []string{
			head + `"error":{"type":"WorkspaceArchiveWriteError","message":"failed to write archive for path: /workspace/a","context":{"command":["sudo"],"stderr":"sh: /workspace/a: Permission denied"}}}`}},
		{"other words in stderr", "WorkspaceArchiveWriteError, path /workspace/a", backend.MetricSDKFiles, []string{
			head + `"error":{"type":"WorkspaceArchiveWriteError","message":"failed to write archive for path: /workspace/a","context":{"stderr":"process timed out"}}}`}},
		{"permission_denied", "WorkspaceArchiveWriteError, path /workspace/a, reason permission_denied, permission denied", backend.MetricSDKFiles, []string{
			head + `"error":{"type":"WorkspaceArchiveWriteError","message":"failed to write archive for path: /workspace/a","context":{"reason":"permission_denied"}}}`}},
		{"permission denied in provider_error", "ExecTransportError, HTTP 422, permission denied", backend.MetricSDKExec, []string{
			head + `"error":{"type":"ExecTransportError","message":"Blaxel exec failed: x","context":{"provider_error":"HTTP 422: touch: Permission denied","http_status":422}}}`}},
		{"… in exc_info", "the extra blaxel of the OpenAI Agents SDK is not installed where the agent runs: pip install 'openai-agents[blaxel]'", backend.MetricPackageMissing, []string{
			head + `"exc_info":"Traceback (most recent call last):\n  File \"s.py\", line 1, in _import_blaxel_sdk\nModuleNotFoundError: No module named 'blaxel'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\nImportError: BlaxelSandboxClient requires the optional ` + "`blaxel`" + ` dependency.\nInstall the Blaxel extra before using this sandbox backend."}`}},
		{"… its module alone, in exc_info", "the extra blaxel of the OpenAI Agents SDK is not installed where the agent runs: pip install 'openai-agents[blaxel]'", backend.MetricPackageMissing, []string{
			head + `"exc_info":"Traceback (most recent call last):\nModuleNotFoundError: No module named 'blaxel'"}`}},
		{"… in a chained traceback", "the extra blaxel of the OpenAI Agents SDK is not installed where the agent runs: pip install 'openai-agents[blaxel]'", backend.MetricPackageMissing, []string{
			"2026-01-01T12:00:00Z ERROR agents session_id=s1 start failed", "Traceback (most recent call last):", `  File "sandbox.py", line 190, in _import_blaxel_sdk`, "ModuleNotFoundError: No module named 'blaxel'", "",
			"The above exception was the direct cause of the following exception:", "", "Traceback (most recent call last):", "ImportError: BlaxelSandboxClient requires the optional `blaxel` dependency.", "Install the Blaxel extra before using this sandbox backend."}},
		{"no bytes to write", "WorkspaceWriteTypeError, path /workspace/a, type int", backend.MetricSDKFiles, []string{head + `"error":{"type":"WorkspaceWriteTypeError","context":{"path":"/workspace/a","actual_type":"int"}}}`}},
	} {
		_, r := lines(t, nil, c.lines...)
		all := 0.0
		for _, m := range []backend.Metric{backend.MetricPersistFailed, backend.MetricHydrateFailed, backend.MetricPTYFailed, backend.MetricPTYUnknown, backend.MetricSDKExec, backend.MetricSDKFiles, backend.MetricSDKMissing, backend.MetricSDKNotice, backend.MetricPackageMissing} {
			all += total(r.Counts, m, "*")
		}
		if n := total(r.Counts, backend.MetricErrorLines, "*"); n != 0 && (c.metric == backend.MetricPersistFailed || c.metric == backend.MetricHydrateFailed || c.metric == backend.MetricPTYFailed) {
			t.Errorf("%s: %v other error lines: the line before a traceback is a part of it", c.name, n)
		}
		if n := total(r.Counts, c.metric, "s1"); n != 1 || all != 1 {
			t.Errorf("%s: %v of %s, %v in all", c.name, n, c.metric, all)
		}
		if got := sampleOf(r, c.metric, "s1"); !strings.Contains(got, c.sample) || c.sample == "ExecTransportError, HTTP 500" && got != c.sample {
			t.Errorf("%s: the sample is %q, want %q", c.name, got, c.sample)
		}
	}
}

// TestWordsAreNoErrorsOfAnAgentSDK: what agents and tools write is none, nor is a level below warning.
func TestWordsAreNoErrorsOfAnAgentSDK(t *testing.T) {
	if _, r := lines(t, nil, `{"level":"error","message":"stop failed","session_id":"s1","error":{"type":"WorkspaceArchiveReadError","context":{"output":"tar: no room","path":"/workspace","reason":"tar_failed"}}}`); sampleOf(r, backend.MetricPersistFailed, "s1") != "tar: no room (phase: tar)" {
		t.Errorf("what tar says is not all: %q", sampleOf(r, backend.MetricPersistFailed, "s1"))
	}
	_, r := lines(t, nil,
		`{"level":"info","message":"done","session_id":"s1","error":{"type":"ExecTimeoutError"}}`,
		`{"level":"error","message":"tool failed","session_id":"s1","output":"ExecTimeoutError in persist_workspace","args":["WorkspaceArchiveReadError in persist_workspace"]}`,
		`2026-01-01T11:59:50Z DEBUG agents Persist cleanup failed (non-fatal) session_id=s1`, "Traceback (most recent call last):", `  File "s.py", line 7, in persist_workspace`, "ExecTimeoutError: command timed out",
		`2026-01-01T11:59:50Z ERROR agents tool output: WorkspaceReadNotFoundError session_id=s1`)
	for _, m := range []backend.Metric{backend.MetricPersistFailed, backend.MetricHydrateFailed, backend.MetricSDKExec, backend.MetricSDKFiles, backend.MetricSDKMissing} {
		if n := total(r.Counts, m, "*"); n != 0 {
			t.Errorf("%v of %s", n, m)
		}
	}
}

// TestACommandForWhichAnAgentWaitsNoMore: an error of a command names it, in the forms in which loggers write it, without its environment.
func TestACommandForWhichAnAgentWaitsNoMore(t *testing.T) {
	const head = `{"time":"2026-01-01T12:00:00Z","level":"error","msg":"exec failed","session_id":"s1",`
	for name, c := range map[string]struct{ line, want string }{
		"a list":                 {head + `"err":{"name":"ExecTimeoutError","message":"command timed out","context":{"command":["env","A=SECRET b","python","train.py"],"timeout_s":300}}}`, "python train.py"},
		"a text":                 {head + `"err":{"name":"ExecTransportError","context":{"command":"env API_KEY=SECRET python build.py","http_status":504}}}`, "python build.py"},
		"the first argument":     {head + `"error":"ExecTimeoutError({'command': ['sh', '-lc', 'make test'], 'timeout_s': 300})"}`, "sh -lc make test"},
		"in plain text":          {"2026-01-01T12:00:00Z ERROR agents.sandbox session_id=s1 ExecTimeoutError: command timed out {'command': ('npm', 'test'), 'timeout_s': 300}", "npm test"},
		"a line that names none": {head + `"err":{"name":"ExecTimeoutError","message":"command timed out"}}`, ""},
	} {
		_, r := lines(t, nil, c.line)
		got := ""
		for _, x := range r.Reports {
			if x.Kind == backend.ReportCommandLost {
				got += x.Command.String()
			}
			if strings.Contains(x.Command.String()+x.Text.String(), "SECRET") {
				t.Errorf("%s: %s, %s", name, x.Command, x.Text)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
