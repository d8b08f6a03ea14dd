package ui

import (
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"sandglass/views"
)

// What is shown is saved under a name, and opened by it from another screen, in the palette and in the jump.
func TestSaveAndOpenAView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var disk Kept
		s := openViewer(t, incidentFeed(), look{w: 120, h: 30}, func(v *Viewer) {
			v.Keep = func(change func(*Kept)) error { change(&disk); return nil }
			v.Views = []View{{Name: "mine", Screen: "sandboxes", Look: views.Look{Filter: "state:running"}}}
		})
		command := func(text string) {
			s.press(":")
			s.typed(text)
			s.press(keyEnter)
		}
		s.press("2", "/")
		s.typed("state:failed")
		s.press(keyEnter)
		command("order -workspace")
		command("save broken ones")
		want := View{Name: "broken ones", Screen: "workspaces", Look: views.Look{Filter: "state:failed", Sort: "-workspace"}}
		if !reflect.DeepEqual(disk.Views, []View{want}) || !strings.Contains(s.text(), `saved as "broken ones": :view broken ones opens it`) {
			t.Errorf("%+v\n%s", disk, s.text())
		}
		s.press("\x7f", "1")
		command("view brok")
		if s.model.screen().Number() != 2 || !reflect.DeepEqual(s.model.screen().Look(), want.Look) {
			t.Errorf("opened %s as %+v", s.model.screen().Name(), s.model.screen().Look())
		}
		s.press("f")
		s.typed("mine")
		s.press(keyEnter)
		if s.model.screen().Number() != 3 || s.model.screen().FilterText() != "state:running" {
			t.Errorf("the jump opened %s with %q", s.model.screen().Name(), s.model.screen().FilterText())
		}
		for text, say := range map[string]string{
			"view nosuch": `"nosuch" is not one view: mine, broken ones`, "save mine": "is a view of the configuration",
			"forget mine": "is a view of the configuration", "view": "write a name after it: mine, broken ones",
		} {
			command(text)
			if !strings.Contains(s.text(), say) {
				t.Errorf("%s does not say %q:\n%s", text, say, s.text())
			}
		}
		command("forget broken ones")
		if len(disk.Views) != 0 || len(s.model.kept.Views) != 0 {
			t.Errorf("still there: %+v", disk.Views)
		}
		s.close()
	})
}

// Without a place to keep things a view lasts as long as the console, and that is said.
func TestSaveAViewWithoutAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 140, h: 30})
		s.press("3", ":")
		s.typed("save here")
		s.press(keyEnter)
		if len(s.model.kept.Views) != 1 || !strings.Contains(s.text(), "only until this console ends: there is no state directory") {
			t.Errorf("%+v\n%s", s.model.kept, s.text())
		}
		s.close()
	})
}

func TestCheckView(t *testing.T) {
	for _, c := range []struct {
		view     View
		key, why string
	}{
		{View{Name: "a", Screen: "alerts"}, "", ""},
		{View{Screen: "alerts"}, "name", "needs a name"},
		{View{Name: "a\x1b", Screen: "alerts"}, "name", "cannot be shown"},
		{View{Name: strings.Repeat("x", 41), Screen: "alerts"}, "name", "at most 40"},
		{View{Name: "a", Screen: "alrts"}, "screen", `"alrts" is not a screen: alerts, workspaces`},
		{View{Name: "a", Screen: "alerts", Look: views.Look{Sort: "nosuch"}}, "sort", "is not the name of a column"},
	} {
		if key, why := CheckView(c.view); key != c.key || !strings.Contains(why, c.why) {
			t.Errorf("%+v: %s: %s", c.view, key, why)
		}
	}
}
