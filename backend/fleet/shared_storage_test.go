package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func sharer(session, name, id, namespace string, edit ...func(*backend.Workspace)) *backend.Workspace {
	w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID(session), ID: backend.MustID(name)}}}
	if id != "" {
		w.ProviderID = backend.MustID(id)
	}
	if namespace != "" {
		w.Namespace = backend.MustID(namespace)
	}
	for _, e := range edit {
		e(w)
	}
	return w
}

func owner1(id, tenant string, started time.Time) *backend.Session {
	s := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID(id)}}}
	s.Tenant = backend.Clean(tenant, 20)
	if !started.IsZero() {
		s.StartedAt = backend.Known(started)
	}
	return s
}

func placesText(st *State, within bool) string {
	var out []string
	for p := range st.Shared(st.HomeOf, within) {
		var users []string
		for _, u := range p.Users {
			users = append(users, u.Session.Raw()+"/"+u.Workspace.Raw())
		}
		out = append(out, fmt.Sprintf("%s %s %s: %s", p.Home, p.What, p.ID.Raw(), strings.Join(users, " ")))
	}
	return strings.Join(out, " | ")
}

func TestShared(t *testing.T) {
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	shares := func(w *backend.Workspace) { w.ShareAcrossSessions = backend.Known(true) }
	ref := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s3"), ID: backend.MustID("box")}},
		Session: backend.MustID("s3"), Sandbox: backend.MustID("team")}
	st := &State{
		Sources: []*SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "helix"}, Inputs: []backend.Input{backend.InputRegistry}, Status: StatusOK}},
		Sessions: NewTable(owner1("s1", "acme", began), owner1("s2", "umbrella", began.Add(time.Hour)), owner1("s3", "", began.Add(2*time.Hour)),
			owner1("s4", "", time.Time{})),
		Workspaces: NewTable(sharer("s1", "box", "team", "", shares), sharer("s2", "box", "team", "ns", shares), sharer("s2", "other", "", "ns"),
			sharer("s4", "box", "sbx-s4", ""), sharer("s1", "own", "x-s10-y", ""), sharer("s2", "own", "x-s10-y", "")),
		Refs: NewTable(ref),
	}
	if got, want := placesText(st, false), "helix sandbox team: s1/box s2/box s3/box | helix sandbox x-s10-y: s1/own s2/own"; got != want {
		t.Errorf("between sessions\n got %s\nwant %s", got, want)
	}
	if got := placesText(st, true); !strings.HasPrefix(got, "helix namespace ns: s2/box s2/other | helix sandbox team") {
		t.Errorf("within sessions: %s", got)
	}
	for p := range st.Shared(st.HomeOf, false) {
		tenants, unknown := p.Tenants(st)
		second := p.SecondStart(st, func(s *backend.Session) time.Time { return s.StartedAt.Or(time.Time{}) })
		if len(tenants) != 2 || !second.Equal(began.Add(time.Hour)) || !p.NamedSession().IsZero() {
			t.Errorf("%s: tenants %v, second %v, named %v", p.ID.Raw(), tenants, second, p.NamedSession().Raw())
		}
		if unknown != (p.ID.Raw() == "team") || p.Intended() {
			t.Errorf("%s: unknown %v, wanted %v: what one side alone declares is not wanted by all", p.ID.Raw(), unknown, p.Intended())
		}
	}
	many := make([]*backend.Workspace, 0, MaxStorageUsers+10)
	for i := range cap(many) {
		many = append(many, sharer(fmt.Sprintf("m%05d", i), "box", "all-of-m00007", "", shares))
	}
	st.Workspaces = NewTable(many...)
	for p := range st.Shared(st.HomeOf, false) {
		if p.ID.Raw() == "all-of-m00007" && (len(p.Users) != MaxStorageUsers || p.NamedSession().Raw() != "m00007" || !p.Intended()) {
			t.Errorf("%d users, named %s, wanted %v", len(p.Users), p.NamedSession().Raw(), p.Intended())
		}
	}
}

// TestIDsMeanSomethingWithinOneProviderAndNamespace: equal ids of others name other things; who does not say which belongs to
// the only one that is said.
func TestIDsMeanSomethingWithinOneProviderAndNamespace(t *testing.T) {
	type user struct{ provider, namespace string }
	for name, x := range map[string]struct {
		users []user
		want  string
	}{
		"one provider":                  {[]user{{"docker", ""}, {"docker", ""}}, "s0 s1"},
		"two providers":                 {[]user{{"docker", ""}, {"cloudflare-sandbox", ""}}, ""},
		"two of each":                   {[]user{{"docker", ""}, {"e2b", ""}, {"docker", ""}, {"e2b", ""}}, "s0 s2; s1 s3"},
		"two namespaces":                {[]user{{"docker", "a"}, {"docker", "b"}}, ""},
		"one namespace":                 {[]user{{"docker", "a"}, {"docker", "a"}}, "s0 s1"},
		"one names no namespace":        {[]user{{"docker", ""}, {"docker", "a"}}, "s0 s1"},
		"one names no provider":         {[]user{{"", ""}, {"docker", ""}}, "s0 s1"},
		"none names a provider":         {[]user{{"", ""}, {"", ""}}, "s0 s1"},
		"which of two it is, is unsaid": {[]user{{"", ""}, {"docker", ""}, {"e2b", ""}}, ""},
		"in steps":                      {[]user{{"", ""}, {"docker", ""}, {"docker", "a"}}, "s0 s1 s2"},
	} {
		var r backend.Reading
		for i, u := range x.users {
			w := ws(fmt.Sprint("s", i), "box", "open")
			w.ProviderID, w.Provider = backend.MustID("box"), backend.Clean(u.provider, 40)
			if u.namespace != "" {
				w.Namespace = backend.MustID(u.namespace)
			}
			r.Workspaces = append(r.Workspaces, w)
		}
		st := step(newStore(0), t0, r)
		var got []string
		for p := range st.Shared(st.HomeOf, false) {
			if p.What == StorageSandbox {
				var of []string
				for _, u := range p.Users {
					of = append(of, u.Session.Raw())
				}
				got = append(got, strings.Join(of, " "))
			}
		}
		slices.Sort(got)
		if strings.Join(got, "; ") != x.want {
			t.Errorf("%s: shared by %q, want %q", name, got, x.want)
		}
	}
}

// TestASandboxThatAnAgentSDKNamed is no explicit id: it is of the session that begins with its digits, where only one does.
func TestASandboxThatAnAgentSDKNamed(t *testing.T) {
	for _, c := range []struct {
		sessions []string
		begin    int
		named    string
	}{
		{[]string{"e0000000-0001-4000-8000-000000000001", "e0000000-0001-4000-8000-000000000002"}, 2, ""},
		{[]string{"e0000000-0001-4000-8000-000000000001", "f0000000-0001-4000-8000-000000000002"}, 1, "e0000000-0001-4000-8000-000000000001"},
		{[]string{"s1", "s2"}, 0, ""},
	} {
		p := SharedStorage{What: StorageSandbox, ID: backend.MustID("agents-e00000000001")}
		for _, s := range c.sessions {
			p.Users = append(p.Users, StorageUser{Session: backend.MustID(s)})
		}
		if of, digits := p.AgentNamed(); digits != "e00000000001" || len(of) != c.begin || p.NamedSession().Raw() != c.named || ExplicitID(p.ID, backend.ID{}) {
			t.Errorf("%v: %v begin with %s, named %q", c.sessions, of, digits, p.NamedSession().Raw())
		}
	}
}
