package runbook

import (
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestTheWorkingDirectoryIsACurrentValue: the page of a contradiction tells the directory that its sandbox declares.
func TestTheWorkingDirectoryIsACurrentValue(t *testing.T) {
	b := &backend.Sandbox{Name: backend.Text("b"), WorkDir: backend.Text("/work")}
	s := &subjectView{sandboxes: []*backend.Sandbox{b}}
	if got := s.current("WORKDIR"); got.String() != "/work" {
		t.Errorf("WORKDIR is %s", got)
	}
	s.sandboxes = []*backend.Sandbox{{Name: backend.Text("c")}}
	if got := s.current("WORKDIR"); got.String() != NotDeclared {
		t.Errorf("WORKDIR is %s", got)
	}
}

// TestOneProcessTellsNothingOfADirectory: a main process that goes on rules out that it is frozen, and nothing else.
func TestOneProcessTellsNothingOfADirectory(t *testing.T) {
	b := (&backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "dk", ID: backend.MustID("b")}}, Name: backend.Text("b")}).WithObserved([]backend.Verdict{{Plane: backend.PlaneDriver, Outcome: backend.OutcomeOK}})
	s := &subjectView{Case: Case{State: &fleet.State{Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "dk"}, Status: fleet.StatusOK}}}}, sandboxes: []*backend.Sandbox{b}}
	if c := s.frozenProcess(); c.Mark == CannotTell {
		t.Errorf("frozen: %+v", c)
	}
	for _, c := range []Check{s.unlinkedMount(), s.danglingLink(), s.lockedDir(), s.occupied()} {
		if c.Mark != CannotTell {
			t.Errorf("%+v", c)
		}
	}
}
