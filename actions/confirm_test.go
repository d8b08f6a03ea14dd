package actions

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// replies are what terminals send by themselves: mode 2026, OSC 11 (background), DA1, cursor position, and the same cut
// so that the tail arrives as keys.
var replies = []string{
	"\x1b[?2026;2$y", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]11;rgb:eeee/eeee/eeee\x07", "\x1b[?62;22;52c", "\x1b[12;40R",
	"\x1b[?1;2c", "\x1bP>|xterm(370)\x1b\\", "\x1b[?997;1n", "\x1b[I", "\x1b[O",
}

func sealed(g Gesture, made time.Time) *Plan {
	p := &Plan{Schema: PlanSchema, Verb: Destroy, Gesture: g, Short: "web-eval", Made: made, Targets: []Target{{Name: "web-eval-12"}}}
	p.seal()
	return p
}

func opened(p *Plan, at time.Time) *Confirming {
	c := NewConfirming(p, at)
	c.Drawn(at)
	return c
}

// enter hands a text to the gesture; it reports whether that confirmed.
func enter(c *Confirming, text string, now time.Time) (Confirmed, error) {
	ok, again, err := c.Enter(text, Intent{}, now)
	switch {
	case err == nil && again != nil:
		err = errors.New("another plan is asked for")
	case err == nil && ok.Plan() == nil:
		err = errors.New("there is nothing to confirm")
	case err != nil && ok.Plan() != nil:
		panic("confirmed with an error")
	}
	return ok, err
}

func TestTheRightTextAndEnterConfirm(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for _, g := range []Gesture{GestureYes, GestureName, GestureCount} {
		p := sealed(g, began)
		c := opened(p, began)
		later := began.Add(time.Second)
		if _, err := enter(c, "", later); err == nil {
			t.Errorf("gesture %d: enter alone confirmed", g)
		}
		for n := range p.Wants() {
			for _, near := range []string{p.Wants()[:n], p.Wants()[n+1:], strings.ToUpper(p.Wants()), p.Wants() + " ", p.Wants() + "x"} {
				if near == p.Wants() {
					continue
				}
				if _, err := enter(c, near, later); err == nil {
					t.Errorf("gesture %d: %q confirmed instead of %q", g, near, p.Wants())
				}
			}
		}
		if _, ok := c.Press(later); ok {
			t.Errorf("gesture %d: a press confirmed", g)
		}
		if got, err := enter(c, p.Wants(), later); err != nil || got.Plan() != p {
			t.Errorf("gesture %d: %v", g, err)
		}
	}
}

func TestADialogArmsAfterItWasDrawn(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	p := sealed(GestureYes, began)
	c := NewConfirming(p, began)
	if _, err := enter(c, "yes", began.Add(time.Second)); !errors.Is(err, ErrTooEarly) {
		t.Errorf("before the dialog was drawn: %v", err)
	}
	c.Drawn(began)
	if _, err := enter(c, "yes", began.Add(299*time.Millisecond)); !errors.Is(err, ErrTooEarly) {
		t.Errorf("within 300 ms: %v", err)
	}
	if _, err := enter(c, "yes", began.Add(300*time.Millisecond)); err != nil {
		t.Error(err)
	}
	if ok, again, err := opened(p, began).Enter("yes", Intent{Verb: Destroy}, began.Add(2*time.Minute)); again == nil || again.Verb != Destroy || err != nil || ok.Plan() != nil {
		t.Errorf("an expired plan: %+v, %v, %v", ok, again, err)
	}
}

// TestTerminalRepliesNeverConfirm feeds every reply, cut at every place, once and twice, into every gesture.
func TestTerminalRepliesNeverConfirm(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for _, g := range []Gesture{GestureTwice, GestureYes, GestureName, GestureCount} {
		for _, reply := range replies {
			for cut := range len(reply) {
				for n := 1; n <= 2; n++ {
					if _, err := enter(opened(sealed(g, began), began), strings.Repeat(reply[cut:], n), began.Add(time.Second)); err == nil {
						t.Errorf("gesture %d: the reply %q confirmed", g, reply[cut:])
					}
				}
			}
		}
	}
}

func TestALightConfirmationIsTwoPresses(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	press := func(steps ...any) bool {
		c := opened(sealed(GestureTwice, began), began)
		now := began
		done := false
		for _, s := range steps {
			switch s := s.(type) {
			case time.Duration:
				now = now.Add(s)
			case string:
				switch s {
				case "p":
					if _, ok := c.Press(now); ok {
						done = true
					}
				case "enter":
					if _, err := enter(c, "", now); !errors.Is(err, ErrTwice) {
						t.Errorf("enter: %v", err)
					}
				default:
					c.Interrupt()
				}
			}
		}
		return done
	}
	for name, c := range map[string]struct {
		steps []any
		want  bool
	}{
		"the opening press and one more": {[]any{400 * time.Millisecond, "p"}, true},
		"too soon":                       {[]any{100 * time.Millisecond, "p"}, false},
		"too late":                       {[]any{6 * time.Second, "p"}, false},
		"too late, then again":           {[]any{6 * time.Second, "p", time.Second, "p"}, true},
		"held down":                      {[]any{400 * time.Millisecond, "x", "p", 30 * time.Millisecond, "p"}, false},
		"another key between":            {[]any{400 * time.Millisecond, "x", time.Second, "p"}, false},
		"enter between":                  {[]any{400 * time.Millisecond, "enter", time.Second, "p"}, false},
	} {
		if got := press(c.steps...); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestPurgingAtOnceIsAChoiceOfItsOwn(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		verb  Verb
		now   bool
		typed string
		want  bool
	}{{Clean, false, WordPurgeNow, true}, {Clean, false, "purge", false}, {Clean, true, WordPurgeNow, false}, {Destroy, false, WordPurgeNow, false}} {
		p := sealed(GestureCount, began)
		p.Verb, p.Params.PurgeNow = c.verb, c.now
		p.seal()
		_, again, err := opened(p, began).Enter(c.typed, Intent{}, began.Add(time.Second))
		if got := again != nil && again.Params.PurgeNow; got != c.want || (err == nil) != c.want {
			t.Errorf("%s, at once %t, %q: %+v, %v", c.verb, c.now, c.typed, again, err)
		}
	}
}

func TestWhatAFilterHidesIsIncludedByName(t *testing.T) {
	bubble(t, []string{"notes", "notebook-7", "notebook-71", "mail"}, func(t *testing.T, w *world) {
		c := operator(w.options())
		in := w.intent("notes")
		in.Hidden = []backend.Key{key("notebook-7"), key("notebook-71"), key("mail")}
		for _, x := range []struct {
			typed, want string // empty: nothing
			asked       bool
		}{
			{"with s1/mail", "mail", true}, {"with s1/notebook-7", "notebook-7", true}, {"with s1/notebook-71", "notebook-71", true},
			{"with s1/noteb", "", true}, {"with s1", "", true}, {"with ", "", true}, {"with s1/notes", "", true}, {"yes", "", false}, {"s1/mail", "", false},
		} {
			p := plan(t, c, in)
			if len(p.Targets) != 1 || len(p.Hidden()) != 3 {
				t.Fatalf("targets %v, left out %v", p.Targets, p.Excluded)
			}
			g := NewConfirming(p, time.Time{})
			g.Drawn(time.Now())
			time.Sleep(time.Second)
			_, again, err := g.Enter(x.typed, in, time.Now())
			if (again != nil) != (x.want != "") || x.asked && again == nil && err == nil || again != nil && again.Named[0] != key(x.want) {
				t.Errorf("%q: %+v, %v", x.typed, again, err)
				continue
			}
			if again != nil {
				if p := plan(t, c, *again); len(p.Targets) != 2 || p.Targets[1].Key != key(x.want) || len(p.Hidden()) != 2 || p.Gesture != GestureCount {
					t.Errorf("%q: targets %v, left out %v", x.typed, p.Targets, p.Excluded)
				}
			}
		}
	})
}

func TestALightPlanThatLeavesSomethingHiddenAsksForAWord(t *testing.T) {
	bubble(t, []string{"notes", "mail"}, func(t *testing.T, w *world) {
		o := w.options()
		o.Abilities[0].Spec.Gesture = GestureTwice
		in := w.intent("notes")
		if p := plan(t, operator(o), in); p.Gesture != GestureTwice {
			t.Errorf("gesture %d", p.Gesture)
		}
		in.Hidden = []backend.Key{key("mail")}
		if p := plan(t, operator(o), in); p.Gesture != GestureYes {
			t.Errorf("gesture %d", p.Gesture)
		}
	})
}

// A clock that is set back while the dialog is there gives no second more to confirm.
func TestAClockThatIsSetBackGivesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drawn := time.Now()
		time.Sleep(59 * time.Second)
		for _, x := range []struct {
			gesture Gesture
			ok      bool
		}{{GestureYes, true}, {GestureYes, false}, {GestureTwice, false}} {
			c := NewConfirming(sealed(x.gesture, time.Now().Add(-5*time.Second)), time.Time{}) // by the clock it is young
			c.Drawn(drawn)
			if x.gesture == GestureTwice {
				c.Press(time.Now())
				time.Sleep(time.Second)
				if _, ok := c.Press(time.Now()); ok {
					t.Error("a light gesture confirmed")
				}
				continue
			}
			if _, err := enter(c, "yes", time.Now()); (err == nil) != x.ok || c.Expired(time.Now()) == x.ok {
				t.Errorf("%s after it was drawn: %v", time.Since(drawn), err)
			}
			time.Sleep(2 * time.Second)
		}
	})
}
