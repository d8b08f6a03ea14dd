package test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/actions/operator"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// fixedFeed is a Feed of one moment.
type fixedFeed struct{ state *fleet.State }

func (o fixedFeed) Snapshot() actions.Snapshot { return actions.Snapshot{State: o.state} }
func (fixedFeed) Subscribe() (<-chan struct{}, func()) {
	return make(chan struct{}), func() {}
}
func (fixedFeed) Wake(string)          {}
func (fixedFeed) Reread(backend.Key)   {}
func (fixedFeed) Attend([]backend.Key) {}

func (fixedFeed) Append(context.Context, audit.Entry, audit.Durability) (audit.Receipt, error) {
	return audit.Receipt{}, nil
}

func (fixedFeed) AppendPaced(context.Context, audit.Entry, audit.Durability, audit.Pace) (audit.Receipt, error) {
	return audit.Receipt{}, nil
}

// Look calls nothing of no use to anybody but what the lookers of the program do: failed entries and what nobody owns.
func (fixedFeed) Look(_ context.Context, q actions.Question) []actions.Candidate {
	var out []actions.Candidate
	for _, k := range q.Keys {
		c := actions.Candidate{Key: k}
		switch e := q.State.Entity(k).(type) {
		case *backend.Workspace:
			c.Useless = e.Class == backend.ClassFailed
		case *backend.Tmpdir:
			c.Useless = true
		case nil:
			c.Why = backend.Text("it is not listed")
		}
		out = append(out, c)
	}
	return out
}

// rightActions is what the runbook tells an operator to do about each incident, as verbs and the subjects to do it to.
func rightActions() map[string][]rightAction {
	failed := func(s *fleet.State) (keys []backend.Key) {
		for w := range s.Workspaces.All() {
			if w.Class == backend.ClassFailed {
				keys = append(keys, w.Key)
			}
		}
		return keys
	}
	about := func(kind backend.Kind, prefix string) func(s *fleet.State) []backend.Key {
		return func(s *fleet.State) (keys []backend.Key) {
			switch kind {
			case backend.KindSession:
				for x := range s.Sessions.All() {
					if strings.HasPrefix(x.Key.ID.Raw(), prefix) {
						keys = append(keys, x.Key)
					}
				}
			case backend.KindWorkspace:
				for x := range s.Workspaces.All() {
					if strings.HasPrefix(x.Key.Parent.Raw(), prefix) {
						keys = append(keys, x.Key)
					}
				}
			case backend.KindSandbox:
				for x := range s.Sandboxes.All() {
					if strings.HasPrefix(x.Session.Raw(), prefix) {
						keys = append(keys, x.Key)
					}
				}
			case backend.KindTmpdir:
				for x := range s.Tmpdirs.All() {
					keys = append(keys, x.Key)
				}
			}
			return keys
		}
	}
	return map[string][]rightAction{
		"1": {{actions.Reset, failed}},
		"2": {{"restore-checkpoint", about(backend.KindWorkspace, "s2")}},
		"3": {{"bound-opens", about(backend.KindSession, "s3")}, {"close-workspace", about(backend.KindWorkspace, "s3")}},
		"4": {{actions.Destroy, about(backend.KindSandbox, "s4")}, {actions.Stop, about(backend.KindSandbox, "s4")}},
		"5": {{actions.Clean, about(backend.KindTmpdir, "")}},
		"6": {{actions.Reset, failed}},
		"7": {{"bound-opens", about(backend.KindSession, "s7")}},
		"8": {{"interrupt-session", about(backend.KindSession, "s8")}},
		"9": {{"interrupt-session", about(backend.KindSession, "s9")}},
	}
}

type rightAction struct {
	verb actions.Verb
	on   func(*fleet.State) []backend.Key
}

// specOf finds a verb of the program or of the examples for [[action]].
func specOf(t *testing.T, verb actions.Verb) actions.Spec {
	t.Helper()
	for _, k := range effects() {
		for _, s := range k.Specs {
			if s.Verb == verb {
				return s
			}
		}
	}
	for _, e := range operator.Examples() {
		if actions.Verb(e.Name) == verb {
			return actions.Spec{Verb: verb, Of: backend.Kind(e.Block.Of), Title: e.Name, Cap: actions.CapShare, Custom: true}
		}
	}
	t.Fatalf("there is no verb %s", verb)
	return actions.Spec{}
}

// TestNoCapHoldsTheRightActionUp makes the plan that the runbook asks for about each of its incidents, on the State that a
// console reads there: no limit of numbers may refuse it.
func TestNoCapHoldsTheRightActionUp(t *testing.T) {
	right := rightActions()
	for _, i := range nineIncidents() {
		t.Run(i.number+" "+i.name, func(t *testing.T) {
			t.Parallel()
			s := newIncidentSite(t)
			i.make(s)
			s.write()
			state := s.watch(s.everything(), 2).state
			for _, a := range right[i.number] {
				keys := a.on(state)
				if len(keys) == 0 {
					t.Fatalf("%s: the State has nothing to do it to", a.verb)
				}
				feed, spec := fixedFeed{state}, specOf(t, a.verb)
				c := actions.NewControl(actions.Options{Environment: "incidents", StateDir: t.TempDir(), Feed: feed, Journal: feed, Now: time.Now, Spawn: backend.NewSpawner(nil),
					Abilities: []actions.Ability{{Source: keys[0].Source, Spec: spec, Part: actions.Part{Targets: feed, ReadsItself: true}}}}).As(actions.Person{}, actions.Everything())
				p, err := c.Plan(t.Context(), actions.Intent{Verb: a.verb, Source: keys[0].Source, Keys: keys})
				if err != nil {
					t.Fatal(err)
				}
				if len(p.Targets) != len(keys) || len(p.Refusals) != 0 {
					t.Errorf("%s on %d: %d targets, refused because %v", a.verb, len(keys), len(p.Targets), p.Refusals)
				}
			}
		})
	}
	// A limit that never holds is none: the same verb on what works is refused.
	s := newIncidentSite(t)
	s.write()
	state := s.watch(s.everything(), 2).state
	var keys []backend.Key
	for x := range state.Sessions.All() {
		keys = append(keys, x.Key)
	}
	feed := fixedFeed{state}
	c := actions.NewControl(actions.Options{StateDir: t.TempDir(), Feed: feed, Journal: feed, Now: time.Now, Spawn: backend.NewSpawner(nil),
		Abilities: []actions.Ability{{Source: keys[0].Source, Spec: specOf(t, "interrupt-session"), Part: actions.Part{Targets: feed, ReadsItself: true}}}}).As(actions.Person{}, actions.Everything())
	p, err := c.Plan(t.Context(), actions.Intent{Verb: "interrupt-session", Source: keys[0].Source, Keys: keys})
	if err != nil || !slices.ContainsFunc(p.Refusals, func(r actions.Refusal) bool { return strings.Contains(r.Why.String(), "more than a quarter") }) {
		t.Errorf("all %d working sessions: %v, %v", len(keys), p.Refusals, err)
	}
}
