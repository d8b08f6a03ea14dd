package subjects

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/theme"
)

// agentFleet is a session that one source lists, the sandbox that the agent SDK named after it, which another lists, and a log that is
// about the latter alone. state is what a third source saved, nil: nothing.
func agentFleet(session string, state *backend.Ref) *fleet.State {
	safe := func(s string) backend.Safe { return backend.Clean(s, 200) }
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}, ReadAt: noon}, Name: safe("agents-0a1b2c3d4e5f"),
		Provider: safe("blaxel"), IsSandbox: true, Class: backend.SandboxRunning, Reported: safe("DEPLOYED RUNNING")}
	runs := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "hx", ID: backend.MustID(session)}, ReadAt: noon}, ListedRunning: backend.Known(true)}
	saved := &backend.Reading{Source: "store", Kind: "refs", At: noon, Scopes: []backend.Scope{{Kind: backend.KindRef, Complete: true}}}
	if state != nil {
		saved.Refs = []*backend.Ref{state}
	}
	var all []backend.Answer
	for _, r := range []*backend.Reading{saved,
		{Source: "bl", Kind: "blaxel", At: noon, Inputs: []backend.Input{backend.InputContainers}, Sandboxes: []*backend.Sandbox{box}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}},
		{Source: "hx", Kind: "helix", At: noon, Inputs: []backend.Input{backend.InputRegistry, backend.InputSessions}, Sessions: []*backend.Session{runs}, Scopes: []backend.Scope{{Kind: backend.KindSession, Complete: true}}},
		{Source: "log", Kind: "logs", At: noon, Inputs: []backend.Input{backend.InputEvictionLogs}}} {
		config := &backend.SourceConfig{Kind: r.Kind, Interval: time.Minute}
		if r.Kind == "logs" {
			config.About = []string{"bl"}
		}
		all = append(all, backend.Answer{Source: r.Source, Config: config}, backend.Answer{Source: r.Source, Reading: r})
	}
	return fleet.NewFolder(time.Minute).Fold(all, backend.Instant{Wall: noon})
}

// TestASessionJoinsTheSandboxThatItsAgentNamed: by its saved state, or by the digits with which its id begins; without a saved state it is
// a candidate. A log that is about the sandboxes alone speaks of the list that has the session.
func TestASessionJoinsTheSandboxThatItsAgentNamed(t *testing.T) {
	const session = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	state := func(of, sandbox string) *backend.Ref {
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID(of), ID: backend.MustID("coder")}, ReadAt: noon},
			Session: backend.MustID(of), Provider: backend.Text("blaxel"), Agent: &backend.AgentState{}}
		if sandbox != "" {
			r.Sandbox = backend.MustID(sandbox)
		}
		return r
	}
	for _, c := range []struct {
		name, listed string
		state        *backend.Ref
		want         string
		joined       bool
		row, json    string
	}{
		{"named by the state", session, state(session, "agents-0a1b2c3d4e5f"), "joined by its saved state", true, session, `"session":"` + session + `"`},
		{"named by its digits", session, state(session, ""), "joined by its name: a saved state begins with its digits", true, session, `"session":"` + session + `"`},
		{"its state names another", session, state(session, "agents-000000000000"), "a candidate from its name: its saved state names agents-000000000000", false, "? " + session, `"candidate":"` + session + `"`},
		{"no state", session, nil, "a candidate from its name: no saved state names its session", false, "? " + session, `"candidate":"` + session + `"`},
		{"a state of another session", session, state("0a1b2c3d-4e5f-0000-0000-000000000000", "agents-0a1b2c3d4e5f"), "none is joined to it", false, "0a1b2c3d-4e5f-0000-0000-000000000000", `"session":"0a1b2c3d-4e5f-0000-0000-000000000000"`},
		{"other digits", "1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", nil, "none is joined to it", false, "–", `"name":"agents-0a1b2c3d4e5f"`},
	} {
		st := agentFleet(c.listed, c.state)
		key := backend.Key{Kind: backend.KindSession, Source: "hx", ID: backend.MustID(c.listed)}
		f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
		doc, _ := Doc(key, f)
		page := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " ")
		if !strings.Contains(page, c.want) {
			t.Errorf("%s: the page lacks %q:\n%s", c.name, c.want, page)
		}
		if got := slices.ContainsFunc(st.BoxesOf(key.ID), func(b *backend.Sandbox) bool { return b.Key.Source == "bl" }); got != c.joined || JoinedTo(key, st)[backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}] != c.joined {
			t.Errorf("%s: joined: %t", c.name, got)
		}
		box := st.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")})
		raw, err := sandboxJSON(box, f.Snapshot)
		if got := sessionCell(box, st).Text.String(); got != c.row || err != nil || !strings.Contains(string(raw), c.json) || strings.Contains(string(raw), `"candidate"`) != strings.HasPrefix(c.row, "? ") {
			t.Errorf("%s: in its row %q, in JSON %s, %v", c.name, got, raw, err)
		}
		if home := st.HomeOf("log", key.ID); home != "hx" {
			t.Errorf("%s: the log speaks of a session of %q", c.name, home)
		}
		if home := st.HomeOf("log", backend.MustID("other")); home != "log" {
			t.Errorf("%s: a session that no list has is of %q", c.name, home)
		}
	}
}

