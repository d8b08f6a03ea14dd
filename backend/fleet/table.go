package fleet

import (
	"iter"
	"slices"
	"sort"

	"sandglass/backend"
)

// Table is an immutable list of entities sorted by key. The zero Table is empty.
type Table[T any, P interface {
	*T
	backend.Entity
}] struct {
	rows []P
}

// NewTable sorts rows by key; of two with one key the later wins. It serves tests and readers of recordings.
func NewTable[T any, P interface {
	*T
	backend.Entity
}](rows ...P) Table[T, P] {
	return Table[T, P]{}.with(rows, nil)
}

// Len is the number of entities.
func (t Table[T, P]) Len() int { return len(t.rows) }

// At returns the i-th entity in key order.
func (t Table[T, P]) At(i int) P { return t.rows[i] }

// All walks the entities in key order.
func (t Table[T, P]) All() iter.Seq[P] {
	return func(yield func(P) bool) {
		for _, r := range t.rows {
			if !yield(r) {
				return
			}
		}
	}
}

// Get returns the entity with that key, nil when there is none.
func (t Table[T, P]) Get(k backend.Key) P {
	i := t.search(k)
	if i < len(t.rows) && t.rows[i].EntityMeta().Key == k {
		return t.rows[i]
	}
	return nil
}

// Of walks the entities of one source whose key's Parent is parent, in key order: the workspaces of a session.
func (t Table[T, P]) Of(kind backend.Kind, source string, parent backend.ID) iter.Seq[P] {
	return func(yield func(P) bool) {
		for i := t.search(backend.Key{Kind: kind, Source: source, Parent: parent}); i < len(t.rows); i++ {
			k := t.rows[i].EntityMeta().Key
			if k.Source != source || k.Parent != parent || !yield(t.rows[i]) {
				return
			}
		}
	}
}

func (t Table[T, P]) search(k backend.Key) int {
	return sort.Search(len(t.rows), func(i int) bool { return t.rows[i].EntityMeta().Key.Compare(k) >= 0 })
}

// with returns a table in which rows replace or join what was there and gone are left out. It is linear in the size
// of the table, and returns t itself when nothing is asked of it.
func (t Table[T, P]) with(rows []P, gone map[backend.Key]bool) Table[T, P] {
	if len(rows) == 0 && len(gone) == 0 {
		return t
	}
	rows = sortRows[T](rows)
	out := make([]P, 0, len(t.rows)+len(rows))
	old := t.rows
	for len(old) > 0 || len(rows) > 0 {
		var c int
		switch {
		case len(old) == 0:
			c = 1
		case len(rows) == 0:
			c = -1
		default:
			c = old[0].EntityMeta().Key.Compare(rows[0].EntityMeta().Key)
		}
		next := P(nil)
		switch {
		case c < 0:
			next, old = old[0], old[1:]
		case c > 0:
			next, rows = rows[0], rows[1:]
		default:
			next, old, rows = rows[0], old[1:], rows[1:]
		}
		if !gone[next.EntityMeta().Key] {
			out = append(out, next)
		}
	}
	return Table[T, P]{rows: out}
}

// sortRows sorts by key without touching the caller's slice; of two rows with one key the later wins.
func sortRows[T any, P interface {
	*T
	backend.Entity
}](rows []P) []P {
	compare := func(a, b P) int { return a.EntityMeta().Key.Compare(b.EntityMeta().Key) }
	if !slices.IsSortedFunc(rows, compare) {
		rows = slices.Clone(rows)
		slices.SortStableFunc(rows, compare)
	}
	for i := 1; i < len(rows); i++ {
		if compare(rows[i-1], rows[i]) == 0 {
			return lastOfEach(rows, compare)
		}
	}
	return rows
}

func lastOfEach[P any](sorted []P, compare func(a, b P) int) []P {
	out := make([]P, 0, len(sorted))
	for i, r := range sorted {
		if i+1 < len(sorted) && compare(r, sorted[i+1]) == 0 {
			continue
		}
		out = append(out, r)
	}
	return out
}
