package actions

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// TestProperties runs random worlds, with failing readings, failing effects and targets that change between plan and
// act, and holds what must be true of every one of them:
// no effect without a confirmed, unexpired, unused plan; none on a target that changed; an error never adds a target; and
// at most one effect on each target.
func TestProperties(t *testing.T) {
	seeds := 60
	if testing.Short() {
		seeds = 10
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { oneWorld(t, rand.New(rand.NewPCG(uint64(seed), 7))) })
		})
	}
}

func oneWorld(t *testing.T, rnd *rand.Rand) {
	n := 1 + rnd.IntN(30)
	all := names(n)
	w := newWorld(t, all...)
	w.run()
	defer w.end()
	changed := map[string]bool{} // since the plan
	w.onLook = func(name string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		switch rnd.IntN(8) {
		case 0: // it becomes another one
			w.entries[name].success = w.entries[name].success.Add(time.Second)
			changed[name] = true
		case 1: // somebody else cured it
			cure(w.entries[name])
			changed[name] = true
		case 2:
			w.down = !w.down
		}
	}
	w.onDo = func(e *entry) error {
		if changed[e.name] {
			t.Errorf("an effect on %s, which changed since the plan", e.name)
		}
		switch rnd.IntN(6) {
		case 0:
			return errors.New("500")
		case 1:
			return &UncertainError{context.DeadlineExceeded}
		case 2:
			return &ChangedError{backend.Text("etag")}
		case 3:
			return nil // accepted, and nothing happens
		}
		cure(e)
		return nil
	}
	c := operator(w.options())
	if rnd.IntN(4) > 0 {
		if _, err := c.Arm(t.Context(), time.Duration(1+rnd.IntN(120))*time.Second, backend.Safe{}, backend.Text("x")); err != nil {
			t.Fatal(err)
		}
	}
	chosen := all[:1+rnd.IntN(n)]
	for _, name := range all {
		if rnd.IntN(6) == 0 {
			w.change(func() { cure(w.entries[name]) })
		}
	}
	w.change(func() { w.down = rnd.IntN(5) == 0 })
	time.Sleep(time.Duration(rnd.IntN(8)) * time.Second)
	p, err := c.Plan(t.Context(), w.intent(chosen...))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Targets {
		if !slices.Contains(chosen, x.Key.ID.Raw()) {
			t.Errorf("%s was not chosen and is a target", x.Key)
		}
	}
	_, armed := c.Armed()
	wait := time.Duration(rnd.IntN(90)) * time.Second
	time.Sleep(wait)
	ok, err := ConfirmDigest(p, p.Digest, time.Now())
	legal := wait <= ConfirmWithin+time.Second && len(p.Targets) > 0
	if err == nil && !legal {
		t.Errorf("a plan of %s ago with %d targets was confirmed", wait, len(p.Targets))
	}
	_, still := c.Armed()
	r, err := c.start(t.Context(), ok)
	if err == nil && (!legal || !armed || !still) {
		t.Errorf("started: legal %t, armed %t, still %t", legal, armed, still)
	}
	if err != nil {
		if len(w.acted()) != 0 {
			t.Errorf("%v, and yet %v was acted on", err, w.acted())
		}
		return
	}
	for range 10 {
		time.Sleep(40 * time.Second)
		r.Continue()
	}
	r.Stop(backend.Text("the test has seen enough"))
	<-r.Done()
	w.change(func() { w.down = false })
	if _, err := c.start(t.Context(), ok); err == nil {
		t.Error("a plan was used twice")
	}
	checkEffects(t, w, p, r)
}

func checkEffects(t *testing.T, w *world, p *Plan, r *Run) {
	seen := map[string]bool{}
	for _, name := range w.acted() {
		if seen[name] {
			t.Errorf("%s was acted on twice", name)
		}
		seen[name] = true
		if !slices.ContainsFunc(p.Targets, func(x Target) bool { return x.Key.ID.Raw() == name }) {
			t.Errorf("%s was acted on and is no target", name)
		}
	}
	s := r.Progress()
	for _, l := range s.Lines {
		if l.Result == ResultVerified && l.Issued.IsZero() {
			t.Errorf("%s is verified and was never begun", l.Target.Label)
		}
	}
	if len(s.Lines) > 1 && s.Acted() > 1 && s.Lines[0].Result == ResultFailed {
		t.Error("the second wave followed on a failed canary")
	}
}
