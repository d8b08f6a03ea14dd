package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/colorprofile"

	"sandglass/views/theme"
)

// What the terminal tells of its background changes the colours; it is asked once, and not where there are none.
func TestBackgroundIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, incidentFeed(), look{w: 80, h: 24})
		before := s.text()
		if cmd := askBackground(s.model); cmd != nil {
			t.Error("it is asked again")
		}
		for reply, on := range map[string]theme.Background{"\x1b]11;rgb:1e1e/1e1e/1e1e\x07": theme.Dark, "\x1b]11;rgb:ffff/ffff/ffff\x07": theme.Light} {
			s.press(reply)
			if want := theme.NewWith(theme.TwoFiftySix, theme.Unicode, theme.Standard, on).Open(theme.Dim, false); s.model.looks.background != on || s.model.frame.Theme.Open(theme.Dim, false) != want {
				t.Errorf("%q: background %d", reply, s.model.looks.background)
			}
			if s.text() != before {
				t.Errorf("the text changed:\n%s", s.text())
			}
		}
		s.close()
		plain := openViewer(t, incidentFeed(), look{w: 80, h: 24}, func(v *Viewer) { v.Theme = "none" })
		if plain.model.looks.asked || strings.Contains(string(plain.golden(plain.whole())), "fg ") {
			t.Errorf("none asks, or draws colours:\n%s", plain.golden(plain.whole()))
		}
		plain.close()
		mono := open(t, incidentFeed(), look{w: 80, h: 24, profile: colorprofile.ASCII})
		if mono.model.looks.asked {
			t.Error("a terminal without colours is asked for its background")
		}
		mono.close()
	})
}

// Every theme draws the same text, so that no state is told by its colour alone.
func TestThemesDrawTheSameText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		s := openViewer(t, incidentFeed(), look{w: 120, h: 40}, func(v *Viewer) { v.Now = func() time.Time { return now } })
		before := s.rows(s.body())
		styles := map[string]bool{}
		for _, name := range theme.Palettes() {
			s.press(":")
			s.typed("theme " + name)
			s.press(keyEnter)
			if !strings.Contains(s.text(), "theme "+name) {
				t.Errorf("%s is not said:\n%s", name, s.text())
			}
			for i, line := range s.rows(s.body()) {
				if line != before[i] {
					t.Errorf("%s draws %q, not %q", name, line, before[i])
				}
			}
			styles[s.styles(s.whole())] = true
		}
		if len(styles) != len(theme.Palettes()) {
			t.Errorf("%d looks of %d themes", len(styles), len(theme.Palettes()))
		}
		s.press(":")
		s.typed("theme solarized")
		s.press(keyEnter)
		if want := `"solarized" is not a theme: default, high-contrast, colour-blind, none`; !strings.Contains(s.text(), want) || s.model.viewer.Theme != "none" {
			t.Errorf("%q:\n%s", s.model.viewer.Theme, s.text())
		}
		s.close()
	})
}
