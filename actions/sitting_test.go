package actions

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestASessionOfTheNameOfASandboxIsInItsPlan and in its identity while it runs: one that begins after the plan stops the action, one that
// ends does not. Ids of other digits and sessions that are over are left out.
func TestASessionOfTheNameOfASandboxIsInItsPlan(t *testing.T) {
	t.Parallel()
	const first, second = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "0a1b2c3d4e5faaaaaaaaaaaaaaaaaaaa"
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: home, ID: backend.MustID("agents-0a1b2c3d4e5f")}}, IsSandbox: true,
		Name: backend.Text("agents-0a1b2c3d4e5f"), Provider: backend.Text("blaxel")}
	state := func(listed map[string]bool, logged ...string) *fleet.State {
		st := &fleet.State{Wall: now, Sandboxes: fleet.NewTable(box), Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: home}, Inputs: []backend.Input{backend.InputSessions}}}}
		var all []*backend.Session
		for id, runs := range listed {
			all = append(all, &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: home, ID: backend.MustID(id)}}, Running: backend.Known(runs), Status: backend.Text("running")})
		}
		var counts []backend.Count
		for _, id := range logged {
			counts = append(counts, backend.Count{Series: backend.Series{Source: home, Name: backend.MetricNamed, Session: backend.MustID(id)}, At: now.Add(-time.Minute), N: 1})
		}
		st.Sessions, st.Windows = fleet.NewTable(all...), fleet.NewWindows(counts...)
		return st
	}
	identity := func(st *fleet.State) []Fact {
		c := Candidate{Key: box.Key, Identity: []Fact{{"id", "b"}}, Loses: []backend.Safe{backend.Text("its files")}}
		cs, err := NewControl(Options{Spawn: newWorld(t).options().Spawn}).look(t.Context(), reader{c}, Question{State: st})
		if err != nil {
			t.Fatal(err)
		}
		return cs[0].Identity
	}
	for name, c := range map[string]struct {
		st    *fleet.State
		notes []string
	}{
		"one runs":          {state(map[string]bool{first: true}), []string{"session " + first + " is listed as running and may sit on it: its id begins with the digits of the name. It is lost"}},
		"in its other form": {state(map[string]bool{second: true}), []string{"session " + second + " is listed as running and may sit on it"}},
		"two run":           {state(map[string]bool{first: true, second: true}), []string{"session " + second + " is", "session " + first + " is"}},
		"only a log has it": {state(nil, first), []string{"session " + first + " wrote to its log 1m ago and may sit on it"}},
		"it is over":        {state(map[string]bool{first: false}), nil},
		"one is over":       {state(map[string]bool{first: true, second: false}), []string{"session " + first}},
		"other digits":      {state(map[string]bool{"0a1b2c3d-4e60-4a6b-8c7d-9e0f1a2b3c4d": true, "0a1b2c3d-4e5": true, "1a1b2c3d4e5f": true}, "0a1b2c3d-4e60-4a6b-8c7d-9e0f1a2b3c4d"), nil},
	} {
		got := Sitting(c.st, box, "It is lost")
		if !slices.EqualFunc(got, c.notes, func(a backend.Safe, b string) bool { return strings.HasPrefix(a.String(), b) }) {
			t.Errorf("%s: %q", name, got)
		}
		if is := identity(c.st); len(is) != 1+len(c.notes) {
			t.Errorf("%s: %v", name, is)
		}
	}
	none, one, two := identity(state(nil)), identity(state(map[string]bool{first: true})), identity(state(map[string]bool{first: true, second: true}))
	if over(none, one) || !over(one, none) || !over(two, one) || over(one, two) {
		t.Errorf("%v, %v, %v", none, one, two)
	}
	many := map[string]bool{}
	for i := range 9 {
		many[fmt.Sprintf("0a1b2c3d4e5f%020d", i)] = true
	}
	if got := Sitting(state(many), box, "It is lost"); len(got) != mostSitting+1 || got[mostSitting].String() != "4 more live sessions are on it, or may be" {
		t.Errorf("%q", got)
	}
}

// TestASessionWhoseSandboxHasANamesakeIsInThePlanOfEach: which of the two it is on is not known.
func TestASessionWhoseSandboxHasANamesakeIsInThePlanOfEach(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	fold := func(provider string, runs bool) *fleet.State {
		id := backend.MustID("box-one")
		session := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "hx", ID: backend.MustID("s1")}, ReadAt: now}, Running: backend.Known(runs), Status: backend.Text("running")}
		works := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "hx", Parent: session.Key.ID, ID: backend.MustID("w")}, ReadAt: now}}
		works.Provider, works.ProviderID = backend.Clean(provider, 20), id
		var all []backend.Answer
		for _, r := range []*backend.Reading{
			{Source: "hx", Kind: "helix", At: now, Inputs: []backend.Input{backend.InputRegistry, backend.InputSessions}, Sessions: []*backend.Session{session}, Workspaces: []*backend.Workspace{works},
				Scopes: []backend.Scope{{Kind: backend.KindSession, Complete: true}, {Kind: backend.KindWorkspace, Complete: true}}},
			{Source: "bl", Kind: "blaxel", At: now}, {Source: "bl2", Kind: "blaxel", At: now},
		} {
			if r.Kind == "blaxel" {
				r.Inputs, r.Scopes = []backend.Input{backend.InputContainers}, []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}
				r.Sandboxes = []*backend.Sandbox{{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: r.Source, ID: id}, ReadAt: now}, Name: id.Safe(), IsSandbox: true, Provider: backend.Text("blaxel"), Class: backend.SandboxRunning}}
			}
			all = append(all, backend.Answer{Source: r.Source, Config: &backend.SourceConfig{Kind: r.Kind, Interval: time.Minute}}, backend.Answer{Source: r.Source, Reading: r})
		}
		return fleet.NewFolder(time.Minute).Fold(all, backend.Instant{Wall: now})
	}
	for _, source := range []string{"bl", "bl2"} {
		k := backend.Key{Kind: backend.KindSandbox, Source: source, ID: backend.MustID("box-one")}
		st := fold("blaxel", true)
		if got := Sitting(st, st.Sandbox(k), "It is lost"); len(got) != 1 || got[0].String() != "session s1 is listed as running and may sit on it: its workspace names it, and another sandbox is called so too. It is lost" {
			t.Errorf("%s: %q", source, got)
		}
		for _, other := range []*fleet.State{fold("blaxel", false), fold("agentuity", true)} {
			if got := Sitting(other, other.Sandbox(k), "It is lost"); len(got) > 0 {
				t.Errorf("%s: %q", source, got)
			}
		}
	}
}
