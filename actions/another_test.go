package actions

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestATargetThatIsAnotherOneIsToldAsThat, with when it was started or made, whatever else changed; what these facts do not tell is told by
// the first fact that changed.
func TestATargetThatIsAnotherOneIsToldAsThat(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 12, 0, 0, 5e6, time.UTC)
	of := func(state, container string, started time.Time) []Fact {
		return []Fact{{"state", state}, {FactContainer, container}, {FactStarted, Born(started)}}
	}
	for name, c := range map[string]struct {
		was, is []Fact
		want    string
	}{
		"started again":     {of("running", "c0", at), of("running", "c0", at.Add(time.Millisecond)), "its container is another one, started at 2026-01-01T12:00:00.006Z"},
		"another container": {of("running", "c0", at), of("starting", "c5", at.Add(time.Hour)), "its container is another one, started at 2026-01-01T13:00:00.005Z"},
		"no time is told":   {of("running", "c0", time.Time{}), of("running", "c5", time.Time{}), "its container is another one"},
		"the first one":     {of("unknown", "", time.Time{}), of("running", "c0", at), "it has a container now, started at 2026-01-01T12:00:00.005Z"},
		"the same one":      {of("running", "c0", at), of("stopped", "c0", at), "state was running and is stopped"},
		"none any more":     {of("running", "c0", at), of("running", "", time.Time{}), "container was c0 and is "},
		"made again":        {[]Fact{{"status", "DEPLOYED"}, {FactCreated, Born(at)}}, []Fact{{"status", "DEPLOYED"}, {FactCreated, Born(at.Add(time.Hour))}}, "it is another one of the same name, created at 2026-01-01T13:00:00.005Z"},
		"a session began":   {of("running", "c0", at), append(of("running", "c0", at), Fact{factSession, "s2"}), "session s2 runs on it now"},
		"one of its name":   {of("running", "c0", at), append(of("running", "c0", at), Fact{factCandidate, "s2"}), "session s2 runs now and may sit on it"},
	} {
		if got := difference(c.was, c.is).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// reader is a TargetReader that says the same of every question.
type reader []Candidate

func (r reader) Look(context.Context, Question) []Candidate { return slices.Clone(r) }

// TestTheSessionThatRunsOnASandboxIsOfItsIdentity where the sandbox loses something: one that begins after the plan stops the action, one
// that ends does not.
func TestTheSessionThatRunsOnASandboxIsOfItsIdentity(t *testing.T) {
	t.Parallel()
	id, s1, s2 := Fact{"id", "b"}, Fact{factSession, "s1"}, Fact{factSession, "s2"}
	box := backend.Key{Kind: backend.KindSandbox, Source: home, ID: backend.MustID("b")}
	shared := false
	look := func(loses bool, running ...string) []Fact {
		var sessions []*backend.Session
		h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: home}, Inputs: []backend.Input{backend.InputSessions}}
		st := &fleet.State{Sources: []*fleet.SourceHealth{h}, Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}})}
		for _, name := range running {
			k := backend.Key{Kind: backend.KindSession, Source: home, ID: backend.MustID(name)}
			sessions = append(sessions, &backend.Session{Meta: backend.Meta{Key: k}, Running: backend.Known(true)})
			st.Sandboxes = fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}, Session: k.ID})
		}
		st.Sessions = fleet.NewTable(sessions...)
		if shared {
			var named []*backend.Workspace
			for _, name := range []string{"s1", "s2", "s3"} {
				named = append(named, &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: backend.MustID(name), ID: backend.MustID("w")}}, WorkspaceFacts: backend.WorkspaceFacts{ProviderID: box.ID}})
			}
			st.Workspaces, st.Sandboxes = fleet.NewTable(named...), fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}, IsSandbox: true})
		}
		c := Candidate{Key: box, Identity: []Fact{id}}
		if loses {
			c.Loses = []backend.Safe{backend.Text("its files")}
		}
		cs, err := NewControl(Options{Spawn: newWorld(t).options().Spawn}).look(t.Context(), reader{c}, Question{State: st})
		if err != nil {
			t.Fatal(err)
		}
		return cs[0].Identity
	}
	for name, c := range map[string]struct {
		was, is []Fact
		stops   bool
	}{
		"none":               {look(true), look(true), false},
		"one begins":         {look(true), look(true, "s1"), true},
		"one goes on":        {look(true, "s1"), look(true, "s1"), false},
		"one ends":           {look(true, "s1"), look(true), false},
		"another one begins": {look(true, "s1"), look(true, "s2"), true},
		"nothing is lost":    {look(false), look(false, "s1"), false},
	} {
		if got := !slices.Equal(c.was, c.is) && !over(c.was, c.is); got != c.stops {
			t.Errorf("%s: %v, then %v: stops %t", name, c.was, c.is, got)
		}
	}
	if got := look(true, "s1"); !slices.Equal(got, []Fact{id, s1}) || slices.Equal(look(true, "s2"), got) || over([]Fact{id, s1}, []Fact{id, s2}) {
		t.Errorf("%v", got)
	}
	shared = true // several sessions are on it
	for name, c := range map[string]struct {
		was, is []Fact
		stops   bool
	}{
		"one of two ends":      {look(true, "s1", "s2"), look(true, "s2"), false},
		"both end":             {look(true, "s1", "s2"), look(true), false},
		"a third begins":       {look(true, "s1", "s2"), look(true, "s1", "s2", "s3"), true},
		"a third for a second": {look(true, "s1", "s2"), look(true, "s1", "s3"), true},
	} {
		if got := !slices.Equal(c.was, c.is) && !over(c.was, c.is); got != c.stops {
			t.Errorf("shared, %s: %v, then %v: stops %t", name, c.was, c.is, got)
		}
	}
	if got := difference(look(true, "s1", "s2"), look(true, "s1", "s2", "s3")).String(); !strings.HasPrefix(got, "session s3 runs on it now") {
		t.Error(got)
	}
}
