package runbook

import (
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestAJobIsLookedAtWithItsSession.
func TestAJobIsLookedAtWithItsSession(t *testing.T) {
	key := func(kind backend.Kind, parent, id string) backend.Key {
		return backend.Key{Kind: kind, Source: "h", Parent: backend.MustID(parent), ID: backend.MustID(id)}
	}
	ref, run, job := key(backend.KindRef, "s1", "box"), key(backend.KindExecution, "b1", "exe_1"), key(backend.KindJob, "s1", "job_1")
	st := &fleet.State{
		Refs:       fleet.NewTable(&backend.Ref{Meta: backend.Meta{Key: ref}}),
		Executions: fleet.NewTable(&backend.Execution{Meta: backend.Meta{Key: run}, Work: backend.Work{Within: backend.KindSandbox}}),
		Jobs:       fleet.NewTable(&backend.Job{Meta: backend.Meta{Key: job}, Work: backend.Work{Within: backend.KindSession}}),
	}
	if v := newSubjectView(Case{State: st, Subject: job}); v.sessionID.Raw() != "s1" || v.home != "h" {
		t.Errorf("a job is looked at with session %q of %q", v.sessionID.Raw(), v.home)
	}
}
