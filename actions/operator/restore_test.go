package operator

import (
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const restoring = "name = \"restore\"\nof = \"workspace\"\neffect = \"brings it back\"\nverify = \"ref == planned\"\n" +
	"url = \"http://127.0.0.1:1/{session}/{workspace}/restore\"\nbody = '{\"ref\": \"{ref}\"}'\n"

// stored adds the stored reference of s-1/box to a State.
func stored(s *fleet.State, sandbox string) *fleet.State {
	s.Refs = fleet.NewTable(&backend.Ref{Meta: backend.Meta{ReadAt: s.Wall, Key: backend.Key{Kind: backend.KindRef, Source: "refs", ID: backend.MustID("s-1.json")}},
		Session: backend.MustID("s-1"), Workspace: backend.MustID("box"), Sandbox: backend.MustID(sandbox)})
	return s
}

// TestARestoreIsVerifiedByTheReferenceOfThePlan and by nothing else.
func TestARestoreIsVerifiedByTheReferenceOfThePlan(t *testing.T) {
	v, err := verb(t, restoring)
	if err != nil {
		t.Fatal(err)
	}
	p := v.Part(deps(), printed)
	plan := func(s *fleet.State) actions.Candidate {
		return p.Targets.Look(t.Context(), actions.Question{Keys: []backend.Key{workspaceKey("s-1", "box")}, State: s, Now: noon})[0]
	}
	if c := plan(world(1, workspace(0, nil))); !strings.Contains(c.Why.String(), "no stored reference") {
		t.Errorf("without a reference: %q", c.Why)
	}
	c := plan(stored(world(1, workspace(0, nil)), "sbx-1"))
	if !c.Why.IsEmpty() {
		t.Fatal(c.Why)
	}
	back := func(sandbox string) *backend.Workspace {
		return workspace(30, func(w *backend.Workspace) {
			w.Class, w.Reported, w.LastError = backend.ClassHealthy, backend.Text("open"), backend.Safe{}
			w.LastAttemptAt, w.LastSuccessAt = backend.Known(at(20)), backend.Known(at(20))
			if sandbox != "" {
				w.ProviderID = backend.MustID(sandbox)
			}
		})
	}
	for _, x := range []struct {
		what string
		s    *fleet.State
		want actions.Result
		why  string
	}{
		{"the planned one", stored(world(31, back("sbx-1")), "sbx-1"), actions.ResultVerified, "on sbx-1, which the plan named"},
		{"another sandbox", stored(world(31, back("sbx-2")), "sbx-1"), actions.ResultFailed, "it runs on sbx-2; the plan named sbx-1"},
		{"another reference", stored(world(31, back("sbx-1")), "sbx-2"), actions.ResultFailed, "its stored reference names sbx-2; the plan named sbx-1"},
		{"no sandbox told", stored(world(31, back("")), "sbx-1"), actions.ResultAccepted, "does not say on which sandbox"},
		{"nothing succeeded yet", stored(world(31, workspace(30, nil)), "sbx-1"), actions.ResultAccepted, "not tried again"},
	} {
		if got := p.Verifier.Verify(target(c), at(5), x.s); got.Result != x.want || !strings.Contains(got.Why.String(), x.why) {
			t.Errorf("%s: %s (%s), want %s", x.what, got.Result, got.Why, x.want)
		}
	}
	if _, err := verb(t, strings.Replace(restoring, "\"workspace\"", "\"session\"", 1)); err == nil {
		t.Error("a session has no reference")
	}
}
