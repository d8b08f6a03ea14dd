package theme

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Palette is a choice of colours for the tones.
type Palette uint8

// The palettes.
const (
	Standard     Palette = iota
	HighContrast         // nothing dim, and what is broken on a ground of its own
	ColourBlind          // blue and orange in the place of green and red, and weights
	Plain                // no colours: bold, underline, dim and reverse
)

// palettes are their names, in their order.
var palettes = [...]string{"default", "high-contrast", "colour-blind", "none"}

// Palettes are the names of all palettes.
func Palettes() []string { return palettes[:] }

// PaletteOf is the palette of that name; the empty name is that of Standard.
func PaletteOf(name string) (p Palette, ok bool) {
	for i, n := range palettes {
		if n == name || name == "" {
			return Palette(i), true
		}
	}
	return Standard, false
}

// Name is what a configuration calls the palette.
func (p Palette) Name() string { return palettes[p] }

// Background is what a terminal draws on.
type Background uint8

// The backgrounds. Where it is not known, colours are such that they can be read on both.
const (
	Unknown Background = iota
	Dark
	Light
)

// Asks reports whether the colours of a terminal with this TERM depend on its background, which it can be asked for.
func (p Palette) Asks(c Colours, term string) bool {
	for _, mute := range []string{"linux", "dumb", "vt", "cons"} { // they print what they do not understand
		if strings.HasPrefix(term, mute) || term == "" {
			return false
		}
	}
	return c != NoColours && p != Plain
}

// shade is one colour on each background: unknown, dark, light. Empty is the terminal's own colour.
type shade [3]string

// tint is a tone of a palette, in a terminal with 256 colours and in one with sixteen.
type tint struct{ many, few shade }

// of is a style in the tint. It is called for each tone: a style is large, and inlined it fills kilobytes.
//
//go:noinline
func (t *tint) of(s lipgloss.Style, c Colours, b Background) lipgloss.Style {
	index := t.many[b]
	if c == Sixteen {
		index = t.few[b]
	}
	if index == "" {
		return s
	}
	return s.Foreground(lipgloss.Color(index))
}

// The colours of Standard. Those for an unknown background are of middle brightness, so that they are told from both.
var (
	standardDim    = tint{many: shade{"245", "246", "241"}}
	standardGood   = tint{shade{"65", "108", "28"}, shade{"2", "2", "2"}}
	standardWarn   = tint{shade{"136", "179", "94"}, shade{"3", "3", "3"}}
	standardBad    = tint{shade{"167", "203", "124"}, shade{"1", "9", "1"}}
	standardWorst  = tint{shade{"167", "203", "124"}, shade{"9", "9", "1"}}
	standardAccent = tint{shade{"32", "75", "25"}, shade{"6", "6", "6"}}
)

// The colours of ColourBlind: people who do not see red or green tell blue from orange.
var (
	blindGood   = tint{shade{"32", "74", "25"}, shade{"6", "6", "6"}}
	blindWarn   = tint{shade{"136", "220", "94"}, shade{"3", "11", "3"}}
	blindBad    = tint{shade{"166", "208", "88"}, shade{"1", "9", "1"}}
	blindAccent = tint{shade{"", "", ""}, shade{"", "", ""}}
)

// The colours of HighContrast: seven times as bright or dark as the background, or no colour.
var (
	highGood = tint{shade{"", "120", "22"}, shade{"", "10", ""}}
	highWarn = tint{shade{"", "228", "52"}, shade{"", "11", ""}}
)

// stylesOf are the tones' styles in a tier of colours, and those on the row under the cursor.
func stylesOf(c Colours, p Palette, b Background) (plain, cursor [toneCount]lipgloss.Style) {
	none := lipgloss.NewStyle()
	bold, faint := none.Bold(true), none.Faint(true)
	switch {
	case p == HighContrast:
		return highContrast(c, b)
	case c == NoColours:
		plain = [toneCount]lipgloss.Style{Dim: faint, Strong: bold, Warn: bold, Bad: bold, Critical: bold.Underline(true), Accent: bold}
		return plain, onCursor(none.Reverse(true))
	case p == ColourBlind:
		plain = [toneCount]lipgloss.Style{Good: blindGood.of(none, c, b), Warn: blindWarn.of(none, c, b), Bad: blindBad.of(bold, c, b),
			Critical: blindBad.of(bold.Underline(true), c, b), Accent: blindAccent.of(bold, c, b)}
	default:
		plain = [toneCount]lipgloss.Style{Good: standardGood.of(none, c, b), Warn: standardWarn.of(none, c, b), Bad: standardBad.of(none, c, b),
			Critical: standardWorst.of(bold, c, b), Accent: standardAccent.of(bold, c, b)}
	}
	plain[Strong], plain[Dim] = bold, standardDim.of(none, c, b)
	if c == Sixteen {
		plain[Dim] = faint
		on := none.Background(lipgloss.Color("4"))
		cursor = onCursor(fg(on, "15"))
		cursor[Warn] = fg(on, "11")
		return plain, cursor
	}
	on := none.Background(lipgloss.Color("24"))
	// What is dim elsewhere is plain here: one row in one colour is read at once, and a key costs a slow link less.
	cursor = [toneCount]lipgloss.Style{Normal: fg(on, "255"), Dim: fg(on, "255"), Strong: fg(on.Bold(true), "255"), Good: fg(on, "157"),
		Warn: fg(on, "222"), Bad: fg(on, "217"), Critical: fg(on.Bold(true), "217"), Accent: fg(on.Bold(true), "255")}
	if b != Unknown { // where colours change anyway
		cursor[Bad], cursor[Critical] = fg(on, "224"), fg(on.Bold(true), "224")
	}
	if p == ColourBlind {
		cursor[Good], cursor[Bad], cursor[Critical] = fg(on, "153"), fg(on.Bold(true), "223"), fg(on.Bold(true).Underline(true), "223")
	}
	return plain, cursor
}

// fg is a style in a colour of the terminal's table, with a reason as tint.of has not to be inlined.
//
//go:noinline
func fg(s lipgloss.Style, index string) lipgloss.Style { return s.Foreground(lipgloss.Color(index)) }

// onCursor are the tones of a row under the cursor in one style, the worst of them bold.
func onCursor(s lipgloss.Style) (cursor [toneCount]lipgloss.Style) {
	for i := range cursor {
		cursor[i] = s
	}
	cursor[Critical], cursor[Bad], cursor[Strong] = s.Bold(true), s.Bold(true), s.Bold(true)
	return cursor
}

// highContrast draws with what every terminal has most of: its own colour on its own background, bold, underline, and for what is
// broken white on red, which needs no background.
func highContrast(c Colours, b Background) (plain, cursor [toneCount]lipgloss.Style) {
	none := lipgloss.NewStyle()
	bold := none.Bold(true)
	block := bold.Reverse(true)
	switch c {
	case NoColours:
	case Sixteen:
		block = bold.Foreground(lipgloss.Color("15")).Background(lipgloss.Color("1"))
	case TwoFiftySix, TrueColour:
		block = bold.Foreground(lipgloss.Color("231")).Background(lipgloss.Color("88"))
	}
	plain = [toneCount]lipgloss.Style{Strong: bold, Warn: bold, Bad: block, Critical: block.Underline(true), Accent: bold.Underline(true)}
	if c != NoColours {
		plain[Good], plain[Warn] = highGood.of(none, c, b), highWarn.of(bold, c, b)
	}
	cursor = onCursor(none.Reverse(true))
	cursor[Warn], cursor[Critical] = none.Reverse(true).Bold(true), none.Reverse(true).Bold(true).Underline(true)
	return plain, cursor
}
