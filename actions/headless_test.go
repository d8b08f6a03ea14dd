package actions

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// A plan of the command line is confirmed within its minute, may begin shortly after it, and keeps the reason that came
// with the confirmation.
func TestConfirmationHoldsWhileSourcesAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "notes")
		w.run()
		defer w.end()
		c := operator(w.options())
		in := w.intent("notes")
		in.Headless, in.Reason = true, backend.Safe{}
		slowly := func() Confirmed {
			p := plan(t, c, in)
			time.Sleep(59 * time.Second)
			return confirmed(t, p)
		}
		late := slowly()
		time.Sleep(startWithin + time.Second)
		if _, err := c.start(t.Context(), late); !errors.Is(err, ErrExpired) {
			t.Errorf("half a minute after its confirmation: %v", err)
		}
		ok := slowly()
		time.Sleep(10 * time.Second)
		r, err := c.start(t.Context(), ok.For(backend.Text("quota raised"), me))
		if err != nil {
			t.Fatal(err)
		}
		<-r.Done()
		first := w.journal.entries[0]
		if first.Phase != audit.PhaseIntent || first.Reason.String() != "quota raised" || first.Digest != ok.Plan().Digest {
			t.Errorf("the journal begins with %+v", first)
		}
		if !ok.Plan().Reason.IsEmpty() || !ok.Plan().intact() {
			t.Error("the reason changed the plan that was shown")
		}
	})
}

func TestWhoActsIsWhoTheyClaimToBe(t *testing.T) {
	w := newWorld(t)
	c := operator(w.options())
	if who := c.Who(backend.Text("ann")); who.Claimed.String() != "ann" || who.User != me.User || c.Who(backend.Safe{}) != me {
		t.Errorf("%+v", who)
	}
}

// On an account that several people use, nobody arms a console without a name.
func TestASharedAccountArmsByName(t *testing.T) {
	bubble(t, nil, func(t *testing.T, w *world) {
		c := NewControl(w.options()).As(Person{Who: me, Shared: true}, Everything())
		if _, err := c.Arm(t.Context(), time.Minute, backend.Safe{}, backend.Text("x")); err == nil || !c.NeedsName() {
			t.Fatal("armed without a name")
		}
		a, err := c.Arm(t.Context(), time.Minute, backend.Text("ann"), backend.Text("x"))
		if err != nil || a.Who.Claimed.String() != "ann" || c.Who(backend.Safe{}) != a.Who {
			t.Errorf("%+v, %v", a, err)
		}
		if got := w.journal.entries; len(got) != 1 || got[0].Who != a.Who {
			t.Errorf("the journal has %+v", got)
		}
	})
}

// Whoever confirms a plan that somebody else made is who acted: the journal names both.
func TestWhoConfirmsIsWhoActed(t *testing.T) {
	ann, bob := me, me
	ann.Claimed, bob.Claimed = backend.Text("ann"), backend.Text("bob")
	nameless, elsewhere := me, me
	elsewhere.SudoUser = backend.Text("bob")
	for name, x := range map[string]struct {
		confirms, acted audit.Who
		both            bool
	}{
		"herself": {ann, ann, false}, "somebody else": {bob, bob, true}, "the same account, nameless": {nameless, ann, false},
		"another account, nameless": {elsewhere, elsewhere, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
				c := operator(w.options())
				in := w.intent("notes")
				in.Headless, in.Who = true, ann
				p := plan(t, c, in)
				ok := confirmed(t, p)
				r, err := c.start(t.Context(), ok.For(backend.Safe{}, x.confirms))
				if err != nil {
					t.Fatal(err)
				}
				<-r.Done()
				for _, e := range w.journal.entries {
					if e.Who != x.acted {
						t.Errorf("%s by %+v", e.Phase, e.Who)
					}
				}
				made := ""
				for _, f := range w.journal.entries[0].Facts {
					if f.Name.String() == "plan made by" {
						made = f.Value.String()
					}
				}
				if want := "mara@bastion, claims to be ann"; x.both && made != want || !x.both && made != "" {
					t.Errorf("the plan was made by %q", made)
				}
				if p.Who != ann || !p.intact() {
					t.Error("the plan that was shown changed")
				}
			})
		})
	}
}

// A name that is no text, which anybody can give a directory, neither spoils a plan that is kept nor gets into it.
func TestKeptPlanWithANameThatIsNoText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "notes", "odd\xff")
		w.run()
		defer w.end()
		c := operator(w.options())
		in := w.intent("notes", "odd\xff")
		in.Headless = true
		p := plan(t, c, in)
		if len(p.Targets) != 1 || len(p.Excluded) != 1 || p.Excluded[0].Key != key("odd\xff") {
			t.Fatalf("%+v", p)
		}
		if err := c.Keep(p); err != nil {
			t.Fatal(err)
		}
		if kept, err := c.Kept(p.Digest); err != nil || len(kept.Targets) != 1 {
			t.Errorf("%+v, %v", kept, err)
		}
	})
}
