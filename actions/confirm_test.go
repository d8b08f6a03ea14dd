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
	c := NewConfirming(p, "p", at)
	c.Drawn(at)
	return c
}

func typeIn(c *Confirming, text string, now time.Time) {
	for _, r := range text {
		c.Key(string(r), string(r), now)
	}
}

func TestTheRightTextAndEnterConfirm(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for _, g := range []Gesture{GestureYes, GestureName, GestureCount} {
		p := sealed(g, began)
		c := opened(p, began)
		later := began.Add(time.Second)
		if _, err := c.Enter(later); err == nil {
			t.Errorf("gesture %d: enter alone confirmed", g)
		}
		for n := range p.Wants() {
			for _, near := range []string{p.Wants()[:n], p.Wants()[n+1:], strings.ToUpper(p.Wants()), p.Wants() + " "} {
				if near == p.Wants() || near == "" {
					continue
				}
				typeIn(c, near, later)
				if _, err := c.Enter(later); err == nil {
					t.Errorf("gesture %d: %q confirmed instead of %q", g, near, p.Wants())
				}
			}
		}
		typeIn(c, p.Wants()+"x", later)
		if _, err := c.Enter(later); err == nil || c.Typed() != "" {
			t.Errorf("gesture %d: a wrong text: %v, left %q", g, err, c.Typed())
		}
		typeIn(c, p.Wants()+"x", later)
		c.Key("backspace", "", later)
		if got, err := c.Enter(later); err != nil || got.Plan() != p {
			t.Errorf("gesture %d: %v", g, err)
		}
	}
}

func TestADialogArmsAfterItWasDrawn(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	p := sealed(GestureYes, began)
	c := NewConfirming(p, "", began)
	typeIn(c, "yes", began.Add(time.Hour))
	if c.Typed() != "" {
		t.Error("keys counted before the dialog was drawn")
	}
	c.Drawn(began)
	typeIn(c, "yes", began.Add(299*time.Millisecond))
	if _, err := c.Enter(began.Add(299 * time.Millisecond)); err == nil || c.Typed() != "" {
		t.Error("keys counted within 300 ms")
	}
	typeIn(c, "yes", began.Add(300*time.Millisecond))
	if _, err := c.Enter(began.Add(301 * time.Millisecond)); err != nil {
		t.Error(err)
	}
	if _, err := opened(p, began).Enter(began.Add(2 * time.Minute)); err == nil {
		t.Error("an expired plan was confirmed")
	}
}

func TestPastedTextNeverConfirms(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for _, g := range []Gesture{GestureYes, GestureName, GestureCount} {
		c := opened(sealed(g, began), began)
		typeIn(c, c.Wants(), began.Add(time.Second))
		c.Paste()
		if _, err := c.Enter(began.Add(time.Second)); err == nil {
			t.Errorf("gesture %d: confirmed after a paste", g)
		}
		// A whole text that arrives as one key is a paste without brackets.
		c.Key("", c.Wants(), began.Add(time.Second))
		if _, err := c.Enter(began.Add(time.Second)); err == nil {
			t.Errorf("gesture %d: a text that came at once confirmed", g)
		}
	}
}

// TestTerminalRepliesNeverConfirm feeds every reply, cut at every place, once and twice, with and without an enter
// between, into every gesture.
func TestTerminalRepliesNeverConfirm(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	n := 0
	for _, g := range []Gesture{GestureTwice, GestureYes, GestureName, GestureCount} {
		for _, reply := range replies {
			for cut := range len(reply) {
				for _, key := range lightKeys {
					c := NewConfirming(sealed(g, began), key, began)
					c.Drawn(began)
					now := began.Add(time.Second)
					for _, r := range strings.Repeat(reply[cut:], 2) + "\r" {
						n++
						now = now.Add(100 * time.Microsecond)
						name := string(r)
						if r == '\r' {
							if _, err := c.Enter(now); err == nil {
								t.Errorf("gesture %d: the reply %q confirmed", g, reply[cut:])
							}
							continue
						}
						if _, ok := c.Key(name, name, now); ok {
							t.Errorf("gesture %d, key %s: the reply %q confirmed", g, key, reply[cut:])
						}
					}
				}
			}
		}
	}
	if n < 1000 {
		t.Fatal("nothing was fed")
	}
}

// lightKeys are what light confirmations may use: no letter of a terminal's reply.
var lightKeys = []string{"p", "s", "u"}

func TestALightConfirmationIsTheSameKeyTwice(t *testing.T) {
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
				if _, ok := c.Key(s, s, now); ok {
					done = true
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
		x := opened(p, began)
		typeIn(x, c.typed, began.Add(time.Second))
		if got := x.Purges(began.Add(time.Second)); got != c.want {
			t.Errorf("%s, at once %t, %q: %t", c.verb, c.now, c.typed, got)
		}
		if _, err := x.Enter(began.Add(time.Second)); err == nil {
			t.Errorf("%q confirmed the plan", c.typed)
		}
	}
}

func TestWhatAFilterHidesIsIncludedByName(t *testing.T) {
	bubble(t, []string{"notes", "notebook-7", "notebook-71", "mail"}, func(t *testing.T, w *world) {
		c := NewControl(w.options())
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
			g := NewConfirming(p, "r", time.Time{})
			g.Drawn(time.Now())
			time.Sleep(time.Second)
			for _, r := range x.typed {
				g.Key(string(r), string(r), time.Now())
			}
			k, asked, err := g.Include(time.Now())
			if asked != x.asked || (err == nil && asked) != (x.want != "") || x.want != "" && k != key(x.want) {
				t.Errorf("%q: %v, asked %t, %v", x.typed, k, asked, err)
				continue
			}
			if x.want != "" {
				in := in
				in.Named = []backend.Key{k}
				if p := plan(t, c, in); len(p.Targets) != 2 || p.Targets[1].Key != k || len(p.Hidden()) != 2 || p.Gesture != GestureCount {
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
		if p := plan(t, NewControl(o), in); p.Gesture != GestureTwice {
			t.Errorf("gesture %d", p.Gesture)
		}
		in.Hidden = []backend.Key{key("mail")}
		if p := plan(t, NewControl(o), in); p.Gesture != GestureYes {
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
			c := NewConfirming(sealed(x.gesture, time.Now().Add(-5*time.Second)), "p", time.Time{}) // by the clock it is young
			c.Drawn(drawn)
			typeIn(c, "yes", time.Now())
			_, err := c.Enter(time.Now())
			if x.gesture == GestureTwice {
				c.Key("p", "p", time.Now())
				time.Sleep(time.Second)
				if _, ok := c.Key("p", "p", time.Now()); ok {
					t.Error("a light gesture confirmed")
				}
				continue
			}
			if (err == nil) != x.ok || !x.ok && !errors.Is(err, ErrExpired) || c.Expired(time.Now()) == x.ok {
				t.Errorf("%s after it was drawn: %v", time.Since(drawn), err)
			}
			time.Sleep(2 * time.Second)
		}
	})
}
