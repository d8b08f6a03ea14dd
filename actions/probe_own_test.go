package actions

import (
	"context"
	"testing"

	"sandglass/backend"
)

// hanging is a probe of sandboxes of which none answers.
type hanging struct{ *world }

func (h hanging) Do(_ context.Context, t Target, _ Params) (Done, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, t.Key.ID.Raw())
	return Concluded([]backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, What: backend.Text("its server did not answer")}})
}

// TestAProbeThatHangsDoesNotStopTheOthers: that a sandbox answers nothing is its own failure; an outage is when one probes many.
func TestAProbeThatHangsDoesNotStopTheOthers(t *testing.T) {
	bubble(t, names(6), func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent(names(6)...))
		ability, err := c.ability(home, Reset)
		if err != nil {
			t.Fatal(err)
		}
		p.Verb = Probe
		ability.Part.Open = func(context.Context) (Effect, error) { return hanging{w}, nil }
		r := newRun(c.control, p, ability)
		r.carryOut(t.Context())
		if x := r.Progress(); len(w.acted()) != 6 || x.Count(ResultFailed) != 6 || x.Phase != PhaseDone {
			t.Errorf("%s, %s: %s; acted on %v", x.Phase, x.Why, x.Summary(), w.acted())
		}
	})
}
