package subjects

import (
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/kit"
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
	st := (&fleet.State{Refs: fleet.NewTable(ref), Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "states"}}}}).WithSandboxes(fleet.NewTable[backend.Sandbox]())
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

// TestWhatSharesASandboxIsOnItsPage: each session that names it, and the alerts about their workspaces; and it is on the page of each.
func TestWhatSharesASandboxIsOnItsPage(t *testing.T) {
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("shara")}}, IsSandbox: true, Name: backend.Text("shara"), Reported: backend.Text("running"), Class: backend.SandboxRunning, Provider: backend.Text("cloudflare")}
	key := func(session string) backend.Key {
		return backend.Key{Kind: backend.KindWorkspace, Source: "hx", Parent: backend.MustID(session), ID: backend.MustID("box")}
	}
	named := func(session, id string) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: key(session)}, WorkspaceFacts: backend.WorkspaceFacts{Provider: backend.Text("cloudflare-sandbox"), ProviderID: backend.MustID(id)}}
	}
	first := named("s-a", "shara")
	ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID("s-b"), ID: backend.MustID("box")}},
		Session: backend.MustID("s-b"), Sandbox: box.Key.ID, Provider: backend.Text("cloudflare-sandbox")}
	source := func(id string) *fleet.SourceHealth {
		return &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}}
	}
	st := (&fleet.State{Workspaces: fleet.NewTable(first, named("s-c", "other")), Refs: fleet.NewTable(ref),
		Sources: []*fleet.SourceHealth{source("cf"), source("hx"), source("refs")}}).WithSandboxes(fleet.NewTable(box))
	near := JoinedTo(box.Key, st)
	if !near[first.Key] || !near[ref.Key] || !near[key("s-b")] || near[key("s-c")] {
		t.Errorf("%v", near)
	}
	f := frameWith()
	f.Snapshot.State = st
	for k, c := range map[backend.Key]struct {
		draw func(*writer)
		want []string
	}{
		box.Key:   {func(w *writer) { w.joinedSession(box) }, []string{"s-a", "s-b", "2 sessions share it"}},
		first.Key: {func(w *writer) { w.workspace(first) }, []string{"shara  + running"}},
	} {
		w := &writer{Doc: &kit.Doc{}, f: f}
		c.draw(w)
		page, want := strings.Join(w.Doc.Layout(f.Theme, 200), "\n"), c.want
		if strings.Contains(page, "none is joined to it") {
			t.Errorf("%s: %s", k.Safe(), page)
		}
		for _, text := range want {
			if !strings.Contains(page, text) {
				t.Errorf("%s: no %q in: %s", k.Safe(), text, page)
			}
		}
	}
}
