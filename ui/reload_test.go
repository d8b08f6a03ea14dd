package ui

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/theme"
)

// Other settings take effect while the console runs, and the footer says which; what a command changed stays as long as the file
// says the same about it.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var next *Reloaded
		var asked []bool
		tell := func(r *Reloaded) {
			mu.Lock()
			defer mu.Unlock()
			next = r
		}
		s := openViewer(t, incidentFeed(), look{w: 140, h: 40}, func(v *Viewer) {
			v.Reload = func(a bool) *Reloaded {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, a)
				r := next
				next = nil
				return r
			}
		})
		wait := func() {
			time.Sleep(3 * time.Second)
			s.settle()
		}
		wait()
		mu.Lock()
		looked := len(asked)
		mu.Unlock()
		if looked == 0 || looked > 2 || s.model.say != "" {
			t.Errorf("looked %d times in three seconds, says %q", looked, s.model.say)
		}
		set := Settings{Keys: map[string]map[string][]string{"table": {"filter": {"Z"}}}, Theme: "none",
			Views: []View{{Name: "mine", Screen: "sandboxes", Look: views.Look{}}}}
		tell(&Reloaded{Settings: set, Applied: []string{"[ui]", "[keys]", "[[view]]"}, Restart: []string{`[[source]] "helix-eu"`}})
		s.press("?")
		wait()
		s.press("?") // leaves the help
		if want := `reloaded: [ui], [keys], [[view]]; restart to apply: [[source]] "helix-eu"`; !strings.Contains(s.text(), want) {
			t.Errorf("no %q:\n%s", want, s.text())
		}
		if s.model.frame.Theme.Colours != theme.NoColours {
			t.Error("the theme is the old one")
		}
		s.press("/")
		if s.model.context() == keys.FilterLine {
			t.Error("the old key works")
		}
		s.press("Z")
		if s.model.context() != keys.FilterLine {
			t.Errorf("the new key does not work:\n%s", s.text())
		}
		s.press("\x03", ":")
		s.typed("view mine")
		s.press(keyEnter)
		if s.model.screen().Number() != 3 {
			t.Error("the new view is not there")
		}
		s.press(":")
		s.typed("theme colour-blind")
		s.press(keyEnter)
		set.LocalTime = true
		tell(&Reloaded{Settings: set, Applied: []string{"time"}})
		wait()
		if !s.model.viewer.LocalTime || s.model.viewer.Theme != "colour-blind" {
			t.Errorf("local time %v, theme %q", s.model.viewer.LocalTime, s.model.viewer.Theme)
		}
		s.close()
	})
}

// The mistakes of a file stay above the screen until it is right, or esc says that they were read.
func TestReloadOfAWrongFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var next atomic.Pointer[Reloaded]
		s := openViewer(t, incidentFeed(), look{w: 100, h: 30}, func(v *Viewer) {
			v.Theme = "colour-blind"
			v.Reload = func(bool) *Reloaded { return next.Load() }
		})
		reload := func() {
			s.press(":")
			s.typed("reload")
			s.press(keyEnter)
		}
		wrong := &Reloaded{Problem: []backend.Safe{backend.Text("config.toml:3:9: \"ui.theme\": no theme"), backend.Text("b"), backend.Text("c"), backend.Text("d")}}
		next.Store(wrong)
		reload()
		for _, want := range []string{" config.toml:3:9: ", "and 2 more mistakes: ", "not reloaded: the configuration read before stays in force"} {
			if !strings.Contains(s.text(), want) {
				t.Errorf("no %q:\n%s", want, s.text())
			}
		}
		if s.model.viewer.Theme != "colour-blind" {
			t.Errorf("the theme is %q", s.model.viewer.Theme)
		}
		next.Store(&Reloaded{Settings: Settings{Theme: "colour-blind"}})
		reload()
		if strings.Contains(s.text(), "not reloaded") || !strings.Contains(s.text(), "as it was read before") {
			t.Errorf("the mistake is mended:\n%s", s.text())
		}
		next.Store(wrong)
		reload()
		next.Store(nil)
		s.press(keyEsc)
		time.Sleep(time.Second)
		s.settle()
		if strings.Contains(s.text(), "not reloaded") {
			t.Errorf("esc did not take it away:\n%s", s.text())
		}
		s.close()
		none := open(t, incidentFeed(), look{w: 100, h: 30})
		none.press(":")
		none.typed("reload")
		none.press(keyEnter)
		if !strings.Contains(none.text(), "no configuration file is in use") {
			t.Error(none.text())
		}
		none.close()
	})
}
