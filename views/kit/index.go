package kit

import "hash/maphash"

// index finds the items of a Table by key. It keeps a hash of each key: the key itself is long, and it is in the row.
type index[K comparable, R any] struct {
	seed maphash.Seed
	key  func(R) K
	held map[uint64]*item[K, R] // items of one hash follow each other by next
}

func newIndex[K comparable, R any](key func(R) K, n int) index[K, R] {
	return index[K, R]{seed: maphash.MakeSeed(), key: key, held: make(map[uint64]*item[K, R], n)}
}

// find returns the item with that key, nil when there is none.
func (x *index[K, R]) find(k K) *item[K, R] {
	it := x.held[maphash.Comparable(x.seed, k)]
	for it != nil && x.key(it.row) != k {
		it = it.next
	}
	return it
}

// add takes an item whose key is not held yet.
func (x *index[K, R]) add(it *item[K, R]) {
	h := maphash.Comparable(x.seed, x.key(it.row))
	it.next = x.held[h]
	x.held[h] = it
}

// remove takes out an item that is held.
func (x *index[K, R]) remove(it *item[K, R]) { x.unlink(maphash.Comparable(x.seed, x.key(it.row)), it) }

func (x *index[K, R]) unlink(hash uint64, it *item[K, R]) {
	at := x.held[hash]
	switch {
	case at == it && it.next == nil:
		delete(x.held, hash)
	case at == it:
		x.held[hash] = it.next
	default:
		for at.next != it {
			at = at.next
		}
		at.next = it.next
	}
	it.next = nil
}
