package runbook

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestStoredReferencesAreReadFromTheState asks diagnosis 6 of a State that a refs source contributed to.
func TestStoredReferencesAreReadFromTheState(t *testing.T) {
	st := world{workspaces: []*backend.Workspace{failed("s1", "box", "ref schemaVersion 4 is outside the supported range 1-3")}}.state()
	ref := func(session string, version int) *backend.Ref {
		return &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "helix-eu", Parent: backend.MustID(session), ID: backend.MustID("box")}),
			Session: backend.MustID(session), SchemaVersion: backend.Known(version)}
	}
	st.Refs = fleet.NewTable(ref("s1", 4), ref("s2", 3))
	d := Diagnose("6", st, nil, wsKey("s1", "box"))
	want(t, d, map[string]Mark{"versions": Confirmed, "stored": Confirmed})
	if d := Diagnose("6", st, nil, st.Refs.At(1).Key); d.Mark("schema") == Confirmed || d.Mark("stored") != Confirmed {
		t.Errorf("asked about the reference of s2, it speaks of s1: %s", d.Conclusion)
	}
	if d.Release.AtLeast < 4 {
		t.Errorf("the release is taken for one before round 4: %+v", d.Release)
	}
}

// TestCountedLinesNameTheAgentsMemory asks diagnosis 3 where the event of the line is not in the timeline any more.
func TestCountedLinesNameTheAgentsMemory(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: []backend.Count{{
		Series: backend.Series{Source: "app-log", Name: backend.MetricAgentOOM, Session: backend.MustID("s1")}, At: before(20 * time.Minute), N: 3, Sample: backend.Text("isolate exceeded its memory limit"),
	}}}
	want(t, w.diagnose("3", sessionKey("s1")), map[string]Mark{"agent-oom": Confirmed})
}
