package cli

import (
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// An own id that two things have is no answer: the command names both and asks for the whole id.
func TestSubjectOfAnAmbiguousID(t *testing.T) {
	run := func(parent, id string) *backend.Execution {
		return &backend.Execution{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindExecution, Source: "h", Parent: backend.MustID(parent), ID: backend.MustID(id)}}}
	}
	st := &fleet.State{Executions: fleet.NewTable(run("s1", "e1"), run("s1", "e2"), run("s2", "e1"))}
	if k, err := subjectOf(&reading{state: st}, backend.MustID("e2")); err != nil || k != run("s1", "e2").Key {
		t.Errorf("a unique id is %v, %v", k, err)
	}
	if k, err := subjectOf(&reading{state: st}, backend.MustID("s2/e1")); err != nil || k != run("s2", "e1").Key {
		t.Errorf("a whole id is %v, %v", k, err)
	}
	want := "2 things have the id or name e1: execution s1/e1 on h; execution s2/e1 on h. Give the whole id of one."
	if _, err := subjectOf(&reading{state: st}, backend.MustID("e1")); err == nil || err.Error() != want {
		t.Errorf("an id of two executions: %v", err)
	}
}
