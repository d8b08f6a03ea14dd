package runbook

import (
	"strings"
	"testing"

	"sandglass/backend"
)

func given(id string, share backend.Value[bool]) func(*backend.Workspace) {
	return func(w *backend.Workspace) { w.ProviderID, w.ShareAcrossSessions = backend.MustID(id), share }
}

// TestPage8ListsExplicitIDsWithTheirFlag: also with one user; the defaults, which hold the session's id, not. Advice goes by
// the flag.
func TestPage8ListsExplicitIDsWithTheirFlag(t *testing.T) {
	none := backend.Unknown[bool]()
	for _, c := range []struct {
		name  string
		edit  func(*backend.Workspace)
		mark  Mark
		fact  string
		do    string
		other string // advice that does not fit
	}{
		{"unset", given("team-box", backend.Known(false)), Confirmed, "sandbox team-box (shareAcrossSessions unset)", "Remove the id, or set shareAcrossSessions. It is not set for team-box", "threat model"},
		{"undeclared", given("team-box", none), Confirmed, "sandbox team-box (shareAcrossSessions not declared)", "Remove the id, or set shareAcrossSessions.", "threat model"},
		{"set", given("team-box", backend.Known(true)), Confirmed, "sandbox team-box (shareAcrossSessions set)", "Review the threat model of the sessions that share. The flag shareAcrossSessions is set for team-box", "Remove the id"},
		{"default", given("sbx-s1", none), RuledOut, "default of its session", "", "Remove the id"},
		{"namespace", func(w *backend.Workspace) { w.Namespace = backend.MustID("shared-files") }, Confirmed, "namespace shared-files (no flag exists)", "Keep shared-files only", "Remove the id"},
		{"inherited", func(w *backend.Workspace) { w.InheritWorkspaces = backend.Known(true) }, CannotTell, "not read", "narrow admin tools only", "Remove the id"},
		{"nothing read", nil, CannotTell, "not read", "", "Remove the id"},
	} {
		w := healthy("s1", "box")
		if c.edit != nil {
			c.edit(w)
		}
		d := world{sessions: []*backend.Session{session("s1", true)}, workspaces: []*backend.Workspace{w}}.diagnose("8", wsKey("s1", "box"))
		want(t, d, map[string]Mark{"explicit": c.mark})
		if fact := factOf(t, d, "explicit"); !strings.Contains(fact, c.fact) {
			t.Errorf("%s: %s", c.name, fact)
		}
		if !anyHas(d.Do, c.do) || anyHas(d.Do, c.other) {
			t.Errorf("%s: %v", c.name, d.Do)
		}
	}
}

func TestPage8RecognisesTheAssertionOfRound4(t *testing.T) {
	text := "WorkspaceFailedError: cloudflare-sandbox: id 'box' requires shareAcrossSessions: true"
	d := world{workspaces: []*backend.Workspace{failed("s1", "box", text)}}.diagnose("8", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"assertion": Confirmed})
	if !anyHas(d.Do, "Remove the id, or set shareAcrossSessions") {
		t.Error(d.Do)
	}
	want(t, world{workspaces: []*backend.Workspace{healthy("s1", "box")}}.diagnose("8", wsKey("s1", "box")), map[string]Mark{"assertion": RuledOut})
	want(t, world{}.diagnose("8", wsKey("s1", "box")), map[string]Mark{"assertion": CannotTell})
}

func TestPage8SeesAContainerLabelledForAnotherSession(t *testing.T) {
	for session, mark := range map[string]Mark{"s2": Confirmed, "s1": RuledOut, "": CannotTell} {
		w := world{sandboxes: []*backend.Sandbox{box("b", session)}, saved: []*backend.Ref{savedRef("s1", backend.Known(4), func(r *backend.Ref) { r.Sandbox = backend.MustID("b") })}}
		d := w.diagnose("8", sessionKey("s1"))
		want(t, d, map[string]Mark{"label": mark})
		if mark == Confirmed && !strings.Contains(factOf(t, d, "label"), "labelled for session s2, and the reference of session s1 names it") {
			t.Error(factOf(t, d, "label"))
		}
	}
}
