package theme

import (
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Colours is how many colours a terminal has.
type Colours uint8

// The colour tiers.
const (
	NoColours Colours = iota
	Sixteen
	TwoFiftySix
	TrueColour
)

// ColoursOf tells the tier of a colour profile.
func ColoursOf(p colorprofile.Profile) Colours {
	switch p {
	case colorprofile.TrueColor:
		return TrueColour
	case colorprofile.ANSI256:
		return TwoFiftySix
	case colorprofile.ANSI:
		return Sixteen
	case colorprofile.ASCII, colorprofile.NoTTY, colorprofile.Unknown:
	}
	return NoColours
}

// Glyphs is which characters of our own a terminal can draw.
type Glyphs uint8

// The glyph tiers.
const (
	Unicode Glyphs = iota
	ASCII
)

// GlyphsOf tells the tier from the variables that say what a terminal's characters are: LC_ALL, LC_CTYPE, LANG, in
// this order; a terminal without any is assumed to draw Unicode unless TERM says linux or dumb.
func GlyphsOf(getenv func(string) string) Glyphs {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			if strings.Contains(v, "utf-8") || strings.Contains(v, "utf8") {
				return Unicode
			}
			return ASCII
		}
	}
	if t := getenv("TERM"); t == "linux" || t == "dumb" {
		return ASCII
	}
	return Unicode
}

// Theme draws tones and marks for one terminal. It is immutable.
type Theme struct {
	Colours Colours
	Glyphs  Glyphs
	plain   [toneCount]string // select graphic rendition that opens a tone
	cursor  [toneCount]string // the same on the row under the cursor
	marks   [markCount]string
	sparks  []string
}

// Reset ends whatever Open began.
const Reset = "\x1b[m"

// New makes the theme of a terminal. True colour looks like 256: palette indexes are correct everywhere, and cheaper.
func New(c Colours, g Glyphs) *Theme {
	t := &Theme{Colours: c, Glyphs: g}
	switch c {
	case NoColours:
		t.plain = [toneCount]string{Dim: sgr("2"), Strong: sgr("1"), Warn: sgr("1"), Bad: sgr("1"), Critical: sgr("1;4"), Accent: sgr("1")}
		for i := range t.cursor {
			t.cursor[i] = sgr("7")
		}
		t.cursor[Critical], t.cursor[Bad], t.cursor[Strong] = sgr("1;7"), sgr("1;7"), sgr("1;7")
	case Sixteen:
		t.plain = [toneCount]string{Dim: sgr("2"), Strong: sgr("1"), Good: sgr("32"), Warn: sgr("33"), Bad: sgr("31"),
			Critical: sgr("1;91"), Accent: sgr("1;36")}
		for i := range t.cursor {
			t.cursor[i] = sgr("97;44")
		}
		t.cursor[Critical], t.cursor[Bad], t.cursor[Strong] = sgr("1;97;44"), sgr("1;97;44"), sgr("1;97;44")
		t.cursor[Warn], t.cursor[Dim] = sgr("93;44"), sgr("37;44")
	case TwoFiftySix, TrueColour:
		// Of middle brightness, so that each is told from a dark background and from a light one: nothing says which it is
		// that a split reply on a slow line could not spoil.
		t.plain = [toneCount]string{Dim: fg("245"), Strong: sgr("1"), Good: fg("65"), Warn: fg("136"), Bad: fg("167"),
			Critical: sgr("1;38;5;167"), Accent: sgr("1;38;5;32")}
		on := func(s string) string { return sgr(s + ";48;5;24") }
		t.cursor = [toneCount]string{Normal: on("38;5;255"), Dim: on("38;5;250"), Strong: on("1;38;5;255"), Good: on("38;5;157"),
			Warn: on("38;5;222"), Bad: on("38;5;217"), Critical: on("1;38;5;217"), Accent: on("1;38;5;255")}
	}
	t.marks = [markCount]string{MarkNone: " ", MarkGood: "●", MarkBusy: "◐", MarkIdle: "○", MarkWarn: "▲", MarkBad: "✗",
		MarkCritical: "◆", MarkUnknown: "?", MarkHeld: "‖", MarkSuspect: "◌"}
	t.sparks = []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}
	if g == ASCII {
		t.marks = [markCount]string{MarkNone: " ", MarkGood: "+", MarkBusy: "~", MarkIdle: "-", MarkWarn: "!", MarkBad: "x",
			MarkCritical: "#", MarkUnknown: "?", MarkHeld: "=", MarkSuspect: "%"}
		t.sparks = []string{"_", ".", ":", "-", "=", "+", "*", "#"}
	}
	return t
}

func sgr(s string) string { return "\x1b[" + s + "m" }
func fg(s string) string  { return sgr("38;5;" + s) }

// Open returns what opens a tone; empty when the tone looks like plain text. onCursor is the row under the cursor.
func (t *Theme) Open(tone Tone, onCursor bool) string {
	if onCursor {
		return t.cursor[tone]
	}
	return t.plain[tone]
}

// Mark is a state's sign, one cell wide.
func (t *Theme) Mark(m Mark) string { return t.marks[m] }

// NoSpark stands for a level that is not known.
func (t *Theme) NoSpark() string {
	if t.Glyphs == ASCII {
		return "?"
	}
	return "·"
}

// Bar is one cell of a bar, done or still to do.
func (t *Theme) Bar(done bool) string {
	switch {
	case done && t.Glyphs == ASCII:
		return "#"
	case done:
		return "█"
	case t.Glyphs == ASCII:
		return "."
	}
	return "░"
}

// Spark is the sign for the i-th of n levels, one cell wide; level 0 is the lowest.
func (t *Theme) Spark(level float64) string {
	i := int(level * float64(len(t.sparks)))
	return t.sparks[max(0, min(i, len(t.sparks)-1))]
}

// Fit returns text in characters this terminal draws; its width in cells does not change.
func (t *Theme) Fit(s string) string {
	if t.Glyphs == Unicode || isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		if i := strings.IndexRune(known, r); i >= 0 {
			return rune(replaced[len([]rune(known[:i]))])
		}
		return '?'
	}, narrow(s))
}

// Characters of our own texts and what stands for them, one to one.
const (
	known    = "–—…·›‹─│┌┐└┘├┤≥≤µ×↑↓→←“”‘’␊␉"
	replaced = "--..><-|++++++><ux^v><\"\"''/ "
)

// narrow doubles characters that take two cells, so that one ASCII character can stand for each cell.
func narrow(s string) string {
	if ansi.StringWidth(s) == len([]rune(s)) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		for range ansi.StringWidth(string(r)) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
