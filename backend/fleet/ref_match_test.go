package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func TestAStateIsComparedWithTheInventory(t *testing.T) {
	saved := t0.Add(-time.Hour)
	for _, c := range []struct {
		name   string
		change func(r *backend.Ref, b *backend.Sandbox, poll *backend.Reading)
		want   RefResult
		differ int
	}{
		{"as saved", func(*backend.Ref, *backend.Sandbox, *backend.Reading) {}, RefSame, 0},
		{"made after it was saved", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			b.CreatedAt = backend.Known(saved.Add(2 * time.Minute))
		}, RefRecreated, 0},
		{"made at a time that is to come", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			b.CreatedAt = backend.Known(t0.Add(2 * time.Hour))
		}, RefUnknown, 0},
		{"made while it was saved", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			b.CreatedAt = backend.Known(saved.Add(30 * time.Second))
		}, RefSame, 0},
		{"nothing tells when it was saved", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.SavedAt, b.CreatedAt = backend.Unknown[time.Time](), backend.Known(saved.Add(2*time.Minute))
		}, RefSame, 0},
		{"another region", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) { b.Region = backend.Text("us-pdx-1") }, RefMoved, 1},
		{"another image and size", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			b.Image, b.MemLimit = backend.Text("other:1"), backend.Known(int64(1)<<30)
		}, RefTakenOver, 2},
		{"an image that is known by its id", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) { b.Image = backend.Text("sha256:0123") }, RefSame, 0},
		{"of another session", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) { b.Session = backend.MustID("s9") }, RefTakenOver, 1},
		{"another address", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Agent.Address, b.Address = backend.Text("https://sbx-a.us-pdx-1.bl.run"), backend.Text("https://sbx-a.eu-lon-1.bl.run")
		}, RefMoved, 1},
		{"the same address with a slash", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Agent.Address, b.Address = backend.Text("https://sbx-a.us-pdx-1.bl.run"), backend.Text("https://sbx-a.us-pdx-1.bl.run/")
		}, RefSame, 0},
		{"a port that is not listed", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Agent.Ports, b.Ports = []int{3000, 8000}, []backend.Safe{backend.Text("3000/http")}
		}, RefTakenOver, 1},
		{"another ttl", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Agent.TTL, b.TTL = backend.Text("12h"), backend.Text("24h")
		}, RefTakenOver, 1},
		{"a ttl of one side", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) { b.TTL = backend.Text("24h") }, RefSame, 0},
		{"no ports are listed", func(r *backend.Ref, _ *backend.Sandbox, _ *backend.Reading) { r.Agent.Ports = []int{3000} }, RefSame, 0},
		{"no port is declared", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Agent.Ports, b.NoPorts = []int{3000}, true
		}, RefTakenOver, 1},
		{"another label, and one that only the state has", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			label := func(name, value backend.Literal) backend.Field {
				return backend.Field{Name: backend.Text(name), Value: backend.Text(value)}
			}
			r.Agent.Labels, b.Labels = []backend.Field{label("env", "prod"), label("only", "here"), label("team", "a")}, []backend.Field{label("env", "prod"), label("team", "b")}
		}, RefTakenOver, 1},
		{"it ended", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Provider, b.Provider, b.Class, b.Reported = backend.Text("blaxel"), backend.Text("blaxel"), backend.SandboxExited, backend.Text("TERMINATED")
		}, RefGone, 0},
		{"it ended, and / of it was listed since", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Provider, b.Provider, b.Class, b.Reported = backend.Text("blaxel"), backend.Text("blaxel"), backend.SandboxExited, backend.Text("TERMINATED")
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: t0.Add(time.Minute), Inside: &backend.Inside{At: t0.Add(time.Minute), AgentSees: backend.Known(true)}}})
		}, RefUnknown, 0},
		{"a container that was stopped", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) { b.Class = backend.SandboxExited }, RefSame, 0},
		{"not listed", func(_ *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			b.Key.ID, b.Name = backend.MustID("other"), backend.Text("other")
		}, RefGone, 0},
		{"not listed in a part of the list", func(_ *backend.Ref, b *backend.Sandbox, r *backend.Reading) {
			b.Key.ID, b.Name, r.Scopes[0].Complete = backend.MustID("other"), backend.Text("other"), false
		}, RefUnknown, 0},
		{"a list from before it was saved", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			b.Key.ID, b.Name, r.SavedAt = backend.MustID("other"), backend.Text("other"), backend.Known(t0.Add(time.Minute))
		}, RefUnknown, 0},
		{"a platform that no source lists", func(r *backend.Ref, _ *backend.Sandbox, _ *backend.Reading) {
			r.Provider, r.Sandbox = backend.Text("modal"), backend.MustID("sb-1")
		}, RefUnknown, 0},
		{"an image whose tag one side leaves out", func(r *backend.Ref, b *backend.Sandbox, _ *backend.Reading) {
			r.Agent.Image, b.Image = backend.Text("blaxel/base-image"), backend.Text("blaxel/base-image:latest")
		}, RefSame, 0},
		{"a state without an id", func(r *backend.Ref, _ *backend.Sandbox, _ *backend.Reading) { r.Sandbox = backend.ID{} }, RefUnknown, 0},
	} {
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}, ReadAt: t0},
			Session: backend.MustID("s1"), Provider: backend.Text("docker"), Sandbox: backend.MustID("agents-0a1b2c3d4e5f"), SavedAt: backend.Known(saved),
			Agent: &backend.AgentState{Region: backend.Text("eu-lon-1"), Image: backend.Text("img:1"), Memory: backend.Known(4096)}}
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "d", ID: backend.MustID("c1")}, ReadAt: t0},
			Name: backend.Text("agents-0a1b2c3d4e5f"), Provider: backend.Text("docker"), IsSandbox: true, Image: backend.Text("img:1"),
			CloudFacts: backend.CloudFacts{Region: backend.Text("eu-lon-1")}, MemLimit: backend.Known(int64(4096) << 20), CreatedAt: backend.Known(saved.Add(-time.Hour))}
		list := &backend.Reading{Source: "d", Kind: "docker", At: t0, Started: t0, Inputs: []backend.Input{backend.InputContainers}, Sandboxes: []*backend.Sandbox{b}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}
		c.change(r, b, list)
		store := &backend.Reading{Source: "store", Kind: "refs", At: t0, Started: t0, Inputs: []backend.Input{backend.InputRefs}, Refs: []*backend.Ref{r}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}
		st := NewFolder(time.Minute).Fold([]backend.Answer{{Source: "d", Config: &backend.SourceConfig{Kind: "docker", Interval: time.Minute}}, {Source: "d", Reading: list},
			{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}}, {Source: "store", Reading: store}}, backend.Instant{Wall: t0})
		m := st.MatchOf(r)
		if m.Result != c.want || len(m.Differences) != c.differ || m.Why.IsEmpty() {
			t.Errorf("%s: %+v, want %s with %d differences", c.name, m, c.want, c.differ)
		}
	}
}

