package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

func TestSharing(t *testing.T) {
	ws := func(session, id string, edit func(*backend.Workspace)) *backend.Workspace {
		w := &backend.Workspace{WorkspaceFacts: backend.WorkspaceFacts{ProviderID: backend.MustID(id)}, Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix",
			Parent: backend.MustID(session), ID: backend.MustID("box-" + id)}}}
		if edit != nil {
			edit(w)
		}
		return w
	}
	session := func(id, tenant string, ago time.Duration) *backend.Session {
		s := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID(id)}}}
		s.Tenant = backend.Clean(tenant, 20)
		if ago > 0 {
			s.StartedAt = backend.Known(noon.Add(-ago))
		}
		return s
	}
	shares := func(w *backend.Workspace) { w.ShareAcrossSessions = backend.Known(true) }
	inherits := func(w *backend.Workspace) { w.InheritWorkspaces = backend.Known(true) }
	second := func(w *backend.Workspace) { w.Key.ID = backend.MustID("other") }
	st := &fleet.State{
		Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "helix"}, Inputs: []backend.Input{backend.InputRegistry}}},
		Sessions: fleet.NewTable(session("s1", "acme", time.Hour), session("s2", "umbrella", 40*time.Minute), session("s3", "acme", 0),
			session("s4", "acme", 2*time.Hour)),
		Workspaces: fleet.NewTable(
			ws("s1", "across", shares), ws("s2", "across", shares),
			ws("s1", "cache", shares), ws("s4", "cache", shares),
			ws("s1", "half", shares), ws("s4", "half", nil),
			ws("s1", "kids", inherits), ws("s3", "kids", nil),
			ws("s4", "sbx-s4", nil), ws("s1", "sbx-s4", nil),
			ws("s3", "twice", nil), ws("s3", "twice", second)),
		Windows: fleet.NewWindows(backend.Count{Series: backend.Series{Source: "helix", Name: backend.MetricNameCollision, Session: backend.MustID("s3"),
			Workspace: backend.MustID("box-kids")}, At: noon.Add(-time.Minute), N: 1}),
	}
	ctx := views.NewSnapshot(noon, st, nil)
	var got []string
	for r := range Sharing().Listing().Each(ctx) {
		var cells []string
		for _, name := range []string{"id", "sessions", "workspaces", "tenants", "since", "design", "why"} {
			s, _ := r.Field(name)
			cells = append(cells, s)
		}
		got = append(got, strings.Join(cells, " | "))
		if ctx.SharedStorage(r.Key()) == nil {
			t.Errorf("%v is not found by its key", r.Key())
		}
	}
	want := []string{
		"across | 2 | 2 | acme, umbrella | 40m | no, 2 tenants | their tenants differ, which no declaration makes right; shareAcrossSessions is declared for all of them; explicit id: every session of that declaration uses it",
		"cache | 2 | 2 | acme | 1h | yes, declared | shareAcrossSessions is declared for all of them; explicit id: every session of that declaration uses it",
		"half | 2 | 2 | acme | 1h | no, not declared | shareAcrossSessions is declared for some of them only; explicit id: every session of that declaration uses it",
		"kids | 2 | 2 | acme | ? | yes, declared | inheritWorkspaces: children see their parent's files; explicit id: every session of that declaration uses it; the log says that 1 of them got a workspace of their own",
		"sbx-s4 | 2 | 2 | acme | 1h | no, not declared | default id of session s4, which another session was given",
		"twice | 1 | 2 | acme | – | yes, one session | workspaces of one session share it",
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("got\n%s\nwant\n%s", g, w)
	}
	if ctx.SharedStorage(backend.Key{Kind: views.KindSharedStorage, Source: "helix", ID: backend.MustID("nothing")}) != nil {
		t.Error("a place that nothing shares was found")
	}
}

// TestExplicitIDsAreListedWithOneUserToo: an id or namespace that a declaration gives is a row with its flag; defaults and the
// ids that a platform made are not.
func TestExplicitIDsAreListedWithOneUserToo(t *testing.T) {
	ws := func(session, name, id, namespace string, share backend.Value[bool]) *backend.Workspace {
		w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID(session), ID: backend.MustID(name)}}}
		w.ProviderID, _ = backend.NewID(id)
		w.Namespace, _ = backend.NewID(namespace)
		w.ShareAcrossSessions = share
		return w
	}
	none := backend.Unknown[bool]()
	st := &fleet.State{Workspaces: fleet.NewTable(ws("s1", "a", "team-cache", "", backend.Known(true)), ws("s1", "b", "team-box", "", backend.Known(false)),
		ws("s1", "c", "bare", "", none), ws("s1", "d", "", "shared-files", none), ws("s1", "e", "sbx-s1", "", none), ws("s1", "f", "4e5f60718293", "ns-s1", none)),
		Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("4e5f60718293")}}})}
	ref := func(session, sandbox string) *backend.Ref {
		return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "helix", Parent: backend.MustID(session), ID: backend.MustID("box")}},
			Session: backend.MustID(session), Sandbox: backend.MustID(sandbox)}
	}
	st.Refs = fleet.NewTable(ref("s2", "b1"), ref("s3", "box-s3"), ref("s4", "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"))
	ctx := views.NewSnapshot(noon, st, nil)
	var got []string
	for r := range Sharing().Listing().Each(ctx) {
		var cells []string
		for _, name := range []string{"what", "id", "sessions", "flag", "why"} {
			s, _ := r.Field(name)
			cells = append(cells, s)
		}
		got = append(got, strings.Join(cells, " | "))
	}
	want := []string{
		"namespace | shared-files | 1 | – | explicit namespace: every session of that declaration would use it",
		"sandbox | b1 | 1 | not declared | explicit id: every session of that declaration would use it",
		"sandbox | bare | 1 | not declared | explicit id: every session of that declaration would use it",
		"sandbox | team-box | 1 | unset | explicit id: every session of that declaration would use it",
		"sandbox | team-cache | 1 | set | shareAcrossSessions is declared for all of them; explicit id: every session of that declaration would use it",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
