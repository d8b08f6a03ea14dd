package actions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// Two viewers of one person share what is carried out, and nothing of how they come to it.
func TestTwoViewersOfOnePersonAreTwo(t *testing.T) {
	bubble(t, names(3), func(t *testing.T, w *world) {
		o := w.options()
		o.Process = "4711"
		control := NewControl(o)
		one, two := control.As(Person{Who: me}, Everything()), control.As(Person{Who: me}, Everything())
		if one.ID() != "4711.1" || two.ID() != "4711.2" {
			t.Fatalf("viewers %s and %s", one.ID(), two.ID())
		}
		if _, err := one.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("incident 7")); err != nil {
			t.Fatal(err)
		}
		if _, armed := two.Armed(); armed {
			t.Error("the second viewer is armed by the first")
		}
		p := plan(t, one, w.intent("ws-000"))
		ok := confirmed(t, p)
		if err := two.Start(t.Context(), ok); err == nil || !strings.Contains(err.Error(), "another viewer") {
			t.Errorf("the second viewer started the first one's plan: %v", err)
		}
		if err := two.Start(t.Context(), confirmed(t, plan(t, two, w.intent("ws-001")))); !errors.Is(err, ErrNotArmed) {
			t.Errorf("the second viewer, not armed: %v", err)
		}
		changed, stop := two.Subscribe()
		defer stop()
		if err := one.Start(t.Context(), ok); err != nil {
			t.Fatal(err)
		}
		<-changed
		mine, _ := one.Progress()
		theirs, going := two.Progress()
		if !mine.Own || !going || theirs.Own || theirs.Plan != p {
			t.Errorf("own %t and %t, going %t", mine.Own, theirs.Own, going)
		}
		if two.Continue(p.Digest) == nil || two.Stop(p.Digest, backend.Text("x")) == nil || one.Stop("0123456789abcdef", backend.Text("x")) == nil {
			t.Error("a run was steered by who did not confirm it")
		}
		<-control.Current().Done()
		if got := w.journal.entries; len(got) != 6 {
			t.Errorf("the journal has %v", w.journal.phases())
		}
		for _, e := range w.journal.entries {
			if e.Who.Viewer.String() != "4711.1" {
				t.Errorf("%s by viewer %s", e.Phase, e.Who.Viewer)
			}
		}
	})
}

// A viewer that goes stops its own plan and disarms itself; the others go on.
func TestOneViewerLeavesTheOthersAlone(t *testing.T) {
	bubble(t, names(40), func(t *testing.T, w *world) {
		control := NewControl(w.options())
		one, two := control.As(Person{Who: me}, Everything()), control.As(Person{Who: me}, Everything())
		for _, o := range []*Operator{one, two} {
			if _, err := o.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err != nil {
				t.Fatal(err)
			}
		}
		if err := one.Start(t.Context(), confirmed(t, plan(t, one, w.intent(names(40)...)))); err != nil {
			t.Fatal(err)
		}
		run := control.Current()
		time.Sleep(time.Second)
		if err := two.Hangup(t.Context(), backend.Text("the viewer left")); err != nil {
			t.Fatal(err)
		}
		if run.Over() {
			t.Fatal("the second viewer's end stopped the first one's plan")
		}
		late := confirmed(t, plan(t, one, w.intent("ws-039")))
		if err := one.Hangup(t.Context(), backend.Text("the terminal was lost")); err != nil {
			t.Fatal(err)
		}
		if p := run.Progress(); p.Phase != PhaseStopped || p.Why.String() != "the terminal was lost" {
			t.Errorf("%s: %s", p.Phase, p.Why)
		}
		for name, o := range map[string]*Operator{"one": one, "two": two} {
			if _, armed := o.Armed(); armed {
				t.Errorf("%s is armed after its end", name)
			}
			if _, err := o.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err == nil {
				t.Errorf("%s was armed after its end", name)
			}
		}
		if err := one.Start(t.Context(), late); err == nil {
			t.Error("a plan began after its viewer's end")
		}
		three := control.As(Person{Who: me}, Everything())
		if _, err := three.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err != nil {
			t.Fatal(err)
		}
		if err := three.Start(t.Context(), confirmed(t, plan(t, three, w.intent("ws-030")))); err != nil {
			t.Errorf("a third viewer cannot act: %v", err)
		}
		<-control.Current().Done()
		disarmed := 0
		for _, e := range w.journal.entries {
			if e.Phase == audit.PhaseArmed && e.Verb == "disarm" {
				disarmed++
			}
		}
		if disarmed != 2 {
			t.Errorf("%d disarms in the journal", disarmed)
		}
	})
}

func TestPermissions(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		control := NewControl(w.options())
		for name, x := range map[string]struct {
			may Permissions
			why string // empty: it may
			arm string // in the refusal to arm; empty: it arms
		}{
			"everything":       {Everything(), "", ""},
			"one verb":         {Permissions{Access: Act, Grants: []Grant{{Verb: Reset}}}, "", ""},
			"one source":       {Permissions{Access: Act, Grants: []Grant{{Source: home}}}, "", ""},
			"another verb":     {Permissions{Access: Act, Grants: []Grant{{Verb: Destroy}}}, "mara may not reset on " + home + "; ask the operator of this Sandglass for the permission to reset there", "mara may not reset on"},
			"another source":   {Permissions{Access: Act, Grants: []Grant{{Reset, "elsewhere"}}}, "mara may not reset on", "mara may not reset on"},
			"no grant":         {Permissions{Access: Act}, "mara may not reset on", "mara may not reset on"},
			"acknowledge":      {Permissions{Access: Acknowledge, Grants: []Grant{{}}}, "mara may look and acknowledge, not act here; ask the operator", "mara may look and acknowledge"},
			"read-only":        {ReadOnly(), "this console is read-only: start it", "this console is read-only"},
			"nothing was said": {Permissions{}, "mara may only look here; ask the operator of this Sandglass for the permission to act", "mara may only look"},
		} {
			o := control.As(Person{Who: me}, x.may)
			if o.CanAct() != (x.why == "") {
				t.Errorf("%s: can act %t", name, o.CanAct())
			}
			for _, a := range o.All() {
				if got := a.Denied.String(); !strings.HasPrefix(got, x.why) || (got == "") != (x.why == "") {
					t.Errorf("%s: denied %q", name, got)
				}
			}
			p, err := o.Plan(t.Context(), w.intent("notes"))
			var denied *DeniedError
			if (err == nil) != (x.why == "") || err != nil && !errors.As(err, &denied) {
				t.Errorf("%s: planned %v", name, err)
			}
			if _, err := o.Arm(t.Context(), time.Minute, backend.Safe{}, backend.Text("x")); (err == nil) != (x.arm == "") || err != nil && !strings.Contains(err.Error(), x.arm) {
				t.Errorf("%s: arming: %v", name, err)
			}
			if p != nil {
				continue
			}
			p = plan(t, control.As(Person{Who: me}, Everything()), w.intent("notes")) // somebody else's
			if err := o.Start(t.Context(), confirmed(t, p)); !errors.As(err, &denied) {
				t.Errorf("%s: started: %v", name, err)
			}
		}
		if len(w.acted()) != 0 {
			t.Errorf("acted on %v", w.acted())
		}
	})
}