// TestTheLifespansOfAStateAndOfItsSandbox are compared as lengths of time; what only one of them names, or nobody can read, is named and is
// no difference.
func TestTheLifespansOfAStateAndOfItsSandbox(t *testing.T) {
	for _, c := range []struct{ state, inventory, differs, open string }{
		{"12h", "24h", "ttl: 12h in the state, 24h in the inventory", ""},
		{"1440m", "24h", "", ""},
		{"7d", "1w", "", ""},
		{"24h", "24h", "", ""},
		{"", "", "", ""},
		{"soon", "soon", "", ""},
		{"", "24h", "", "ttl: not in the state, 24h in the inventory: a state that names none asks for none: it was set otherwise, or by the tier of the workspace"},
		{"24h", "", "", "ttl: 24h in the state, not in the inventory: its record names none, which may only leave it out"},
		{"soon", "24h", "", "ttl: soon in the state, 24h in the inventory: they are not compared, as one of them is no length of time that is understood"},
		{"24h", "3600", "", "ttl: 24h in the state, 3600 in the inventory: they are not compared, as one of them is no length of time that is understood"},
		{"60d", "30d", "", "ttl: 60d in the state, 30d in the inventory: the platform allows no more in its lowest tiers"},
		{"24h", "7d", "ttl: 24h in the state, 7d in the inventory", ""},
		{"60d", "29d", "ttl: 60d in the state, 29d in the inventory", ""},
	} {
		r := &backend.Ref{Agent: &backend.AgentState{TTL: backend.Clean(c.state, 40)}}
		b := &backend.Sandbox{CloudFacts: backend.CloudFacts{TTL: backend.Clean(c.inventory, 40)}}
		said := func(all []RefDifference) (out string) {
			for i := range all {
				out += all[i].Said().String()
			}
			return out
		}
		if got := said(differences(r, b)); got != c.differs {
			t.Errorf("%q beside %q differ: %q, want %q", c.state, c.inventory, got, c.differs)
		}
		if got := said(open(r, b)); got != c.open {
			t.Errorf("%q beside %q are open: %q, want %q", c.state, c.inventory, got, c.open)
		}
	}
}

