package backend

import "testing"

// TestAnswersOfAnAgentsPlatform: the words tell no more than they prove, and what is written behind a text is read again.
func TestAnswersOfAnAgentsPlatform(t *testing.T) {
	for _, c := range []struct {
		text   string
		status int
		want   SDKAnswer
	}{
		{"process timed out after 300 seconds", 422, AnswerGoesOn}, {"process timed out after 300 seconds", 0, AnswerGoesOn}, {"process timed out", 504, ""},
		{"no space left on device", 422, AnswerFull}, {"no space left on device", 500, ""}, {"no space left on device", 0, ""},
		{`{"code":"WORKLOAD_UNAVAILABLE"}`, 404, AnswerWaking}, {"WORKLOAD_NOT_FOUND", 404, AnswerGone}, {"Permission denied", 0, AnswerDenied}, {"reason: permission_denied", 0, AnswerDenied}, {"<rm_access_check>", 0, AnswerAccess}, {"<rm_access_check>: Permission denied", 0, AnswerDenied}, {"", 401, AnswerKey}, {"", 403, ""}, {"", 402, AnswerUsage}, {"code USAGE_LIMIT_EXCEEDED", 0, AnswerUsage}, {"", 429, ""},
		{"could not execute command 'ls' because folder '/workspace' does not exist", 422, AnswerNoDir}, {"because folder '/workspace' does not exist", 0, AnswerNoDir}, {"folder 'x' does not exist", 404, ""},
	} {
		got := AnswerIn(c.text, c.status)
		if got != c.want {
			t.Errorf("%s %d: %q, want %q", c.text, c.status, got, c.want)
		}
		if signed := SignedAnswer(Clean("ExecTransportError"+got.Sign(), 100)); signed != got || got != "" && got.Means().IsEmpty() {
			t.Errorf("%q is read as %q, which means %q", got, signed, got.Means())
		}
	}
}

// TestATimeoutIsToldWithItsOrigin: to the second, and whether the state says it.
func TestATimeoutIsToldWithItsOrigin(t *testing.T) {
	saved := &AgentState{Timeouts: []AgentTimeout{{Name: Text(AgentExec), Seconds: 77, Default: 300, Saved: true}}}
	for _, c := range []struct {
		state *AgentState
		want  string
	}{{saved, "77 s, by its saved state"}, {&AgentState{}, "300 s, the default"}, {nil, "300 s, the default, as no saved state is known"}} {
		if got := c.state.Waits(AgentExec).String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
