package browse

import (
	"strings"

	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// leastRows is how many lines a table keeps where the rest of its row stands below it.
const leastRows = 6

// withRest draws the table. Where containers are all that is watched, the columns for which the screen is too narrow stand
// below it, for the row under the cursor. How many lines they take does not depend on that row, so that nothing jumps.
func (l *List[R]) withRest(w, h int, f *views.Frame) kit.Block {
	if !l.cur.Snapshot().Local() {
		return l.rows(w, h)
	}
	whole := l.place(w, h)
	lacking := l.lacking(&whole)
	row, ok := l.Selected()
	if !ok || len(lacking) == 0 || h-len(lacking)-1 < leastRows {
		return l.drawRows(w, h, whole)
	}
	doc, of := &kit.Doc{}, l.cellsOf(row)
	for _, i := range lacking {
		if cell := l.cell(row, of, i); cell.Text.String() != subjects.Nothing {
			doc.Field(strings.ToLower(l.cfg.Set.Columns[i].Title), kit.Span{Tone: theme.Normal, Text: cell.Text.String()})
		}
	}
	lines, _ := doc.Fit(f.Theme, w, len(lacking))
	rule := kit.NewBlock(w, 1, []string{kit.Rule(f.Theme, w)})
	return kit.Stack(l.rows(w, h-len(lacking)-1), rule, kit.NewBlock(w, len(lacking), lines))
}

// lacking are the columns about containers that are not on the screen, or that do not show a row in sight whole.
func (l *List[R]) lacking(p *placed[R]) []int {
	var out []int
	rows, _, _ := l.table.Window(len(p.top) + len(p.rows))
	widths := make([]int, len(l.cfg.Set.Columns))
	for _, s := range p.slots {
		widths[s.Column] = s.Width
	}
	of := make([][]cell, len(rows))
	for n, r := range rows {
		of[n] = l.cellsOf(r.Row)
	}
	for i, width := range widths {
		if l.cfg.Set.Columns[i].Local == 0 {
			continue
		}
		for n, r := range rows {
			if c := l.cell(r.Row, of[n], i); c.Text.String() != subjects.Nothing && c.width > width {
				out = append(out, i)
				break
			}
		}
	}
	return out
}