// TestTheEnvironmentOfAStateAndOfItsSandbox: the names that one side alone has are told with the origin that wins, never values. One of the
// client's options that the record does not declare differs; one of the manifest need not be declared.
func TestTheEnvironmentOfAStateAndOfItsSandbox(t *testing.T) {
	many := make([]string, 10)
	for i := range many {
		many[i] = fmt.Sprintf("E%02d", i)
	}
	full := make([]string, backend.MaxVariables)
	for i := range full {
		full[i] = fmt.Sprintf("F%03d", i)
	}
	for _, c := range []struct {
		name           string
		base, manifest []string
		declared       []string
		none           bool
		differs        string
		open           []string
	}{
		{"the same", []string{"A"}, nil, []string{"A"}, false, "", nil},
		{"none on both sides", nil, nil, nil, true, "", nil},
		{"the record lacks one", []string{"A", "B"}, nil, []string{"B"}, false, "environment: A (base) in the state, not declared in the inventory", nil},
		{"the record declares none", []string{"A"}, nil, nil, true, "environment: A (base) in the state, not declared in the inventory", nil},
		{"the record does not tell", []string{"A"}, []string{"M"}, nil, false, "", []string{"environment: A (base) M (manifest) in the state, not in the inventory: its record tells no environment"}},
		{"of the manifest alone", nil, []string{"M"}, nil, true, "", []string{"environment: M (manifest) in the state, not in the inventory: the agent sets it with each command, so that the record need not declare it"}},
		{"of the manifest, and declared", nil, []string{"M"}, []string{"M"}, false, "", nil},
		{"of the record alone", []string{"B"}, nil, []string{"A", "B", "C"}, false, "", []string{"environment: not in the state, A C in the inventory: who declared it is not known"}},
		{"many", many, nil, nil, true, "environment: E00 (base) E01 (base) E02 (base) E03 (base) E04 (base) E05 (base) E06 (base) E07 (base) and 2 more in the state, not declared in the inventory", nil},
		{"a record that is cut", []string{"A"}, nil, full, false, "", []string{"environment: A (base) in the state, not in the inventory: its record declares more than are kept",
			"environment: not in the state, F000 F001 F002 F003 F004 F005 F006 F007 and 192 more in the inventory: who declared it is not known"}},
		{"a state that is cut", full, nil, append(slices.Clone(full), "X")[1:], false, "", []string{"environment: F000 (base) in the state, not in the inventory: its record declares more than are kept"}},
	} {
		x, b := &backend.AgentState{}, &backend.Sandbox{CloudFacts: backend.CloudFacts{NoEnv: c.none}}
		for origin, names := range map[string][]string{"base": c.base, "manifest": c.manifest} {
			for _, n := range names {
				x.Env = append(x.Env, backend.AgentVariable{Name: backend.Clean(n, 20), Origin: backend.Clean(origin, 20)})
			}
		}
		slices.SortFunc(x.Env, func(a, b backend.AgentVariable) int { return strings.Compare(a.Name.String(), b.Name.String()) })
		for _, n := range c.declared {
			b.EnvNames = append(b.EnvNames, backend.Clean(n, 20))
		}
		differs, opened := "", []string(nil)
		for _, d := range differences(&backend.Ref{Agent: x}, b) {
			differs += d.Said().String()
		}
		for _, d := range open(&backend.Ref{Agent: x}, b) {
			opened = append(opened, d.Said().String())
		}
		if differs != c.differs || !slices.Equal(opened, c.open) {
			t.Errorf("%s: differ %q, open %q", c.name, differs, opened)
		}
	}
}

