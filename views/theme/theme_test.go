package theme

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func allColours() []Colours { return []Colours{NoColours, Sixteen, TwoFiftySix, TrueColour} }

// Every sign is one cell wide and every tone is closed by Reset, in every tier; only palette indexes are used.
func TestTiers(t *testing.T) {
	for _, c := range allColours() {
		for _, g := range []Glyphs{Unicode, ASCII} {
			th := New(c, g)
			seen := map[string]Mark{}
			for m := MarkNone; m < markCount; m++ {
				s := th.Mark(m)
				if ansi.StringWidth(s) != 1 {
					t.Errorf("mark %d %q is not one cell wide", m, s)
				}
				if other, twice := seen[s]; twice {
					t.Errorf("marks %d and %d look the same: %q", m, other, s)
				}
				seen[s] = m
				if g == ASCII && th.Fit(s) != s {
					t.Errorf("mark %q on an ASCII terminal", s)
				}
			}
			for tone := Normal; tone < toneCount; tone++ {
				for _, cursor := range []bool{false, true} {
					open := th.Open(tone, cursor)
					if strings.Contains(open, "38;2") || strings.Contains(open, "48;2") {
						t.Errorf("tone %d opens with a mixed colour: %q", tone, open)
					}
					for _, code := range strings.Split(strings.Trim(open, "\x1b[m"), ";") {
						if c == NoColours && len(code) > 1 { // attributes have one digit, colours two
							t.Errorf("tone %d has a colour without colours: %q", tone, open)
						}
					}
					if cursor && open == "" {
						t.Errorf("tone %d does not show the cursor", tone)
					}
				}
			}
			if th.Spark(0) == th.Spark(0.999) || ansi.StringWidth(th.Spark(0.5)) != 1 {
				t.Error("sparkline levels")
			}
		}
	}
}

func TestFitKeepsWidths(t *testing.T) {
	th := New(NoColours, ASCII)
	for _, s := range []string{"plain", "a – b…", "┌─┐", "≥9.1 GB ↓", "名前.txt", "é", "x \u0301y", "‹masked›"} {
		got := th.Fit(s)
		if ansi.StringWidth(got) != ansi.StringWidth(s) || !isASCII(got) {
			t.Errorf("Fit(%q) = %q: %d cells, want %d", s, got, ansi.StringWidth(got), ansi.StringWidth(s))
		}
	}
}

func TestGlyphsOf(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want Glyphs
	}{
		{map[string]string{"LANG": "en_US.UTF-8"}, Unicode}, {map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, ASCII},
		{map[string]string{"LC_CTYPE": "de_DE.utf8", "LANG": "C"}, Unicode}, {nil, Unicode}, {map[string]string{"TERM": "linux"}, ASCII},
	} {
		if got := GlyphsOf(func(n string) string { return c.env[n] }); got != c.want {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}
