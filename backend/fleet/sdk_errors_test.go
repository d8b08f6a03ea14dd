package fleet

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestAnErrorOfAnAddressIsToldByItsKind: in words, each in its own; another text is not explained.
func TestAnErrorOfAnAddressIsToldByItsKind(t *testing.T) {
	for kind, want := range map[string]string{"preview_creation_failed": "did not make the address", "invalid_preview_url": "no address of use", "preview_token_creation_failed": "no token was made",
		"url_parse_failed": "cannot be read", "other": ""} {
		got := sdkMeans(backend.MetricPreviewFailed, backend.Clean("port 3000: detail: "+kind, 200), nil).String()
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}

// TestARefusedFileCallIsExplainedByItsOwner: in place of what is told of calls that hang.
func TestARefusedFileCallIsExplainedByItsOwner(t *testing.T) {
	const hangs, final = "; its calls about files have no deadline", "the agent saw it as final"
	for text, want := range map[string]string{
		"WorkspaceArchiveWriteError, path /workspace/a":                               final + hangs,
		"WorkspaceArchiveWriteError, path /workspace/a" + backend.AnswerDenied.Sign(): "another user of the sandbox may not use it: what the SDK's API writes belongs to root; " + final,
		"WorkspaceArchiveWriteError, path /workspace/a" + backend.AnswerAccess.Sign(): "it is not there, or another user of the sandbox may not use it: what the SDK's API writes belongs to root; " + final,
		"WorkspaceArchiveWriteError" + backend.AnswerFull.Sign():                      "the disk of the sandbox is full; " + final + hangs,
	} {
		if got := sdkMeans(backend.MetricSDKFiles, backend.Clean(text, 200), nil).String(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestAnErrorOfATerminalTellsItsLimit: which of the SDK's limits ended that step, its value and where that is from; an error that is no
// timeout, and a kind of sandbox without such limits, have none.
func TestAnErrorOfATerminalTellsItsLimit(t *testing.T) {
	saved := &backend.AgentState{Timeouts: backend.AgentTimeouts()}
	saved.Timeouts[0].Seconds, saved.Timeouts[0].Saved = 120, true
	for _, c := range []struct {
		text  string
		state *backend.AgentState
		want  string
	}{
		{"it did not start: TimeoutError", saved, "its connection may take exec_timeout_s (120 s, by its saved state) unless the call gave another time, sending its command fast_op_s (30 s, the default); commands"},
		{"it did not start: ExecTimeoutError: command timed out", nil, "exec_timeout_s (300 s, the default, as no saved state is known)"},
		{"it took no input: TimeoutError", saved, "sending its input may take fast_op_s (30 s, the default); commands"},
		{"it took no input: ConnectionResetError", saved, ""},
		{"it did not start: TimeoutError", &backend.AgentState{}, ""},
	} {
		got := sdkMeans(backend.MetricPTYFailed, backend.Clean("a terminal of an agent could not be used: "+c.text, 200), c.state).String()
		if !strings.Contains(got, c.want) || !strings.Contains(got, "commands without a terminal do not depend on it") || c.want == "" && strings.Contains(got, "may take") {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
}