// TestASandboxOfAnotherOrganisation is not gone by the list of one that its address does not name.
func TestASandboxOfAnotherOrganisation(t *testing.T) {
	for _, c := range []struct {
		address, second string // second is the organisation of a source that does not answer
		want            RefResult
		why             string
	}{
		{"https://sbx-agents-a-acme.us-pdx-1.bl.run", "", RefGone, "not listed by bl"},
		{"https://sbx-agents-a-acme.us-pdx-1.bl.run", "otherws", RefGone, "not listed by bl"},
		{"https://sbx-agents-a-otherws.us-pdx-1.bl.run", "", RefUnknown, "it is in workspace otherws, which no source reads"},
		{"https://sbx-agents-a-otherws.us-pdx-1.bl.run", "third", RefUnknown, "it is in workspace otherws, which no source reads"},
		{"https://sbx-agents-a-otherws.us-pdx-1.bl.run", "otherws", RefUnknown, "bl2 has no complete list"},
		{"http://127.0.0.1:8080/sbx/agents-a", "", RefGone, "not listed by bl"},
		{"", "otherws", RefUnknown, "bl2 has no complete list"},
	} {
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}, ReadAt: t0},
			Session: backend.MustID("s1"), Provider: backend.Text("blaxel"), Sandbox: backend.MustID("agents-a"), SavedAt: backend.Known(t0.Add(-5 * time.Minute)),
			Agent: &backend.AgentState{Address: backend.Clean(c.address, 200)}}
		answers := []backend.Answer{{Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute, Organisation: "acme"}}, {Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
			{Source: "bl", Reading: &backend.Reading{Source: "bl", Kind: "blaxel", At: t0, Started: t0, Inputs: []backend.Input{backend.InputContainers}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}},
			{Source: "store", Reading: &backend.Reading{Source: "store", Kind: "refs", At: t0, Started: t0, Inputs: []backend.Input{backend.InputRefs}, Refs: []*backend.Ref{r}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}
		if c.second != "" {
			answers = append(answers, backend.Answer{Source: "bl2", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute, Organisation: c.second}})
		}
		st := NewFolder(time.Minute).Fold(answers, backend.Instant{Wall: t0})
		if m := st.MatchOf(r); m.Result != c.want || m.Why.String() != c.why {
			t.Errorf("%s beside %q: %+v, want %s: %s", c.address, c.second, m, c.want, c.why)
		}
		said := st.Unattributed(st.Source("store")).String() // the line of check, and of the source's page
		if tells := strings.Contains(said, "(otherws)") && strings.Contains(said, "Configure a source of kind blaxel"); tells != strings.Contains(c.why, "which no source reads") {
			t.Errorf("%s beside %q: %q", c.address, c.second, said)
		}
		if said := st.Unattributed(st.Source("bl")); !said.IsEmpty() {
			t.Errorf("%s: of another source: %s", c.address, said)
		}
	}
}

// TestASandboxThatAResumeMadeAgain: one that was made after its session began, and declares none of its ports, is another one, also
// where the state was saved since.
func TestASandboxThatAResumeMadeAgain(t *testing.T) {
	for made, want := range map[time.Duration]RefResult{10 * time.Minute: RefRecreated, 50 * time.Minute: RefTakenOver} {
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}, ReadAt: t0},
			Session: backend.MustID("s1"), Provider: backend.Text("blaxel"), Sandbox: backend.MustID("a"), SavedAt: backend.Known(t0.Add(-5 * time.Minute)), Agent: &backend.AgentState{Ports: []int{3000, 8081}}}
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("a")}, ReadAt: t0}, Name: backend.Text("a"), Provider: backend.Text("blaxel"), IsSandbox: true,
			CreatedAt: backend.Known(t0.Add(-made)), CloudFacts: backend.CloudFacts{NoPorts: true}}
		x := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "hx", ID: backend.MustID("s1")}, ReadAt: t0}}
		x.StartedAt = backend.Known(t0.Add(-50 * time.Minute))
		st := NewFolder(time.Minute).Fold([]backend.Answer{{Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}}, {Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
			{Source: "hx", Config: &backend.SourceConfig{Kind: "helix", Interval: time.Minute}},
			{Source: "bl", Reading: &backend.Reading{Source: "bl", Kind: "blaxel", At: t0, Started: t0, Inputs: []backend.Input{backend.InputContainers}, Sandboxes: []*backend.Sandbox{b}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}},
			{Source: "hx", Reading: &backend.Reading{Source: "hx", Kind: "helix", At: t0, Started: t0, Inputs: []backend.Input{backend.InputSessions}, Sessions: []*backend.Session{x}}},
			{Source: "store", Reading: &backend.Reading{Source: "store", Kind: "refs", At: t0, Started: t0, Inputs: []backend.Input{backend.InputRefs}, Refs: []*backend.Ref{r}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: t0})
		m := st.MatchOf(r)
		if m.Result != want || len(m.Differences) != 1 || m.Differences[0].State.String() != "3000 8081" || m.Differences[0].Inventory.String() != "none" {
			t.Errorf("made %s ago: %+v", made, m)
		}
	}
}

