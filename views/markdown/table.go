package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"sandglass/views/kit"
	"sandglass/views/theme"
)

// between is the space between columns, leastColumn the narrowest that text is wrapped in.
const (
	between     = 2
	leastColumn = 6
)

// table draws columns as wide as their text where there is room, wraps cells where there is less, and lists the cells
// of each row below each other where columns would be too narrow to read.
func (r *writer) table(n ast.Node, in *inset) {
	rows := r.cells(n)
	if len(rows) == 0 || len(rows[0]) == 0 {
		return
	}
	widths := columns(rows, in.width)
	if widths == nil {
		r.stacked(rows, in)
		return
	}
	for i, row := range rows {
		r.tableRow(row, widths, in)
		if i == 0 {
			total := between * (len(widths) - 1)
			for _, w := range widths {
				total += w
			}
			r.put(in, kit.Span{Tone: theme.Dim, Text: strings.Repeat("─", total)})
		}
	}
}

func (r *writer) cells(n ast.Node) [][][]kit.Span {
	var rows [][][]kit.Span
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		tone := theme.Normal
		if row.Kind() == extast.KindTableHeader {
			tone = theme.Strong
		}
		var cells [][]kit.Span
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cells = append(cells, r.inline(c, tone))
		}
		rows = append(rows, cells)
	}
	return rows
}

// columns shares the width: the widest columns give way first. Nil when some would be too narrow.
func columns(rows [][][]kit.Span, w int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range min(len(row), len(widths)) {
			for _, l := range wrap(row[i], 1<<20) {
				n := 0
				for _, s := range l {
					n += kit.Width(s.Text)
				}
				widths[i] = max(widths[i], n)
			}
		}
	}
	for {
		total, widest := between*(len(widths)-1), 0
		for i, n := range widths {
			total += n
			if n > widths[widest] {
				widest = i
			}
		}
		if total <= w {
			return widths
		}
		if widths[widest] <= leastColumn {
			return nil
		}
		widths[widest]--
	}
}

func (r *writer) tableRow(row [][]kit.Span, widths []int, in *inset) {
	wrapped := make([][][]kit.Span, len(widths))
	height := 1
	for i := range min(len(row), len(widths)) {
		wrapped[i] = wrap(row[i], max(widths[i], 1))
		height = max(height, len(wrapped[i]))
	}
	for y := range height {
		var line []kit.Span
		for i, w := range widths {
			used := 0
			if y < len(wrapped[i]) {
				for _, s := range wrapped[i][y] {
					line = append(line, s)
					used += kit.Width(s.Text)
				}
			}
			if i < len(widths)-1 {
				line = append(line, kit.Span{Text: strings.Repeat(" ", max(w-used, 0)+between)})
			}
		}
		r.put(in, line...)
	}
}

// stacked lists "header: cell" below each other, an empty line between rows.
func (r *writer) stacked(rows [][][]kit.Span, in *inset) {
	for i, row := range rows[1:] {
		if i > 0 {
			r.spacer(in)
		}
		for j, cell := range row {
			var spans []kit.Span
			if j < len(rows[0]) {
				spans = append(append(spans, rows[0][j]...), kit.Span{Tone: theme.Strong, Text: ": "})
			}
			r.flow(in, append(spans, cell...))
		}
	}
}
