package kit

import (
	"sandglass/backend"
	"sandglass/views/theme"
)

// Plot is a chart of several lines: values oldest first, scaled to the largest, whose value is at the upper left.
type Plot struct {
	Title  []Span
	Values []backend.Value[float64]
	Top    string // what the largest value is; empty: nothing was read
	From   string // what stands below the oldest value; the newest is now
}

// axis is how many cells the scale takes.
const axis = 9

// PlotWidth is how many values a plot of w cells shows.
func PlotWidth(w int) int { return max(w-axis-4, 1) }

// Lines draws the plot in h lines of w cells: the title, h-2 lines of columns, and the times.
func (p *Plot) Lines(t *theme.Theme, w, h int) []string {
	lines := []string{NewLine(t, w).Gap(1).PutSpans(p.Title...).String()}
	top := 0.0
	for _, v := range p.Values {
		top = max(top, v.Or(0))
	}
	rows := max(h-2, 1)
	for row := rows - 1; row >= 0; row-- {
		l := NewLine(t, w)
		if row == rows-1 {
			l.Cell(theme.Dim, p.Top, axis, true)
		}
		l.PadTo(axis+1).Put(theme.Dim, "│")
		for _, v := range p.Values {
			n, known := v.Get()
			level := 0.0 // in rows
			if top > 0 {
				level = max(n, 0) / top * float64(rows)
			}
			switch part := level - float64(row); {
			case !known && row == 0:
				l.Put(theme.Dim, t.NoSpark())
			case !known, part <= 0 && row > 0:
				l.Gap(1)
			default:
				l.Put(theme.Accent, t.Spark(min(part, 1)*0.999))
			}
		}
		lines = append(lines, l.String())
	}
	last := NewLine(t, w).PadTo(axis+1).Put(theme.Dim, "└"+p.From)
	if end := axis + 2 + len(p.Values) - len("now"); end > axis+2+Width(p.From) {
		last.PadTo(end).Put(theme.Dim, "now")
	}
	return append(lines, last.String())
}
