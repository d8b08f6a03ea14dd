package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions"
	"sandglass/backend"
)

// gestures are plans of every gesture, lightest first.
func gestures(t *testing.T, h *hands) []*actions.Plan {
	t.Helper()
	o := h.control(t, false)
	state, _ := h.feed.Latest()
	var failed, boxes []backend.Key
	for w := range state.Workspaces.All() {
		if w.Class == backend.ClassFailed && w.Key.Source == "helix-eu" {
			failed = append(failed, w.Key)
		}
	}
	for b := range state.Sandboxes.All() {
		boxes = append(boxes, b.Key)
	}
	var plans []*actions.Plan
	for _, in := range []actions.Intent{{Verb: actions.Pause, Source: "docker-local", Keys: boxes[:1]}, {Verb: actions.Reset, Source: "helix-eu", Keys: failed[:1]},
		{Verb: actions.Destroy, Source: "docker-local", Keys: boxes[:1]}, {Verb: actions.Pause, Source: "docker-local", Keys: boxes[:3]}} {
		p, err := o.Plan(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Open()) > 0 || int(p.Gesture) != len(plans) {
			t.Fatalf("%s: gesture %d, refused %v", in.Verb, p.Gesture, p.Open())
		}
		plans = append(plans, p)
	}
	return plans
}

func gestureOf(p *actions.Plan, key string, pressed time.Time) *gesture {
	g := &gesture{Confirming: actions.NewConfirming(p, pressed), key: key}
	g.Drawn(pressed)
	return g
}

func (g *gesture) write(text string, now time.Time) {
	for _, r := range text {
		g.press(string(r), string(r), now)
	}
}

func (g *gesture) confirms(now time.Time) bool {
	ok, _, _ := g.enter(actions.Intent{}, now)
	return ok.Plan() != nil
}

func TestKeysMakeTheTextThatConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, p := range gestures(t, newHands())[1:] {
			began := time.Now()
			later := began.Add(time.Second)
			g := gestureOf(p, "", began)
			g.write(p.Wants(), began.Add(299*time.Millisecond)) // meant for something else
			if g.typed() != "" || g.confirms(later) {
				t.Errorf("%s: keys of the first 300 ms counted", p.Wants())
			}
			g.write(p.Wants()+"x", later)
			if g.confirms(later) || g.typed() != "" {
				t.Errorf("%s: a wrong text confirmed, or left %q", p.Wants(), g.typed())
			}
			g.write(p.Wants(), later)
			g.paste()
			if g.confirms(later) {
				t.Errorf("%s: confirmed after a paste", p.Wants())
			}
			g.press("", p.Wants(), later) // a whole text that arrives as one key is a paste without brackets
			if g.confirms(later) {
				t.Errorf("%s: a text that came at once confirmed", p.Wants())
			}
			g.write("no", later)
			g.press("ctrl+u", "", later)
			g.write(p.Wants()+"x", later)
			g.press("backspace", "", later)
			if !g.confirms(later) {
				t.Errorf("%s: not confirmed", p.Wants())
			}
		}
	})
}

func TestALightKeyIsPressedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		light := gestures(t, newHands())[0]
		began := time.Now()
		for keys, want := range map[string]bool{"p": true, "xp": false, "xpp": true, "\rp": false, "Pp": false} {
			g, now, done := gestureOf(light, "p", began), began, false
			if !g.Pressed(began.Add(actions.TwiceWithin)) || g.Pressed(began.Add(actions.TwiceWithin+1)) {
				t.Error("the key that opened it is the first press for 5 s, and no longer")
			}
			for _, r := range keys {
				now = now.Add(time.Second)
				if r == '\r' {
					if _, _, err := g.enter(actions.Intent{}, now); err == nil || !strings.Contains(err.Error(), "enter does not confirm it: press p twice within 5 s") {
						t.Errorf("enter: %v", err)
					}
					continue
				}
				_, ok := g.press(string(r), string(r), now)
				done = done || ok
			}
			if done != want {
				t.Errorf("%q: confirmed %t", keys, done)
			}
		}
	})
}

// Every reply that a terminal sends by itself, cut at every place, twice, and with an enter behind it, confirms nothing.
func TestRepliesAsKeysNeverConfirm(t *testing.T) {
	replies := []string{
		"\x1b[?2026;2$y", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\", "\x1b]11;rgb:eeee/eeee/eeee\x07", "\x1b[?62;22;52c", "\x1b[12;40R",
		"\x1b[?1;2c", "\x1bP>|xterm(370)\x1b\\", "\x1b[?997;1n", "\x1b[I", "\x1b[O",
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		for _, p := range gestures(t, newHands()) {
			for _, reply := range replies {
				for cut := range len(reply) {
					for _, key := range []string{"p", "s", "u"} { // of light confirmations: no letter of a reply
						g, now := gestureOf(p, key, began), began.Add(time.Second)
						for _, r := range strings.Repeat(reply[cut:], 2) {
							now = now.Add(100 * time.Microsecond)
							if _, ok := g.press(string(r), string(r), now); ok {
								t.Errorf("%s, key %s: the reply %q confirmed", p.Verb, key, reply[cut:])
							}
						}
						if g.confirms(now) {
							t.Errorf("%s: the reply %q and enter confirmed", p.Verb, reply[cut:])
						}
					}
				}
			}
		}
	})
}

// A second press that comes too fast to be one is told, and the next one confirms.
func TestATooFastPressIsTold(t *testing.T) {
	acts(t, Size{100, 30}, func(h *hands) *actions.Operator {
		c := h.control(t, false)
		h.arm(t, c)
		return c
	}, func(s *screen, h *hands, c *actions.Operator) {
		s.press("3", "x", "p") // chosen in the list: its key was not pressed for the plan yet
		s.ready()
		if s.press("p"); s.dialog() == nil || strings.Contains(s.text(), "too fast") {
			t.Errorf("the first press:\n%s", s.text())
		}
		if s.press("p"); !strings.Contains(s.text(), "too fast to be a second press: press p again") {
			t.Errorf("the second press is not told:\n%s", s.text())
		}
		time.Sleep(400 * time.Millisecond)
		if s.press("p"); s.dialog() != nil {
			t.Errorf("not confirmed:\n%s", s.text())
		}
	})
}
