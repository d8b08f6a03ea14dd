package kit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sandglass/views/theme"
)

// Block is a rectangle: lines of exactly Width cells.
type Block struct {
	Width int
	Lines []string
}

// NewBlock makes a Block of exactly w×h of lines that are w cells wide: further lines are cut, missing ones are blank.
func NewBlock(w, h int, lines []string) Block {
	w, h = max(w, 0), max(h, 0)
	out := make([]string, h)
	n := copy(out, lines)
	if n < h {
		blank := strings.Repeat(" ", w)
		for i := n; i < h; i++ {
			out[i] = blank
		}
	}
	return Block{Width: w, Lines: out}
}

// Height is the number of lines.
func (b Block) Height() int { return len(b.Lines) }

// String joins the lines.
func (b Block) String() string { return strings.Join(b.Lines, "\n") }

// Stack puts blocks of one width below each other.
func Stack(blocks ...Block) Block {
	var out Block
	for _, b := range blocks {
		if b.Height() == 0 {
			continue
		}
		out.Width = b.Width
		out.Lines = append(out.Lines, b.Lines...)
	}
	return out
}

// Beside puts two blocks of one height next to each other with a rule between them that takes three cells.
func Beside(t *theme.Theme, left, right Block) Block {
	bar := NewLine(t, 3).Put(theme.Dim, " │ ").String()
	out := Block{Width: left.Width + 3 + right.Width, Lines: make([]string, min(left.Height(), right.Height()))}
	for i := range out.Lines {
		out.Lines[i] = left.Lines[i] + bar + right.Lines[i]
	}
	return out
}

// Rule is a horizontal line.
func Rule(t *theme.Theme, w int) string {
	return NewLine(t, w).Put(theme.Dim, strings.Repeat("─", max(w, 0))).String()
}

// RuleWith is a horizontal line with a note near its right end.
func RuleWith(t *theme.Theme, w int, tone theme.Tone, note string) string {
	note = t.Shown(note)
	n := Width(note)
	if note == "" || n+6 > w {
		return Rule(t, w)
	}
	return NewLine(t, w).Put(theme.Dim, strings.Repeat("─", w-n-4)).Put(tone, " "+note+" ").Put(theme.Dim, "──").String()
}

// Overlay draws top over base with its upper left corner at x, y.
func Overlay(base, top Block, x, y int) Block {
	out := Block{Width: base.Width, Lines: append([]string(nil), base.Lines...)}
	for i, l := range top.Lines {
		if y+i < 0 || y+i >= len(out.Lines) {
			continue
		}
		under := out.Lines[y+i]
		out.Lines[y+i] = ansi.Cut(under, 0, x) + theme.Reset + l + theme.Reset + ansi.Cut(under, x+top.Width, base.Width)
	}
	return out
}

// Frame puts a box with a title around lines of w-4 cells; the result is w×(len(lines)+2).
func Frame(t *theme.Theme, w int, title string, lines []string) Block {
	b, edge := t.Border(), t.Style(theme.Accent)
	title = t.Fit(Cut(t.Shown(title), max(w-4, 0)))
	left, right := edge.Render(b.Left+" "), edge.Render(" "+b.Right)
	out := make([]string, 0, len(lines)+2)
	out = append(out, edge.Render(b.TopLeft+" ")+t.Style(theme.Strong).Render(title)+
		edge.Render(" "+strings.Repeat(b.Top, max(w-4-Width(title), 0))+b.TopRight))
	for _, l := range lines {
		out = append(out, left+l+right)
	}
	return Block{Width: w, Lines: append(out, edge.Render(b.BottomLeft+strings.Repeat(b.Bottom, max(w-2, 0))+b.BottomRight))}
}
