package actions

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestAFailureOfOneRouteDoesNotBlameThePlatform: what else works in the new sandbox is named, and a run that went no further says
// no more than that.
func TestAFailureOfOneRouteDoesNotBlameThePlatform(t *testing.T) {
	step := func(name string, r StepResult) Step { return Step{Name: backend.Clean(name, 40), Result: r} }
	suspect := &backend.Sandbox{Name: backend.Text("p-bad")}
	for want, c := range map[string]struct {
		suspect *backend.Sandbox
		steps   []Step
	}{
		"the platform fails at write, in a new sandbox too; what else fails in p-bad is its own": {suspect,
			[]Step{step("live", StepOK), step("write", StepFailed), step("exec", StepOK), step("read", StepNotTried), step("destroy", StepOK)}},
		"the platform fails at write, list; the rest of it works": {nil, []Step{step("write", StepFailed), step("exec", StepOK), step("list", StepFailed), step("pause", StepOK)}},
		"the platform itself fails: it is not only p-bad":         {suspect, []Step{step("live", StepOK), step("pause", StepFailed), step("resume", StepNotTried), step("destroy", StepOK)}},
	} {
		l := &Line{Result: ResultFailed, Done: Done{Steps: c.steps}}
		if got := Compared(l, c.suspect, time.Now()).String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
