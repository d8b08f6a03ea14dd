package actions

import (
	"context"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// running is a probe of sandboxes whose commands run; known is what is known of them before it.
type running struct {
	*world
	known Snapshot
}

func (r running) Snapshot() Snapshot {
	s := r.world.Snapshot()
	s.NoneBegins = r.known.NoneBegins
	return s
}

func (r running) Do(_ context.Context, t Target, _ Params) (Done, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.did = append(r.did, t.Key.ID.Raw())
	return Concluded([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, What: backend.Text("true ran in /workspace")}})
}

// TestAProbeBesideTheLogOfAnAgentIsNoHealth: of one in which no command of the agent begins the probe is not verified, and says so; the
// others are looked at all the same, and are healthy.
func TestAProbeBesideTheLogOfAnAgentIsNoHealth(t *testing.T) {
	bubble(t, names(6), func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent(names(6)...))
		ability, err := c.ability(home, Reset)
		if err != nil {
			t.Fatal(err)
		}
		p.Verb, p.Headless = Probe, true
		first := p.Targets[0]
		effect := running{w, Snapshot{NoneBegins: []backend.Key{first.Key}}}
		c.control.opt.Feed = effect
		ability.Spec.Verb, ability.Part.Verifier = Probe, nil
		ability.Part.Open = func(context.Context) (Effect, error) { return effect, nil }
		r := newRun(c.control, p, ability)
		r.carryOut(t.Context())
		x := r.Progress()
		for i := range x.Lines {
			l := &x.Lines[i]
			beside := l.Target.Key == first.Key
			want := "healthy; not tried: control, filesystem"
			if beside {
				want = "a probe's commands run; its agent's log says that none begins. That is no health. See: sandglass why " + first.Label.String()
			}
			if (l.Result == ResultVerified) == beside || l.Text.String() != want {
				t.Errorf("%s: %s, %s", l.Target.Label, l.Result, l.Text)
			}
		}
		if len(w.acted()) != 6 || x.Count(ResultVerified) != 5 || x.Count(ResultUnverified) != 1 || x.Phase != PhaseDone {
			t.Errorf("%s, %s: %s; acted on %v", x.Phase, x.Why, x.Summary(), w.acted())
		}
	})
}

// TestTheFirstCommandsAfterAFaultEndTheWordOfTheLog: they prove that the fault is gone which an action had found; in a linked directory
// the commands of a probe prove nothing of those of a session.
func TestTheFirstCommandsAfterAFaultEndTheWordOfTheLog(t *testing.T) {
	k := backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("aaaa")}
	for was, wants := range map[backend.Outcome]map[string]bool{backend.OutcomeOK: {"": true, "/mnt/r2, and has 1 entry": true}, backend.OutcomeFailed: {"": false, "/mnt/r2, and has 1 entry": true}} {
		for link, want := range wants {
			b := (&backend.Sandbox{Meta: backend.Meta{Key: k}, Provider: backend.Text("cloudflare")}).WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: was, At: time.Now()}})
			found := []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK}}
			if link != "" {
				found = append(found, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, What: backend.Textf("%s%s", backend.Text(backend.RootIsLink), backend.Clean(link, 60))})
			}
			d := Done{Proved: true, Observed: found}
			d.besideAgent(&Snapshot{State: &fleet.State{Sandboxes: fleet.NewTable(b)}, NoneBegins: []backend.Key{k}}, Target{Key: k, Label: backend.Text("aaaa")})
			if said := strings.Contains(d.Text.String(), "its agent's log says that none begins"); said != want || d.Proved == want {
				t.Errorf("%s, link %q: %q, proved %v", was, link, d.Text, d.Proved)
			}
		}
	}
}
