package browse

import (
	"sandglass/backend"
	"sandglass/views"
)

// drawn is where the rows were drawn last.
type drawn struct {
	above int           // lines above the table
	width int           // of the table
	rows  []backend.Key // by line; the zero Key where there is none
}

// Click puts the cursor on the row that was drawn at a cell, and reports whether there is one.
func (l *List[R]) Click(x, y int, f *views.Frame) bool {
	l.sync(f)
	y -= l.drawn.above
	if x < 0 || x >= l.drawn.width || y < 0 || y >= len(l.drawn.rows) || l.drawn.rows[y] == (backend.Key{}) {
		return false
	}
	l.settled, l.want = true, backend.Key{}
	l.groups.hold(f.Now)
	if l.cfg.Steady {
		l.steady.hold(f.Now)
	}
	return l.table.Seek(l.drawn.rows[y])
}