// TestMemoryIsComparedInOneUnit: that of the state.
func TestMemoryIsComparedInOneUnit(t *testing.T) {
	for limit, want := range map[int64]string{8 << 30: "8192 MB", 8e9: "8000 MB", 4<<20 + 1<<19 + 1: "4.5 MB"} {
		b := &backend.Sandbox{MemLimit: backend.Known(limit)}
		got := differences(&backend.Ref{Agent: &backend.AgentState{Memory: backend.Known(4096)}}, b)
		if len(got) != 1 || got[0].State.String() != "4096 MB" || got[0].Inventory.String() != want {
			t.Errorf("%d: %+v, want %s", limit, got, want)
		}
	}
}

func TestTheNameOfAnAgentsSandboxBeginsItsSession(t *testing.T) {
	ref := func(session string, agent *backend.AgentState) *backend.Ref {
		return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID(session), ID: backend.MustID("workspace")}, ReadAt: t0}, Session: backend.MustID(session), Agent: agent}
	}
	const one, two = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "0a1b2c3d-4e5f-4a6b-8c7d-000000000000"
	for _, c := range []struct {
		name            string
		refs            []*backend.Ref
		session, digits string
	}{
		{"agents-0a1b2c3d4e5f", []*backend.Ref{ref(one, &backend.AgentState{})}, one, "0a1b2c3d4e5f"},
		{"agents-0a1b2c3d4e5f", []*backend.Ref{ref(one, nil)}, "", "0a1b2c3d4e5f"},
		{"agents-0a1b2c3d4e5f", nil, "", "0a1b2c3d4e5f"},
		{"agents-0a1b2c3d4e5f", []*backend.Ref{ref(one, &backend.AgentState{}), ref(two, &backend.AgentState{})}, "", "0a1b2c3d4e5f"},
		{"agents-0a1b2c3d4e5", []*backend.Ref{ref(one, &backend.AgentState{})}, "", ""},
		{"agents-0A1B2C3D4E5F", []*backend.Ref{ref(one, &backend.AgentState{})}, "", ""},
		{"agents-workspace123", nil, "", ""},
		{"0a1b2c3d4e5f", []*backend.Ref{ref(one, &backend.AgentState{})}, "", ""},
	} {
		st := NewFolder(time.Minute).Fold([]backend.Answer{{Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
			{Source: "store", Reading: &backend.Reading{Source: "store", Refs: c.refs, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: t0})
		session, digits := st.AgentSession(&backend.Sandbox{Name: backend.Clean(c.name, 80)})
		if session.Raw() != c.session || digits != c.digits {
			t.Errorf("%s of %d states: session %q, digits %q", c.name, len(c.refs), session.Raw(), digits)
		}
	}
}

// TestAnInstanceOfCloudflareIsNamedAfterNoSession: its application may be called agents, and its own id follows.
func TestAnInstanceOfCloudflareIsNamedAfterNoSession(t *testing.T) {
	st := step(newStore(0), t0, backend.Reading{})
	for provider, want := range map[string]string{"blaxel": "10c67d50b85c", "docker": "10c67d50b85c", "cloudflare": ""} {
		b := &backend.Sandbox{Name: backend.Text("agents-10c67d50b85c"), Provider: backend.Clean(provider, 20)}
		if session, digits := st.AgentSession(b); digits != want || !session.IsZero() {
			t.Errorf("%s: digits %q, session %q", provider, digits, session.Raw())
		}
	}
}

// TestASourceThatNeverAnsweredIsNamed: it would list the sandbox, and has no list yet.
func TestASourceThatNeverAnsweredIsNamed(t *testing.T) {
	st := NewFolder(time.Minute).Fold([]backend.Answer{{Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}}}, backend.Instant{Wall: t0})
	r := &backend.Ref{Provider: backend.Text("blaxel"), Sandbox: backend.MustID("a"), Agent: &backend.AgentState{}}
	if m := st.MatchOf(r); m.Result != RefUnknown || m.Why.String() != "bl has no complete list" {
		t.Errorf("%+v", m)
	}
}

// TestAStatusIsBesideItsReference: how the platform reports the sandbox of a saved state, who tells of it, and what that means for a resume.
func TestAStatusIsBesideItsReference(t *testing.T) {
	const makes = "a resume makes a new one under its name, without its ports; files from before are not in it, except in mounts or a snapshot"
	const takes = "a resume takes it by its name as it is while its record is kept, as pause_on_exit is true, and makes a new one after that"
	for _, c := range []struct {
		class    backend.SandboxClass
		reported string
		keeps    bool
		told     string
		want     RefResult
		why      string
	}{
		{backend.SandboxRunning, "DEPLOYED RUNNING", false, "", RefSame, "bl lists it as DEPLOYED RUNNING"},
		{backend.SandboxUnknown, "", false, "", RefSame, "bl lists it"},
		{backend.SandboxRunning, "DEPLOYED RUNNING", false, "its own record: no list names it", RefSame, "bl reports it as DEPLOYED RUNNING, by its own record: no list names it"},
		{backend.SandboxAsleep, "DEPLOYED STANDBY", false, "", RefSame, "bl lists it as DEPLOYED STANDBY; it sleeps, with its memory, files and processes, and the next connection wakes it"},
		{backend.SandboxDead, "FAILED", false, "", RefSame, "bl lists it as FAILED; " + makes},
		{backend.SandboxDead, "FAILED", true, "", RefSame, "bl lists it as FAILED; " + takes},
		{backend.SandboxExited, "TERMINATED", false, "", RefGone, "reported TERMINATED by bl; " + makes},
		{backend.SandboxRemoving, "TERMINATING", false, "", RefGone, "reported TERMINATING by bl; " + makes},
		{backend.SandboxRemoving, "DELETING", false, "", RefGone, "reported DELETING by bl; what a resume finds before it is deleted is not documented"},
		{backend.SandboxPaused, "ARCHIVED", false, "", RefSame, "bl lists it as ARCHIVED; its disk is kept and its memory is not; what a resume finds before it is unarchived is not documented"},
		{backend.SandboxPaused, "DEPLOYED, disabled", false, "", RefSame, "bl lists it as DEPLOYED, disabled; it refuses connections until it is enabled: a resume finds it, and cannot use it"},
		{backend.SandboxPaused, "DEACTIVATED", false, "", RefSame, "bl lists it as DEACTIVATED; what a resume finds is not documented"},
		{backend.SandboxCreated, "UNARCHIVING", false, "", RefSame, "bl lists it as UNARCHIVING; its disk is kept and its memory is not"},
		{backend.SandboxCreated, "BUILDING", false, "", RefSame, "bl lists it as BUILDING; it is still made"},
	} {
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID("s1"), ID: backend.MustID("workspace")}, ReadAt: t0},
			Session: backend.MustID("s1"), Provider: backend.Text("blaxel"), Sandbox: backend.MustID("a"), Agent: &backend.AgentState{PauseOnExit: backend.Known(c.keeps)}}
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("a")}, ReadAt: t0}, Name: backend.Text("a"), Provider: backend.Text("blaxel"), IsSandbox: true,
			Class: c.class, Reported: backend.Clean(c.reported, 40), CloudFacts: backend.CloudFacts{ToldBy: backend.Clean(c.told, 100)}}
		st := NewFolder(time.Minute).Fold([]backend.Answer{{Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}}, {Source: "store", Config: &backend.SourceConfig{Kind: "refs", Interval: time.Minute}},
			{Source: "bl", Reading: &backend.Reading{Source: "bl", Kind: "blaxel", At: t0, Started: t0, Inputs: []backend.Input{backend.InputContainers}, Sandboxes: []*backend.Sandbox{b}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}},
			{Source: "store", Reading: &backend.Reading{Source: "store", Kind: "refs", At: t0, Started: t0, Inputs: []backend.Input{backend.InputRefs}, Refs: []*backend.Ref{r}, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}}}, backend.Instant{Wall: t0})
		if m := st.MatchOf(r); m.Result != c.want || m.Why.String() != c.why {
			t.Errorf("%s, kept %t: %s: %s", c.reported, c.keeps, m.Result, m.Why)
		}
	}
}
