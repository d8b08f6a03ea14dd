package theme

import (
	"strings"

	"charm.land/lipgloss/v2"
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
	Palette Palette
	styles  [toneCount]lipgloss.Style
	plain   [toneCount]string // escape sequence that opens a style: tables and lines are drawn with it, cell by cell
	cursor  [toneCount]string // the same on the row under the cursor
	marks   [markCount]string
	sparks  []string
	shown   func(string) string // what a text is replaced by before it is measured and cut; nil: nothing
}

// Showing is the theme with which texts are drawn as f says: where names are hidden.
func (t *Theme) Showing(f func(string) string) *Theme {
	c := *t
	c.shown = f
	return &c
}

// Replaces reports whether texts are drawn as Shown says.
func (t *Theme) Replaces() bool { return t.shown != nil }

// Links reports whether addresses can be opened from the text. A terminal without colours may print what makes a link, and where
// texts are replaced the address would tell what the text does not.
func (t *Theme) Links() bool { return t.Colours != NoColours && t.shown == nil }

// Shown is what is drawn for a text. Its width may differ.
func (t *Theme) Shown(s string) string {
	if t.shown == nil {
		return s
	}
	return t.shown(s)
}

// Reset ends whatever Open began.
const Reset = "\x1b[m"

// New makes the standard theme of a terminal whose background is not known. True colour looks like 256: palette indexes are correct everywhere, and cheaper.
func New(c Colours, g Glyphs) *Theme { return NewWith(c, g, Standard, Unknown) }

// NewWith makes the theme of a terminal with a palette and a background.
func NewWith(c Colours, g Glyphs, p Palette, b Background) *Theme {
	if p == Plain {
		c = NoColours
	}
	t := &Theme{Colours: c, Glyphs: g, Palette: p}
	styles, cursor := stylesOf(c, p, b)
	t.styles = styles
	for i := range styles {
		t.plain[i], t.cursor[i] = opening(styles[i]), opening(cursor[i])
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

// opening is what a style writes before a text.
func opening(s lipgloss.Style) string {
	before, _, _ := strings.Cut(s.Render("x"), "x")
	return before
}

// Style is a tone as a style of lipgloss, for dialogs and components.
func (t *Theme) Style(tone Tone) lipgloss.Style { return t.styles[tone] }

// Border is what boxes are drawn with.
func (t *Theme) Border() lipgloss.Border {
	if t.Glyphs == ASCII {
		return lipgloss.ASCIIBorder()
	}
	return lipgloss.NormalBorder()
}

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
func (t *Theme) Bar(done bool) rune {
	switch {
	case done && t.Glyphs == ASCII:
		return '#'
	case done:
		return '█'
	case t.Glyphs == ASCII:
		return '.'
	}
	return '░'
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
