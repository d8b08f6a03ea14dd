package runbook

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestStatesOfAnAgentSDKAreCountedApart: a range of schema versions says nothing about a state that carries none by design, and
// does about one for which the configuration names a version.
func TestStatesOfAnAgentSDKAreCountedApart(t *testing.T) {
	ref := func(id string, version backend.Value[int], agent *backend.AgentState) *backend.Ref {
		return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID(id), ID: backend.MustID("workspace")}},
			Session: backend.MustID(id), SchemaVersion: version, Agent: agent}
	}
	st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
		{Source: "store", Reading: &backend.Reading{Source: "store", Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}, Refs: []*backend.Ref{
			ref("s1", backend.NotApplicable[int](), &backend.AgentState{}), ref("s2", backend.Known(1), &backend.AgentState{}), ref("s3", backend.NotApplicable[int](), nil), ref("s4", backend.Known(3), nil)}}}},
		backend.Instant{Wall: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)})
	got := CheckRollback(st, 2, 4, nil)
	if got.AgentStates != 1 || got.Refs != 3 || got.Unversioned != 1 || len(got.Refused) != 1 || got.Refused[0].Session.Raw() != "s2" {
		t.Errorf("%+v", got)
	}
}
