package fleet

import (
	"fmt"
	"testing"
	"time"

	"sandglass/backend"
)

// TestARegistryJoinsASandboxByItsExactID and provider, whichever of the two is read first: never by a part of the id, for another
// provider, without an id, where several sessions name it, or where several listed sandboxes are called so.
func TestARegistryJoinsASandboxByItsExactID(t *testing.T) {
	box := func(source, id, name, provider string) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: source, ID: backend.MustID(id)}}, IsSandbox: true,
			Name: backend.Clean(name, 60), Provider: backend.Clean(provider, 40)}
	}
	names := func(session, id, provider string) *backend.Workspace {
		w := ws(session, "box", "open")
		w.Provider = backend.Clean(provider, 40)
		if id != "" {
			w.ProviderID = backend.MustID(id)
		}
		return w
	}
	saved := func(session, id string, at time.Time) *backend.Ref {
		k := backend.Key{Kind: backend.KindRef, Source: "states", Parent: backend.MustID(session), ID: backend.MustID("box")}
		return &backend.Ref{Meta: backend.Meta{Key: k}, Session: k.Parent, Provider: backend.Text("blaxel"), Sandbox: backend.MustID(id), SavedAt: backend.Known(at), Agent: &backend.AgentState{}}
	}
	one := []*backend.Sandbox{box("bl", "box-one", "box-one", "blaxel")}
	const sbx = "sbx_00000000000000000000000000000000000000000000000000000001"
	agentuity := []*backend.Sandbox{box("ag", sbx, "box-1", "agentuity")}
	born := box("bl", "box-one", "box-one", "blaxel")
	born.CreatedAt = backend.Known(t0)
	labelled := box("bl", "box-one", "box-one", "blaxel")
	labelled.Session, labelled.JoinedBy = backend.MustID("s9"), backend.Text("a label")
	for name, c := range map[string]struct {
		boxes  []*backend.Sandbox
		ws     []*backend.Workspace
		refs   []*backend.Ref
		want   string
		called int
	}{
		"blaxel":                         {one, []*backend.Workspace{names("s1", "box-one", "blaxel")}, nil, "s1", 0},
		"agentuity, by its id":           {agentuity, []*backend.Workspace{names("s1", sbx, "agentuity")}, nil, "s1", 0},
		"agentuity, by its name":         {agentuity, []*backend.Workspace{names("s1", "box-1", "agentuity")}, nil, "s1", 0},
		"a part of the id":               {agentuity, []*backend.Workspace{names("s1", sbx[:12], "agentuity")}, nil, "", 0},
		"another provider":               {one, []*backend.Workspace{names("s1", "box-one", "agentuity")}, nil, "", 0},
		"no provider":                    {one, []*backend.Workspace{names("s1", "box-one", "")}, nil, "", 0},
		"no id":                          {one, []*backend.Workspace{names("s1", "", "blaxel")}, nil, "", 0},
		"one of docker has that name":    {append([]*backend.Sandbox{box("docker", "c0ffee", "box-one", "docker")}, one...), []*backend.Workspace{names("s1", "box-one", "blaxel")}, nil, "s1", 0},
		"two sessions":                   {one, []*backend.Workspace{names("s1", "box-one", "blaxel"), names("s2", "box-one", "blaxel")}, nil, "", 0},
		"two, one of another provider":   {one, []*backend.Workspace{names("s1", "box-one", "blaxel"), names("s2", "box-one", "docker")}, nil, "s1", 0},
		"by its id and by its name":      {agentuity, []*backend.Workspace{names("s1", sbx, "agentuity"), names("s2", "box-1", "agentuity")}, nil, "", 0},
		"several are called so":          {append([]*backend.Sandbox{box("bl2", "box-one", "box-one", "blaxel")}, one...), []*backend.Workspace{names("s1", "box-one", "blaxel")}, nil, "", 2},
		"three, one by its id":           {[]*backend.Sandbox{box("ag", "a", "x", "agentuity"), box("ag", "b", "a", "agentuity"), box("ag", "c", "a", "agentuity")}, []*backend.Workspace{names("s1", "a", "agentuity")}, nil, "", 3},
		"a label says another":           {[]*backend.Sandbox{labelled}, []*backend.Workspace{names("s1", "box-one", "blaxel")}, nil, "s9", 0},
		"a saved state of another":       {[]*backend.Sandbox{born}, []*backend.Workspace{names("s1", "box-one", "blaxel")}, []*backend.Ref{saved("s2", "box-one", t0)}, "s2", 0},
		"a state of an earlier sandbox":  {[]*backend.Sandbox{born}, []*backend.Workspace{names("s1", "box-one", "blaxel")}, []*backend.Ref{saved("s2", "box-one", t0.Add(-time.Hour))}, "s1", 0},
		"a saved state of the same":      {[]*backend.Sandbox{born}, []*backend.Workspace{names("s1", "box-one", "blaxel")}, []*backend.Ref{saved("s1", "box-one", t0)}, "s1", 0},
		"a container is joined by label": {[]*backend.Sandbox{box("docker", "box-one", "box-one", "docker")}, []*backend.Workspace{names("s1", "box-one", "docker")}, nil, "", 0},
	} {
		for _, first := range []string{"the registry", "the platform"} {
			s := newStore(0)
			registry, platform := backend.Reading{Workspaces: c.ws, Refs: c.refs}, backend.Reading{Sandboxes: c.boxes}
			if first == "the registry" {
				step(s, t0, registry)
			}
			st := step(s, t0.Add(time.Second), platform)
			if first == "the platform" {
				st = step(s, t0.Add(2*time.Second), registry)
			}
			b := st.Sandbox(c.boxes[len(c.boxes)-1].Key)
			if got := st.SessionOn(b).Raw(); got != c.want {
				t.Errorf("%s, %s first: session %q", name, first, got)
			}
			if n := st.Namesakes(c.ws[0]); n != c.called {
				t.Errorf("%s, %s first: %d are called so", name, first, n)
			}
			if id := st.WorkspaceOn(b).Raw(); (id == "box") != (c.want == "s1") {
				t.Errorf("%s, %s first: workspace %q", name, first, id)
			}
			if _, by := st.RegistryNames(b); by.IsEmpty() != (c.want != "s1" || len(c.refs) == 1 && c.refs[0].Session == c.ws[0].Key.Parent) {
				t.Errorf("%s, %s first: joined by %q", name, first, by)
			}
			if boxes := st.BoxesOf(backend.MustID("s1")); len(boxes) > 0 != (c.want == "s1") {
				t.Errorf("%s, %s first: %d sandboxes of s1", name, first, len(boxes))
			}
		}
	}
}

