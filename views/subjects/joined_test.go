package subjects

import (
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestTheSessionOfAnAgentsSandbox: alerts about the session, or about the saved state that names the sandbox, are on its page, also where
// its platform does not list it any more. A container of an engine alone has no such session.
func TestTheSessionOfAnAgentsSandbox(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID("agents-0a1b2c3d4e5f")}
	ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "states", Parent: backend.MustID("s"), ID: backend.MustID("coder")}},
		Session: backend.MustID("s"), Sandbox: box.ID, Agent: &backend.AgentState{}, Provider: backend.Text("blaxel")}
	session := backend.Key{Kind: backend.KindSession, Source: "agents-log", ID: ref.Session}
	for name, c := range map[string]struct {
		provider backend.Literal
		listed   bool
		refs     []*backend.Ref
		joined   bool
	}{
		"listed":           {"blaxel", true, []*backend.Ref{ref}, true},
		"gone":             {"blaxel", false, []*backend.Ref{ref}, true},
		"without a state":  {"blaxel", true, nil, false},
		"another platform": {"docker", true, nil, false},
	} {
		st := &fleet.State{Refs: fleet.NewTable(c.refs...), Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "agents-log"}}}}
		boxes := fleet.NewTable[backend.Sandbox]()
		if c.listed {
			boxes = fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}, Name: backend.Text("agents-0a1b2c3d4e5f"), Provider: backend.Text(c.provider)})
		}
		near := JoinedTo(box, st.WithSandboxes(boxes))
		if near[session] != c.joined || near[ref.Key] != c.joined {
			t.Errorf("%s: %v", name, near)
		}
	}
}

// TestTheReferencesOfASession: an alert about a saved reference is on the pages of its session and of its workspace, and on no other's.
func TestTheReferencesOfASession(t *testing.T) {
	session := backend.MustID("s")
	ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "states", Parent: session, ID: backend.MustID("coder")}},
		Session: session, Workspace: backend.MustID("coder")}
	st := (&fleet.State{Refs: fleet.NewTable(ref)}).WithSandboxes(fleet.NewTable[backend.Sandbox]())
	for key, want := range map[backend.Key]bool{
		{Kind: backend.KindSession, Source: "agents", ID: session}:                                       true,
		{Kind: backend.KindSession, Source: "agents", ID: backend.MustID("s2")}:                          false,
		{Kind: backend.KindWorkspace, Source: "agents", Parent: session, ID: backend.MustID("coder")}:    true,
		{Kind: backend.KindWorkspace, Source: "agents", Parent: session, ID: backend.MustID("reviewer")}: false,
	} {
		if got := JoinedTo(key, st)[ref.Key]; got != want {
			t.Errorf("%s: joined %t", key, got)
		}
	}
}
