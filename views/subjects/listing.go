package subjects

import (
	"iter"
	"slices"

	"sandglass/backend"
	"sandglass/internal/stable"
	"sandglass/views"
)

// Head is a column without its rows' type.
type Head struct {
	Name, Title, Brief, Help string
	Align                    Align
	Min, Ideal, Flex         int
	Priority                 int
	Where                    Where
	Descending               bool
	IDs                      bool // values that have to be told apart
	Needed                   func(*views.Snapshot) bool
}

// Record is one row without its type. It satisfies filter.Row and filter.Measured. A Record handed out by a Listing is
// valid until the next one is asked for.
type Record interface {
	Key() backend.Key
	Field(name string) (string, bool)
	Measure(name string) (float64, bool)
	Text() string
	Cell(i int) Cell
	SortKey(i int) SortKey
	JSON() ([]byte, error)
	Muted() bool
	Stale() bool
}

// Listing is a Set without its rows' type, for commands that print any kind.
type Listing struct {
	Kind        string
	Of          backend.Kind // of the rows
	Heads       []Head
	DefaultSort string
	// Each walks the rows in their natural order.
	Each func(*views.Snapshot) iter.Seq[Record]
	// Sorted walks the rows by a column, those that lack its value last.
	Sorted func(s *views.Snapshot, column int, descending bool) iter.Seq[Record]
}

// Heads are the columns of the set without their rows' type.
func (s *Set[R]) Heads() []Head {
	heads := make([]Head, len(s.Columns))
	for i, c := range s.Columns {
		heads[i] = Head{IDs: c.IDs, Name: c.Name, Title: c.Title, Brief: c.Brief, Help: c.Help, Align: c.Align,
			Min: c.Min, Ideal: c.Ideal, Flex: c.Flex, Priority: c.Priority, Where: c.Where, Descending: c.Descending, Needed: c.Needed}
	}
	return heads
}

// Listing erases the rows' type.
func (s *Set[R]) Listing() Listing {
	walk := func(rows iter.Seq[R], ctx *views.Snapshot) iter.Seq[Record] {
		return func(yield func(Record) bool) {
			cur := s.NewCursor(ctx)
			for r := range rows {
				cur.Row = r
				if !yield(cur) {
					return
				}
			}
		}
	}
	return Listing{Kind: s.Kind, Heads: s.Heads(), DefaultSort: s.DefaultSort,
		Each: func(ctx *views.Snapshot) iter.Seq[Record] { return walk(s.All(ctx), ctx) },
		Sorted: func(ctx *views.Snapshot, column int, descending bool) iter.Seq[Record] {
			return walk(slices.Values(s.sorted(ctx, column, descending)), ctx)
		}}
}

func (s *Set[R]) sorted(ctx *views.Snapshot, column int, descending bool) []R {
	type keyed struct {
		key SortKey
		row R
	}
	var all []keyed
	cur := s.NewCursor(ctx)
	for _, r := range s.Natural(ctx) {
		cur.Row = r
		all = append(all, keyed{cur.SortKey(column), r})
	}
	stable.Sort(all, func(a, b keyed) int {
		if c := a.key.Compare(b.key); descending && a.key.Unknown == b.key.Unknown {
			return -c
		} else {
			return c
		}
	})
	rows := make([]R, len(all))
	for i := range all {
		rows[i] = all[i].row
	}
	return rows
}
