package runbook

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// refOf is a stored reference to a sandbox; without a version it has none.
func refOf(session, sandbox string, version int) Ref {
	r := Ref{Session: backend.MustID(session), Workspace: backend.MustID("box"), Resource: backend.MustID(sandbox), Source: "helix-eu", SchemaVersion: backend.NotApplicable[int]()}
	if version > 0 {
		r.SchemaVersion = backend.Known(version)
	}
	return r
}

// TestAProofHoldsForItsSession: two sessions name one sandbox, and one reference was written before round 4.
func TestAProofHoldsForItsSession(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box"), healthy("s2", "box")}, sessions: []*backend.Session{session("s1", true), session("s2", true)},
		refs: []Ref{refOf("s1", "b0", 2), refOf("s2", "b0", 0)}}
	d := w.diagnose("8", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"before-4": CannotTell, "assertion": RuledOut, "shared-id": Confirmed})
	if fact := factOf(t, d, "before-4"); !strings.Contains(fact, "session s2 carries no schemaVersion, so a release before round 4 wrote it") {
		t.Error(fact)
	}
	if fact := factOf(t, d, "assertion"); !strings.Contains(fact, "2 workspaces") {
		t.Error(fact)
	}
	w.refs[1] = refOf("s2", "b0", 2)
	want(t, w.diagnose("8", wsKey("s1", "box")), map[string]Mark{"before-4": RuledOut})
	w.workspaces = w.workspaces[:1]
	want(t, w.diagnose("8", wsKey("s1", "box")), map[string]Mark{"assertion": CannotTell})
}

// TestABranchOfANewRelease names its parent's sandbox for another reason than the release.
func TestABranchOfANewRelease(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("par", "box"), healthy("kid", "box")}, refs: []Ref{refOf("par", "bx", 2), refOf("kid", "bx", 2)},
		sessions: []*backend.Session{session("par", true), session("kid", true, func(x *backend.Session) { x.BranchedFrom = backend.MustID("par") })}}
	for _, page := range []string{"2", "8"} {
		d := w.diagnose(page, wsKey("kid", "box"))
		want(t, d, map[string]Mark{"branch-shares": Confirmed})
		if fact := factOf(t, d, "branch-shares"); strings.Contains(fact, "before round 4") || anyHas(d.Do, "pgrade to round 4") {
			t.Errorf("page %s: %s %v", page, fact, d.Do)
		}
	}
	if d := w.diagnose("2", wsKey("kid", "box")); d.Ending != EndShared {
		t.Error(d.Ending)
	}
	for _, x := range w.workspaces {
		x.LastAttemptAt, x.LastSuccessAt = notTold(), notTold()
	}
	w.refs = []Ref{refOf("par", "bx", 0), refOf("kid", "bx", 0)}
	d := w.diagnose("2", wsKey("kid", "box"))
	if !strings.Contains(factOf(t, d, "branch-shares"), "before round 4") || !anyHas(d.Do, "Upgrade to round 4 or later if") {
		t.Errorf("%s %v", factOf(t, d, "branch-shares"), d.Do)
	}
	want(t, w.diagnose("8", wsKey("kid", "box")), map[string]Mark{"before-4": CannotTell})
}
