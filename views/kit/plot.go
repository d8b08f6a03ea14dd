package kit

import (
	"math"
	"strings"

	"sandglass/backend"
	"sandglass/views/theme"
)

// Plot is a chart of several lines: values oldest first, scaled to the largest, whose value is at the upper left.
type Plot struct {
	Title  []Span
	Values []backend.Value[float64] // one that is not applicable leaves its column empty, an unknown one has its own sign
	Top    string                   // what the largest value is; empty: nothing was read
	From   string                   // what stands below the oldest value; the newest is now
	// Scale writes a value of the axis. Where it is set, the axis begins at 0, ends at a round number and has its middle where
	// there is room; Top is not used.
	Scale func(float64) string
	// Most is where the axis ends at least, in the unit of the values.
	Most float64
	Mid  string // what stands below the middle; empty: nothing
	// Marked are the columns that are marked below the axis and drawn in the tone of trouble; MarkWord names them.
	Marked   []bool
	MarkWord string
}

// axis is how many cells the scale takes.
const axis = 9

// PlotWidth is how many values a plot of w cells shows.
func PlotWidth(w int) int { return max(w-axis-4, 1) }

// Lines draws the plot in h lines of w cells: the title, h-2 lines of columns, and the times.
func (p *Plot) Lines(t *theme.Theme, w, h int) []string {
	lines := []string{NewLine(t, w).Gap(1).PutSpans(p.Title...).String()}
	top, known := p.Most, false
	for _, v := range p.Values {
		top, known = max(top, v.Or(0)), known || v.IsKnown()
	}
	if p.Scale != nil && known {
		top = roundUp(top)
	}
	rows := max(h-2, 1)
	for row := rows - 1; row >= 0; row-- {
		l := NewLine(t, w)
		l.Cell(theme.Dim, p.label(row, rows, top, known), axis, true)
		l.PadTo(axis+1).Put(theme.Dim, "│")
		for i, v := range p.Values {
			p.put(l, t, i, row, rows, top, v)
		}
		lines = append(lines, l.String())
	}
	return append(lines, p.times(t, w))
}

// label is what the axis says at a row.
func (p *Plot) label(row, rows int, top float64, known bool) string {
	switch {
	case p.Scale == nil && row == rows-1:
		return p.Top
	case p.Scale == nil || !known:
		return ""
	case row == rows-1:
		return p.Scale(top)
	case row == 0:
		return p.Scale(0)
	case rows >= 5 && rows%2 == 0 && row == rows/2-1: // the upper edge of the row is the middle
		return p.Scale(top / 2)
	}
	return ""
}

// put draws one cell.
func (p *Plot) put(l *Line, t *theme.Theme, i, row, rows int, top float64, v backend.Value[float64]) {
	n, known := v.Get()
	level := 0.0 // in rows
	if top > 0 {
		level = max(n, 0) / top * float64(rows)
	}
	tone := theme.Accent
	if p.marked(i) {
		tone = theme.Critical
	}
	switch part := level - float64(row); {
	case !known && !v.IsNotApplicable() && row == 0:
		l.Put(theme.Dim, t.NoSpark())
	case !known, part <= 0 && row > 0:
		l.Gap(1)
	default:
		l.Put(tone, t.Spark(min(part, 1)*0.999))
	}
}

func (p *Plot) marked(i int) bool { return i < len(p.Marked) && p.Marked[i] }

// times is the line below the columns: when they begin, and what is marked.
func (p *Plot) times(t *theme.Theme, w int) string {
	cells := []rune(strings.Repeat(" ", len(p.Values)))
	put := func(at int, s string) bool {
		n := Width(s)
		fits := at >= 0 && at+n <= len(cells) && strings.TrimSpace(string(cells[max(at-1, 0):min(at+n+1, len(cells))])) == ""
		if fits {
			copy(cells[at:], []rune(s))
		}
		return fits
	}
	put(0, p.From)
	put(len(cells)-len("now"), "now")
	for i := 0; i < len(cells); i++ {
		from := i
		for i < len(cells) && p.marked(i) {
			i++
		}
		if n := i - from; n > 0 {
			for at := max(from+(n-Width(p.MarkWord))/2, 0); !put(at, p.MarkWord) && at > from-Width(p.MarkWord); at-- {
			}
		}
	}
	if n := Width(p.Mid); n > 0 {
		put(len(cells)/2-n/2, p.Mid)
	}
	l := NewLine(t, w).PadTo(axis+1).Put(theme.Dim, "└")
	text := string(cells)
	if p.MarkWord == "" {
		return l.Put(theme.Dim, strings.TrimRight(text, " ")).String()
	}
	for {
		before, after, found := strings.Cut(text, p.MarkWord)
		l.Put(theme.Dim, before)
		if !found {
			return l.String()
		}
		l.Put(theme.Critical, p.MarkWord)
		text = after
	}
}

// roundUp is the next number at or above n that is easy to halve in the head.
func roundUp(n float64) float64 {
	if n <= 0 {
		return 1
	}
	ten := math.Pow(10, math.Floor(math.Log10(n)))
	for _, step := range []float64{1, 2, 4, 6, 8} {
		if n <= step*ten*1.000001 {
			return step * ten
		}
	}
	return 10 * ten
}
