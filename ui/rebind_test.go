package ui

import (
	"strings"
	"testing"
	"testing/synctest"
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
