package browse

import "sandglass/backend/fleet"

// asked is what the columns say of one State. Each looks through the whole fleet, and a State is drawn many times.
type asked struct {
	of      *fleet.State
	columns []askedColumn
}

type askedColumn struct {
	needless bool // nothing is to be said in it
	wanted   int  // its ideal width, 0: as it is set
	urgent   bool
}

// ask is what the columns say of the State that is drawn.
func (l *List[R]) ask() []askedColumn {
	c := l.cur.Snapshot()
	if l.asked.of != c.State || l.asked.columns == nil {
		l.asked = asked{c.State, make([]askedColumn, len(l.cfg.Set.Columns))}
		for i := range l.cfg.Set.Columns {
			column, said := &l.cfg.Set.Columns[i], &l.asked.columns[i]
			said.needless = column.Needed != nil && !column.Passing && !column.Needed(c)
			said.urgent = column.Urgent != nil && column.Urgent(c)
			if column.Wanted != nil {
				said.wanted = column.Wanted(c)
			}
		}
	}
	for i := range l.cfg.Set.Columns {
		if column := &l.cfg.Set.Columns[i]; column.Passing {
			l.asked.columns[i].needless = !column.Needed(c)
		}
	}
	return l.asked.columns
}
