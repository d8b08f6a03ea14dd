package actions

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// Whatever an effect follows, and what came of it, is on the disk before anything else happens.
func TestWhatIsDoneIsOnTheDisk(t *testing.T) {
	bubble(t, names(2), func(t *testing.T, w *world) {
		r := w.start(w.armed(), w.intent(names(2)...))
		<-r.Done()
		for i, d := range w.journal.lasting {
			if d != audit.Synced {
				t.Errorf("record %d, %s, may be lost with the machine", i+1, w.journal.entries[i].Phase)
			}
		}
	})
}

// A stop that comes while a target is read again counts before its effect.
func TestAStopWhileATargetIsReadComesFirst(t *testing.T) {
	bubble(t, names(2), func(t *testing.T, w *world) {
		var r *Run
		w.onLook = func(string) { r.Stop(backend.Text("operator")) }
		c := w.armed()
		p := plan(t, c, w.intent(names(2)...))
		ability, err := c.ability(home, Reset)
		if err != nil {
			t.Fatal(err)
		}
		r = newRun(c.control, p, ability)
		r.carryOut(t.Context())
		if got := w.acted(); len(got) != 0 {
			t.Errorf("acted on %v after the stop", got)
		}
	})
}

func TestThreeUnknownInARowBreakTheRun(t *testing.T) {
	bubble(t, names(40), func(t *testing.T, w *world) {
		n := 0
		w.onDo = func(e *entry) error {
			if n++; n > 5 {
				return &UncertainError{errors.New("connection lost")}
			}
			cure(e)
			return nil
		}
		r := w.start(w.armed(), w.intent(names(40)...))
		<-r.Done()
		if p := r.Progress(); p.Count(ResultUnknown) != 3 || p.Acted() != 8 || !strings.Contains(p.Why.String(), "3 failures in a row") {
			t.Errorf("%s: %s", p.Why, p.Summary())
		}
	})
}

// A fifth of the targets may have changed, and not one more.
func TestAFifthMayHaveChanged(t *testing.T) {
	for changed, skipped := range map[int]int{4: 4, 5: 5, 6: 5} {
		bubble(t, names(20), func(t *testing.T, w *world) {
			w.onLook = func(name string) {
				if name >= fmt.Sprintf("ws-%03d", 5) && name < fmt.Sprintf("ws-%03d", 5+changed) {
					w.change(func() { w.entries[name].success = time.Now().Add(-time.Minute) })
				}
			}
			r := w.start(w.armed(), w.intent(names(20)...))
			<-r.Done()
			if p := r.Progress(); p.Count(ResultSkipped) != skipped || (p.Phase == PhaseStopped) != (changed > 4) {
				t.Errorf("%d of 20 changed: %s, %s: %s", changed, p.Phase, p.Why, p.Summary())
			}
		})
	}
}

// An alert that comes up while the rate limit holds a target back stops the plan like any other.
func TestAnAlertDuringTheRateLimitStops(t *testing.T) {
	bubble(t, names(12), func(t *testing.T, w *world) {
		o := w.options()
		o.Abilities[0].Spec.PerMinute = 5
		c := operator(o)
		if _, err := c.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err != nil {
			t.Fatal(err)
		}
		r := w.start(c, w.intent(names(12)...))
		time.Sleep(30 * time.Second)
		if p := r.Progress(); len(w.acted()) != 5 || !strings.Contains(p.Why.String(), "at most 5 a minute") {
			t.Fatalf("acted on %v; %s", w.acted(), p.Why)
		}
		w.change(func() {
			w.concerns = []Concern{{ID: "a1", Rule: "possible-leak", Source: home, Firing: true, Critical: true, Since: time.Now()}}
		})
		<-r.Done()
		if len(w.acted()) != 5 || !strings.Contains(r.Progress().Why.String(), "a new critical alert") {
			t.Errorf("acted on %v; %s", w.acted(), r.Progress().Why)
		}
	})
}

// A new critical alert about the source alone does not hold the first target up: it may be what the plan is there for.
// After the first effect it may be the plan's own doing.
func TestANewAlertAboutTheSourceStopsAfterTheFirstEffect(t *testing.T) {
	bubble(t, names(6), func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent(names(6)...))
		time.Sleep(5 * time.Second)
		w.change(func() {
			w.concerns = []Concern{{ID: "a1", Rule: "restart-storm-ahead", Source: home, Firing: true, Critical: true, Since: time.Now(),
				Subjects: []backend.Key{key("another")}}}
		})
		r := begin(t, c, p)
		<-r.Done()
		if len(w.acted()) != 1 || !strings.Contains(r.Progress().Why.String(), "a new critical alert: restart-storm-ahead") {
			t.Errorf("acted on %v; %s", w.acted(), r.Progress().Why)
		}
	})
}
