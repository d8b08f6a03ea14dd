package theme

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
)

// rgb is a colour of the table that all terminals with 256 colours share, from 0 to 1 and linear.
func rgb(index int) (c [3]float64) {
	levels := [6]int{0, 95, 135, 175, 215, 255}
	v := [3]int{8 + 10*(index-232), 8 + 10*(index-232), 8 + 10*(index-232)}
	if index < 232 {
		v = [3]int{levels[(index-16)/36], levels[(index-16)/6%6], levels[(index-16)%6]}
	}
	for i, x := range v {
		if c[i] = float64(x) / 255; c[i] <= 0.04045 {
			c[i] /= 12.92
		} else {
			c[i] = math.Pow((c[i]+0.055)/1.055, 2.4)
		}
	}
	return c
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is that of WCAG, from 1 to 21.
func contrast(a, b [3]float64) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x, y) / min(x, y)
}

var indexed = regexp.MustCompile(`([34])8;5;(\d+)`)

// drawn is what an opening sequence draws with; found is false where the terminal's own colour stays.
func drawn(open, layer string) (c [3]float64, found bool) {
	for _, m := range indexed.FindAllStringSubmatch(open, -1) {
		if m[1] == layer {
			n, _ := strconv.Atoi(m[2])
			return rgb(n), true
		}
	}
	return c, false
}

// Every tone can be read on the background that the terminal told, and as well as possible on one that it did not tell.
func TestContrast(t *testing.T) {
	dark, light := rgb(234), rgb(231)
	for p := Standard; p <= ColourBlind; p++ {
		for _, c := range []struct {
			on     Background
			ground [3]float64
			least  float64
		}{{Dark, dark, 4.5}, {Light, light, 4.5}, {Unknown, dark, 2.9}, {Unknown, light, 2.9}} {
			if p == HighContrast && c.on != Unknown {
				c.least = 7
			}
			th := NewWith(TwoFiftySix, Unicode, p, c.on)
			for tone := Normal; tone < toneCount; tone++ {
				for _, cursor := range []bool{false, true} {
					ink, has := drawn(th.Open(tone, cursor), "3")
					ground, own := drawn(th.Open(tone, cursor), "4")
					if !own {
						ground = c.ground
					}
					if got := contrast(ink, ground); has && got < c.least {
						t.Errorf("%s, background %d, tone %d, cursor %v: contrast %.1f, want %.1f", p.Name(), c.on, tone, cursor, got, c.least)
					}
				}
			}
		}
	}
}

// Who sees no red or no green tells the tones of the palette apart; who sees no colour does by marks and words.
func TestColourBlindPalette(t *testing.T) {
	see := map[string]func(c [3]float64) [3]float64{
		"no red": func(c [3]float64) [3]float64 {
			y := 0.112*c[0] + 0.888*c[1]
			return [3]float64{y, y, 0.004*c[0] - 0.004*c[1] + c[2]}
		},
		"no green": func(c [3]float64) [3]float64 {
			y := 0.293*c[0] + 0.707*c[1]
			return [3]float64{y, y, 0.022*c[1] - 0.022*c[0] + c[2]}
		},
	}
	apart := func(p Palette, on Background, a, b Tone, how func([3]float64) [3]float64) float64 {
		th := NewWith(TwoFiftySix, Unicode, p, on)
		x, _ := drawn(th.Open(a, false), "3")
		y, _ := drawn(th.Open(b, false), "3")
		if strings.Contains(th.Open(a, false), "[1;") != strings.Contains(th.Open(b, false), "[1;") && a != Good {
			return 1 // one of them is bold
		}
		x, y = how(x), how(y)
		sum := 0.0
		for i := range x {
			d := math.Cbrt(max(0, x[i])) - math.Cbrt(max(0, y[i])) // steps that look alike are alike
			sum += d * d
		}
		return math.Sqrt(sum)
	}
	const least = 0.15
	for name, how := range see {
		for _, on := range []Background{Unknown, Dark, Light} {
			for _, pair := range [][2]Tone{{Good, Warn}, {Good, Bad}, {Warn, Bad}} {
				if d := apart(ColourBlind, on, pair[0], pair[1], how); d < least {
					t.Errorf("%s, background %d: tones %d and %d are %.2f apart, want %.2f", name, on, pair[0], pair[1], d, least)
				}
			}
		}
	}
	if d := apart(Standard, Unknown, Good, Bad, see["no green"]); d >= least {
		t.Errorf("the test cannot fail: green and red are %.2f apart for who sees no green", d)
	}
}

func TestPaletteNames(t *testing.T) {
	for _, name := range Palettes() {
		if p, ok := PaletteOf(name); !ok || p.Name() != name {
			t.Errorf("%s: %v %v", name, p, ok)
		}
	}
	if p, ok := PaletteOf(""); p != Standard || !ok {
		t.Error("no name is not the default")
	}
	if _, ok := PaletteOf("solarized"); ok {
		t.Error("a palette that is not there")
	}
	if th := NewWith(TrueColour, Unicode, Plain, Dark); th.Colours != NoColours {
		t.Error("none has colours")
	}
	if opening(lipgloss.NewStyle()) != "" || NewWith(Sixteen, Unicode, HighContrast, Unknown).Open(Dim, false) != "" {
		t.Error("high contrast dims")
	}
	for term, asks := range map[string]bool{"xterm-256color": true, "tmux-256color": true, "linux": false, "dumb": false, "": false, "vt100": false} {
		if Standard.Asks(TwoFiftySix, term) != asks || Plain.Asks(TwoFiftySix, term) || Standard.Asks(NoColours, term) {
			t.Errorf("TERM=%s", term)
		}
	}
}
