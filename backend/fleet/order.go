package fleet

import (
	"cmp"
	"encoding/binary"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// place is a row of a reading, with what decides most comparisons of its key beside it: a sort that follows two pointers
// for each comparison waits for memory most of the time.
type place struct {
	prefix uint64 // the first bytes in which the keys differ
	row    int32
}

// orderOfKeys returns keys in order, those that are one key in the order in which they are. Rows with different prefixes
// have different keys.
func orderOfKeys(keys []backend.Key) []place {
	places := make([]place, len(keys))
	for i := range places {
		places[i].row = int32(i)
	}
	if text := decidingText(keys); text != nil {
		first := text(&keys[0])
		shared := len(first)
		for i := range keys {
			shared = sharedBytes(first, text(&keys[i]), shared)
		}
		for i := range keys {
			var b [8]byte // short texts end with zeros; so may others, which is why rows that agree here are compared whole
			copy(b[:], text(&keys[i])[shared:])
			places[i].prefix = binary.BigEndian.Uint64(b[:])
		}
	}
	stable.Sort(places, func(a, b place) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		if c := keys[a.row].Compare(keys[b.row]); c != 0 {
			return c
		}
		return cmp.Compare(a.row, b.row)
	})
	return places
}

// decidingText is the first field in which keys of one kind and source differ; nil where kind or source differ.
func decidingText(keys []backend.Key) func(*backend.Key) string {
	first, parents := &keys[0], false
	for i := range keys {
		k := &keys[i]
		if k.Kind != first.Kind || k.Source != first.Source {
			return nil
		}
		parents = parents || k.Parent != first.Parent
	}
	if parents {
		return func(k *backend.Key) string { return k.Parent.Raw() }
	}
	return func(k *backend.Key) string { return k.ID.Raw() }
}

// sharedBytes is how many first bytes, at most so many, two texts share.
func sharedBytes(a, b string, most int) int {
	most = min(most, len(a), len(b))
	for i := range most {
		if a[i] != b[i] {
			return i
		}
	}
	return most
}