// TestAWorkspaceThatNamesAnotherProvider is followed when it names the right one, and when it leaves.
func TestAWorkspaceThatNamesAnotherProvider(t *testing.T) {
	s := newStore(0)
	w := ws("s1", "box", "open")
	w.Provider, w.ProviderID = backend.Text("docker"), backend.MustID("box-1")
	var boxes []*backend.Sandbox
	for i := range 3000 {
		id := backend.MustID(fmt.Sprint("box-", i))
		boxes = append(boxes, &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: id}}, IsSandbox: true, Name: id.Safe(), Provider: backend.Text("blaxel")})
	}
	on := func(st *State) string { return st.SessionOn(st.Sandbox(boxes[1].Key)).Raw() }
	if got := on(step(s, t0, backend.Reading{Workspaces: []*backend.Workspace{w}, Sandboxes: boxes})); got != "" {
		t.Errorf("of another provider: %q", got)
	}
	c := *w
	c.Meta, c.Provider = backend.Meta{Key: w.Key}, backend.Text("blaxel")
	st := step(s, t0.Add(time.Second), backend.Reading{Workspaces: []*backend.Workspace{&c}})
	if got := on(st); got != "s1" || len(st.BoxesOf(backend.MustID("s1"))) != 1 {
		t.Errorf("of its own: %q", got)
	}
	if got := on(step(s, t0.Add(2*time.Second), backend.Reading{Ended: []backend.Key{w.Key}})); got != "" {
		t.Errorf("it left: %q", got)
	}
}
