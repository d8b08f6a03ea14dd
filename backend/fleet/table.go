package fleet

import (
	"iter"
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
