package fleet

import (
	"testing"

	"sandglass/backend"
)

// TestTheKindOfAnAgentsFailure is that of a probe which had the same answer; a file that is not there or another's is neither.
func TestTheKindOfAnAgentsFailure(t *testing.T) {
	for answer, want := range map[backend.SDKAnswer]backend.FailureKind{backend.AnswerUsage: backend.FailUsageLimit, backend.AnswerAccess: "", backend.AnswerKey: "",
		backend.AnswerDenied: backend.FailUnauthorised, backend.AnswerFull: backend.FailNoSpace, backend.AnswerGone: backend.FailGone, backend.AnswerGoesOn: backend.FailExecTimeout} {
		if got := (&State{}).execKind(&backend.Sandbox{}, backend.Clean("WorkspaceArchiveWriteError"+answer.Sign(), 200)); got != want {
			t.Errorf("%s: %q, want %q", answer, got, want)
		}
	}
}
