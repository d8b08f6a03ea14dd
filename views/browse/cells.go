package browse

import (
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// cells are what the columns show of rows at one moment. Each frame asks for a cell several times, and keys bring many frames.
type cells struct {
	of     *views.Snapshot
	moment int // which one that is
	rows   map[backend.Key][]cell
}

type cell struct {
	subjects.Cell
	moment       int // to which it belongs
	width, least int // of its text, and of its shortest form
}

// mostCells is of how many rows there are cells.
const mostCells = 1000

// find finds the cells of a row of n columns, some of them of a former moment.
func (c *cells) find(now *views.Snapshot, row backend.Key, n int) []cell {
	if c.of != now {
		c.of, c.moment = now, c.moment+1
	}
	of, known := c.rows[row]
	if !known {
		if len(c.rows)%mostCells == 0 {
			c.rows = map[backend.Key][]cell{}
		}
		of = make([]cell, n)
		c.rows[row] = of
	}
	return of
}

func (c *cell) set(to subjects.Cell, moment int) {
	c.Cell, c.moment = to, moment
	c.width, c.least = kit.Width(c.Text.String()), kit.Width(c.Fitting(0))
}

func (l *List[R]) cellsOf(row R) []cell {
	return l.cells.find(l.cur.Snapshot(), l.cfg.Set.Key(row), len(l.cfg.Set.Columns))
}

// cell is the i-th of a row's cells.
func (l *List[R]) cell(row R, of []cell, i int) *cell {
	c := &of[i]
	if c.moment != l.cells.moment {
		l.cur.Row = row
		c.set(l.cur.Cell(i), l.cells.moment)
	}
	return c
}
