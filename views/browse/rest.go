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
	table := l.rows(w, h)
	if !l.cur.Snapshot().Local() {
		return table
	}
	lacking := l.lacking()
	if len(lacking) == 0 || h-len(lacking)-1 < leastRows {
		return table
	}
	row, ok := l.Selected()
	if !ok {
		return table
	}
	doc := &kit.Doc{}
	l.cur.Row = row
	for _, i := range lacking {
		if cell := l.cur.Cell(i); cell.Text.String() != subjects.Nothing {
			doc.Field(strings.ToLower(l.cfg.Set.Columns[i].Title), kit.Span{Tone: theme.Normal, Text: cell.Text.String()})
		}
	}
	lines, _ := doc.Fit(f.Theme, w, len(lacking))
	rule := kit.NewBlock(w, 1, []string{kit.Rule(f.Theme, w)})
	return kit.Stack(l.rows(w, h-len(lacking)-1), rule, kit.NewBlock(w, len(lacking), lines))
}

// lacking are the columns about containers that are not on the screen, or that do not show a row in sight whole.
func (l *List[R]) lacking() []int {
	var out []int
	rows, _, _ := l.table.Window(len(l.visible))
	for i, c := range l.cfg.Set.Columns {
		if c.Local == 0 {
			continue
		}
		width := 0
		for _, s := range l.slotted {
			if s.Column == i {
				width = s.Width
			}
		}
		for _, r := range rows {
			l.cur.Row = r.Row
			cell := l.cur.Cell(i)
			if text := cell.Text.String(); text != subjects.Nothing && kit.Width(text) > width {
				out = append(out, i)
				break
			}
		}
	}
	return out
}
