package fleet

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// A sandbox that its label gives to one session and a reference to another is shared, by id, short id and name.
func TestSharedByLabel(t *testing.T) {
	long := strings.Repeat("c6", 32)
	box := func(id, name, session string) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "h", ID: backend.MustID(id)}}, IsSandbox: true,
			Name: backend.Clean(name, 60), Provider: backend.Text("docker"), Session: backend.MustID(session), Workspace: backend.MustID("box")}
	}
	ref := func(session, sandbox, provider string) *backend.Ref {
		return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "h", Parent: backend.MustID(session), ID: backend.MustID("box")}},
			Session: backend.MustID(session), Sandbox: backend.MustID(sandbox), Provider: backend.Clean(provider, 40)}
	}
	for _, c := range []struct {
		name  string
		boxes []*backend.Sandbox
		ref   *backend.Ref
		want  bool
	}{
		{"by id", []*backend.Sandbox{box(long, "one", "s1")}, ref("s2", long, ""), true},
		{"by short id", []*backend.Sandbox{box(long, "one", "s1")}, ref("s2", long[:12], "docker"), true},
		{"by name", []*backend.Sandbox{box(long, "one", "s1")}, ref("s2", "one", "docker"), true},
		{"its own", []*backend.Sandbox{box(long, "one", "s1")}, ref("s1", long, ""), false},
		{"a name of another provider", []*backend.Sandbox{box(long, "one", "s1")}, ref("s2", "one", "cloudflare-sandbox"), false},
		{"a name that two have", []*backend.Sandbox{box(long, "one", "s1"), box("other", "one", "s1")}, ref("s2", "one", "docker"), false},
	} {
		s := newStore(0)
		step(s, t0, backend.Reading{Refs: []*backend.Ref{c.ref}})
		st := step(s, t0.Add(time.Second), backend.Reading{Sandboxes: c.boxes})
		walked := *st
		walked.sharing, walked.byName = nil, nil
		for _, st := range []*State{st, &walked, walked.Followed()} {
			got := 0
			for p := range st.Shared(func(string, backend.ID) string { return "h" }, false) {
				got += p.Sessions()
			}
			if want := map[bool]int{true: 2}[c.want]; got != want {
				t.Errorf("%s: %d sessions share it, want %d", c.name, got, want)
			}
		}
		st = step(s, t0.Add(2*time.Second), backend.Reading{Ended: []backend.Key{c.ref.Key}})
		for range st.Shared(func(string, backend.ID) string { return "h" }, false) {
			t.Errorf("%s: shared though the reference is gone", c.name)
		}
	}
}