// TestTheInvalidStateOfASandboxIsNamed: the page of a sandbox whose saved state cannot be used says which file that is, and why.
func TestTheInvalidStateOfASandboxIsNamed(t *testing.T) {
	for session, want := range map[string]bool{"0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d": true, "1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d": false} {
		st := agentFleet("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", nil)
		st.Sources[0].Problems = []backend.Problem{{Kind: backend.ErrInvalid, Where: backend.Text("08.json, /sandbox"), What: backend.Text("exec_timeout_s is below 1 s"),
			Subject: backend.Key{Kind: backend.KindRef, Source: "st", Parent: backend.MustID(session), ID: backend.MustID("coder")}}}
		f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
		doc, _ := Doc(backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}, f)
		page := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " ")
		if got := strings.Contains(page, "saved state invalid exec_timeout_s is below 1 s. It is not used: 08.json, /sandbox"); got != want {
			t.Errorf("%s: %v:\n%s", session, got, page)
		}
	}
}

// TestAListedSessionIsACandidateOfASandbox: by the digits of the sandbox's name, where no saved state names one.
func TestAListedSessionIsACandidateOfASandbox(t *testing.T) {
	for listed, want := range map[string]string{"0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d": "a candidate: its id begins with the digits of the name", "1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d": "no saved state names one session that begins so"} {
		f := &views.Frame{Snapshot: views.NewSnapshot(noon, agentFleet(listed, nil), nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
		doc, _ := Doc(backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}, f)
		page := strings.Join(strings.Fields(styles.ReplaceAllString(strings.Join(doc.Layout(f.Theme, 300), "\n"), "")), " ")
		if !strings.Contains(page, want) {
			t.Errorf("%s: the page lacks %q:\n%s", listed, want, page)
		}
	}
}

// TestAnAddressThatWasNotMadeIsNotPublic: nobody can open it.
func TestAnAddressThatWasNotMadeIsNotPublic(t *testing.T) {
	for address, want := range map[string]string{"": "not made: it has no address", "https://x.preview.bl.run": "public: anyone with the address"} {
		p := &backend.Preview{Status: backend.Text("FAILED"), Public: backend.Known(true), URL: backend.Clean(address, 80)}
		if got := access(p, false); got != want {
			t.Errorf("%q: %s, not %s", address, got, want)
		}
	}
}

// TestWhatEndsFirstIsNamedFirst: among the subjects of an alert that are equally bad, whatever their ids.
func TestWhatEndsFirstIsNamedFirst(t *testing.T) {
	at := func(id string, state alerts.AlertState, ends time.Time) SubjectJSON {
		return SubjectJSON{Kind: backend.KindSandbox, ID: backend.MustID(id), State: state, Since: views.At(noon), ends: ends}
	}
	a := AlertJSON{Subjects: []SubjectJSON{at("a", alerts.StateFiring, noon.Add(time.Hour)), at("p", alerts.StatePending, noon), at("z", alerts.StateFiring, noon.Add(time.Minute))}}
	a.Trim()
	if got := a.Subjects[0].ID.Raw() + a.Subjects[1].ID.Raw() + a.Subjects[2].ID.Raw(); got != "zap" {
		t.Errorf("the order is %s", got)
	}
}

// TestABareWordFindsASandboxByTheSessionOfItsRow: also one that only its saved state or its name joins.
func TestABareWordFindsASandboxByTheSessionOfItsRow(t *testing.T) {
	const session = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	saved := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "store", Parent: backend.MustID(session), ID: backend.MustID("coder")}, ReadAt: noon},
		Session: backend.MustID(session), Provider: backend.Text("blaxel"), Agent: &backend.AgentState{}, Sandbox: backend.MustID("agents-0a1b2c3d4e5f")}
	for _, c := range []struct {
		listed string
		state  *backend.Ref
		found  bool
	}{{session, saved, true}, {session, nil, true}, {"1a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", nil, false}} {
		st := agentFleet(c.listed, c.state)
		word, err := filter.Parse("9e0f1a2b3c4d")
		if err != nil {
			t.Fatal(err)
		}
		rows := Sandboxes().NewCursor(views.NewSnapshot(noon, st, nil))
		for b := range st.Sandboxes.All() {
			if rows.Row = b; word.Match(rows) != c.found {
				t.Errorf("%s with the state %v: found %v in %q", c.listed, c.state, !c.found, rows.Text())
			}
		}
	}
}
