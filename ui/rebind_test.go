package ui

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sandglass/actions"
	"sandglass/views/plan"
)

// Keys of the configuration are those of the footer, the help and the palette; what they replace does nothing and says so.
func TestOtherKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 140, h: 40, keys: map[string]map[string][]string{
			"table": {"filter": {"F"}, "sort": {}}, "everywhere": {"screen-sandboxes": {"#"}, "help": {"H"}},
		}})
		see := func(what string) {
			t.Helper()
			if !strings.Contains(s.text(), what) {
				t.Errorf("%q is not on the screen:\n%s", what, s.text())
			}
		}
		see("F filter")
		s.press("/")
		see("/ does nothing here: H shows the keys")
		s.press("#")
		see("# Sandboxes")
		if s.model.screen().Number() != 3 {
			t.Error("# does not open the sandboxes")
		}
		s.press("F")
		s.typed("eval")
		s.press(keyEnter)
		if s.model.screen().FilterText() != "eval" {
			t.Errorf("the filter is %q", s.model.screen().FilterText())
		}
		s.press("H")
		see(":sort by next")
		s.press("Z")
		see("Z does nothing here")
		s.close()
	})
}

// backspace leaves what is typed into when nothing is typed, and deletes text before.
func TestBackspaceLeavesWhatIsEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 100, h: 30})
		for _, opens := range []string{"/", ":"} {
			s.press(opens)
			s.typed("ab")
			s.press("\x7f", "\x7f")
			if len(s.model.stack) != 1 {
				t.Fatalf("%s was left while something was typed:\n%s", opens, s.text())
			}
			s.press("\x7f")
			if len(s.model.stack) != 0 {
				t.Errorf("%s was not left:\n%s", opens, s.text())
			}
		}
		s.close()
	})
}

// A key that is another only in tables is printed as it is on the screen that is shown: in its list of actions, and in details.
func TestVerbsHaveTheKeyOfTheirScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHands()
		c := h.control(t, false)
		h.arm(t, c)
		s := open(t, h.feed, look{w: 120, h: 40, control: c, keys: map[string]map[string][]string{"table": {"pause": {"Z"}}}})
		listed := func(key string) bool {
			l, is := over[*verbList](s.model)
			return is && slices.ContainsFunc(l.verbs, func(v plan.Verb) bool { return v.Spec.Verb == actions.Pause && v.Key == key })
		}
		s.press("3")
		if s.press("x"); !listed("Z") {
			t.Errorf("in a table:\n%s", s.text())
		}
		if s.press("x", keyEnter, "x"); !listed("z") {
			t.Errorf("in details:\n%s", s.text())
		}
		if s.press("x"); !strings.Contains(s.text(), "z pause") || strings.Contains(s.text(), "Z pause") {
			t.Errorf("the details:\n%s", s.text())
		}
		s.close()
	})
}
