package fleet

import (
	"iter"
	"sort"

	"sandglass/backend"
	"sandglass/internal/stable"
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

// Entity returns the i-th entity in key order.
func (t *Table[T, P]) Entity(i int) backend.Entity { return t.rows[i] }

// Find returns the entity with that key, nil when there is none.
func (t *Table[T, P]) Find(k backend.Key) backend.Entity { return orNil(t.Get(k)) }

// some walks the entities that have one of the keys.
func (t Table[T, P]) withKeys(keys []backend.Key) iter.Seq[P] {
	return func(yield func(P) bool) {
		for _, k := range keys {
			if r := t.Get(k); r != nil && !yield(r) {
				return
			}
		}
	}
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

// search is where the key is, or would be. It is called and not copied into each of a thousand places: that makes the program 60 kB smaller.
//
//go:noinline
func (t Table[T, P]) search(k backend.Key) int {
	return sort.Search(len(t.rows), func(i int) bool { return t.rows[i].EntityMeta().Key.Compare(k) >= 0 })
}

// with returns a table with rows added or replaced and gone left out. It copies the rows between two changes as one block.
func (t Table[T, P]) with(rows []P, gone map[backend.Key]bool) Table[T, P] {
	if len(rows) == 0 && len(gone) == 0 {
		return t
	}
	type edit struct {
		key backend.Key
		row P // nil: leave it out
	}
	edits := make([]edit, 0, len(rows)+len(gone))
	for _, r := range rows {
		edits = append(edits, edit{r.EntityMeta().Key, r})
	}
	for k := range gone {
		edits = append(edits, edit{key: k})
	}
	stable.Sort(edits, func(a, b edit) int { return a.key.Compare(b.key) })
	out := make([]P, 0, len(t.rows)+len(rows))
	rest := t
	for i, e := range edits {
		at := rest.search(e.key)
		out = append(out, rest.rows[:at]...)
		rest.rows = rest.rows[at:]
		if len(rest.rows) > 0 && rest.rows[0].EntityMeta().Key == e.key {
			rest.rows = rest.rows[1:]
		}
		// Of several edits of one key the last decides; what is gone stays gone.
		if next := i + 1; e.row != nil && !gone[e.key] && (next == len(edits) || edits[next].key != e.key) {
			out = append(out, e.row)
		}
	}
	return Table[T, P]{rows: append(out, rest.rows...)}
}

// sortRows sorts by key without touching the caller's slice; of two rows with one key the later wins.
func sortRows[T any, P interface {
	*T
	backend.Entity
}](rows []P) []P {
	compare := func(a, b P) int { return a.EntityMeta().Key.Compare(b.EntityMeta().Key) }
	ascending := true
	for i := 1; i < len(rows) && ascending; i++ {
		ascending = compare(rows[i-1], rows[i]) < 0
	}
	if ascending {
		return rows
	}
	keys := make([]backend.Key, len(rows))
	for i, r := range rows {
		keys[i] = r.EntityMeta().Key
	}
	order := orderOfKeys(keys)
	out := make([]P, 0, len(rows))
	for i, at := range order {
		if i > 0 && at.prefix == order[i-1].prefix && keys[at.row] == keys[order[i-1].row] {
			out[len(out)-1] = rows[at.row]
			continue
		}
		out = append(out, rows[at.row])
	}
	return out
}
