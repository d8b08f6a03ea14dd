package runbook

import (
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestSubjectOfEveryKind: references, executions and jobs are found by their path, and work also by its own id.
func TestSubjectOfEveryKind(t *testing.T) {
	key := func(kind backend.Kind, parent, id string) backend.Key {
		return backend.Key{Kind: kind, Source: "h", Parent: backend.MustID(parent), ID: backend.MustID(id)}
	}
	ref, run, job := key(backend.KindRef, "s1", "box"), key(backend.KindExecution, "b1", "exe_1"), key(backend.KindJob, "s1", "job_1")
	st := &fleet.State{
		Refs:       fleet.NewTable(&backend.Ref{Meta: backend.Meta{Key: ref}}),
		Executions: fleet.NewTable(&backend.Execution{Meta: backend.Meta{Key: run}, Work: backend.Work{Within: backend.KindSandbox}}),
		Jobs:       fleet.NewTable(&backend.Job{Meta: backend.Meta{Key: job}, Work: backend.Work{Within: backend.KindSession}}),
	}
	for text, want := range map[string]backend.Key{"s1/box": ref, "b1/exe_1": run, "exe_1": run, "s1/job_1": job, "job_1": job,
		"else": {Kind: backend.KindSession, ID: backend.MustID("else")}} {
		if got := SubjectsOf(st, nil, backend.MustID(text)); len(got) != 1 || got[0] != want {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	if v := newSubjectView(Case{State: st, Subject: job}); v.sessionID.Raw() != "s1" || v.home != "h" {
		t.Errorf("a job is looked at with session %q of %q", v.sessionID.Raw(), v.home)
	}
}
