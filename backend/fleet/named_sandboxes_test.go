package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestACloudflareSandboxIsJoinedByTheWorkspaceThatNamesIt: by the id of the bridge, by the name that the application gave, and by the id
// of its container; never where two sessions name it, and on after its session took the workspace along.
func TestACloudflareSandboxIsJoinedByTheWorkspaceThatNamesIt(t *testing.T) {
	const id, object, name = "2ae7pib2vjeswlcbc2d4d4auzy", "5555555555555555555555555555555555555555555555555555555555555555", "box-of-acme"
	sandbox := func(key, name, provider string) *backend.Sandbox {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID(key)}}, IsSandbox: true,
			Name: backend.Clean(name, 60), Provider: backend.Clean(provider, 40)}
		b.Container = backend.MustID(object)
		return b
	}
	workspace := func(session, named, provider string) *backend.Workspace {
		w := ws(session, "box", "open")
		w.Provider, w.ProviderID = backend.Clean(provider, 40), backend.MustID(named)
		return w
	}
	inNamespace := func(w *backend.Workspace, ns string) *backend.Workspace {
		w.Namespace = backend.MustID(ns)
		return w
	}
	for _, c := range []struct {
		name string
		box  *backend.Sandbox
		ws   []*backend.Workspace
		want string
	}{
		{"by the id of the bridge", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", id, "cloudflare-sandbox")}, "s1"},
		{"by its name", sandbox(object, name, "cloudflare"), []*backend.Workspace{workspace("s1", name, "cloudflare-sandbox")}, "s1"},
		{"by its container", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", object, "cloudflare-sandbox")}, "s1"},
		{"by a workspace that names no provider", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", id, "")}, "s1"},
		{"by a filestore", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", id, "cloudflare-filestore")}, "s1"},
		{"by a filestore, by the name", sandbox(object, name, "cloudflare"), []*backend.Workspace{workspace("s1", name, "cloudflare-filestore")}, "s1"},
		{"a filestore of another session too", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", id, "cloudflare-filestore"), workspace("s2", id, "cloudflare-sandbox")}, ""},
		{"a filestore elsewhere", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", "elsewhere", "cloudflare-filestore")}, ""},
		{"a filestore whose namespace is called so", sandbox(id, id, "cloudflare"), []*backend.Workspace{inNamespace(workspace("s1", "elsewhere", "cloudflare-filestore"), id)}, ""},
		{"two sessions", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", id, "cloudflare-sandbox"), workspace("s2", id, "cloudflare-sandbox")}, ""},
		{"another provider", sandbox(id, name, "cloudflare"), []*backend.Workspace{workspace("s1", name, "docker")}, ""},
		{"another platform", sandbox(id, id, "docker"), []*backend.Workspace{workspace("s1", id, "docker")}, ""},
		{"nobody", sandbox(id, id, "cloudflare"), []*backend.Workspace{workspace("s1", "elsewhere", "cloudflare-sandbox")}, ""},
	} {
		s := newStore(0)
		step(s, t0, backend.Reading{Workspaces: c.ws})
		poll := func(at time.Duration) *backend.Sandbox {
			r := backend.Reading{Sandboxes: []*backend.Sandbox{c.box}}
			s.joinNamed(&r)
			return step(s, t0.Add(at), r).Sandbox(c.box.Key)
		}
		if b := poll(time.Second); b.Session.Raw() != c.want || (b.Workspace.Raw() == "box") != (c.want != "") || b.JoinedBy.IsEmpty() != (c.want == "") {
			t.Errorf("%s: session %q, workspace %q, joined by %q", c.name, b.Session.Raw(), b.Workspace.Raw(), b.JoinedBy)
		}
		if !c.box.Session.IsZero() {
			t.Errorf("%s: what the source delivered was changed", c.name)
		}
		step(s, t0.Add(2*time.Second), backend.Reading{Ended: []backend.Key{c.ws[0].Key}})
		if b := poll(3 * time.Second); len(c.ws) == 1 && b.Session.Raw() != c.want {
			t.Errorf("%s: after its session ended it is %q", c.name, b.Session.Raw())
		}
	}
}

// TestAWorkspaceFindsItsCloudflareSandbox by any of these names, too.
func TestAWorkspaceFindsItsCloudflareSandbox(t *testing.T) {
	s := newStore(0)
	b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("2ae7")}}, IsSandbox: true, Name: backend.Text("box-1"), Provider: backend.Text("cloudflare")}
	b.Container = backend.MustID("55555")
	st := step(s, t0, backend.Reading{Sandboxes: []*backend.Sandbox{b}})
	for _, id := range []string{"2ae7", "box-1", "55555"} {
		for _, p := range []backend.Literal{"cloudflare-sandbox", "cloudflare-filestore"} {
			if st.SandboxNamed(backend.MustID(id), backend.Text(p)) == nil {
				t.Errorf("%s of %s names no sandbox", id, p)
			}
		}
	}
	for _, id := range []string{"box-1", "55555"} {
		if st.SandboxNamed(backend.MustID(id), backend.Text("docker")) != nil {
			t.Errorf("%s of docker names a sandbox of Cloudflare", id)
		}
	}
}

// TestALaterProcessKeepsTheJoinOfASandbox whose session took its workspace along, until something names it again; of two that do, none.
func TestALaterProcessKeepsTheJoinOfASandbox(t *testing.T) {
	key := backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("2ae7")}
	was := &backend.Sandbox{Meta: backend.Meta{Key: key}, IsSandbox: true, Provider: backend.Text("cloudflare"), Session: backend.MustID("s1"), Workspace: backend.MustID("box")}
	was.JoinedBy = namedBy
	other := *was
	other.Key.ID, other.JoinedBy = backend.MustID("label"), backend.Text("a label")
	f := &Fleet{}
	f.Rejoin([]*backend.Sandbox{was, &other})
	names := func(session string) *backend.Workspace {
		w := ws(session, "box", "open")
		w.Provider, w.ProviderID = backend.Text("cloudflare-sandbox"), backend.MustID("2ae7")
		return w
	}
	for _, c := range []struct {
		name string
		ws   []*backend.Workspace
		want string
	}{
		{"nothing names it", nil, "s1"}, {"another session", []*backend.Workspace{names("s2")}, "s2"}, {"two sessions", []*backend.Workspace{names("s2"), names("s3")}, ""},
	} {
		s := newStore(0)
		step(s, t0, backend.Reading{Workspaces: c.ws})
		for i := range 2 {
			b := &backend.Sandbox{Meta: backend.Meta{Key: key}, IsSandbox: true, Provider: backend.Text("cloudflare")}
			x := &backend.Sandbox{Meta: backend.Meta{Key: other.Key}, IsSandbox: true, Provider: backend.Text("cloudflare")}
			r := backend.Reading{Sandboxes: []*backend.Sandbox{b, x}}
			f.rejoin(&r)
			s.joinNamed(&r)
			st := step(s, t0.Add(time.Duration(i+1)*time.Second), r)
			if got := st.Sandbox(key); got.Session.Raw() != c.want || got.JoinedBy.IsEmpty() != (c.want == "") {
				t.Errorf("%s: session %q, joined by %q", c.name, got.Session.Raw(), got.JoinedBy)
			}
			if !b.Session.IsZero() || !st.Sandbox(other.Key).Session.IsZero() {
				t.Errorf("%s: what the source delivered was changed, or what a label had joined was joined", c.name)
			}
		}
	}
}
