package alerts

import (
	"sort"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// searchCursor finds keys that are looked up in about their sorted order. It estimates the next position from the average
// distance of the ones before: reading a record far away costs more than comparing it.
type searchCursor struct {
	at, n int // where the last one was, and how many were looked up
}

// find is where among n sorted things the key is, or would be; compare says how the i-th of them is to the key.
func (f *searchCursor) find(n int, compare func(i int) int) (at int, found bool) {
	if n == 0 {
		return 0, false
	}
	guess := f.at
	if f.n > 0 {
		guess += f.at / f.n
	}
	guess = min(guess, n-1)
	lo, hi := 0, n // the first that is not less lies within
	switch c := compare(guess); {
	case c == 0:
		f.at, f.n = guess, f.n+1
		return guess, true
	case c < 0:
		lo = guess + 1
		for d := 1; lo+d < n; d *= 2 {
			if compare(lo+d) >= 0 {
				hi = lo + d + 1
				break
			}
			lo += d + 1
		}
	default:
		hi = guess
		for d := 1; hi-d > 0; d *= 2 {
			if compare(hi-d) < 0 {
				lo = hi - d + 1
				break
			}
			hi -= d
		}
	}
	i := lo + sort.Search(hi-lo, func(i int) bool { return compare(lo+i) >= 0 })
	if i < f.at {
		f.n = 0 // another round begins
	}
	f.at, f.n = i, f.n+1
	return i, i < n && compare(i) == 0
}

// recordCursor looks records up.
type recordCursor struct {
	rs []*record // sorted by key
	searchCursor
}

func (f *recordCursor) get(k backend.Key) *record {
	if len(f.rs) == 0 {
		return nil
	}
	if i, ok := f.find(len(f.rs), func(i int) int {
		if x := &f.rs[i].Key; *x != k { // mostly the same, and the same texts in memory
			return x.Compare(k)
		}
		return 0
	}); ok {
		return f.rs[i]
	}
	return nil
}

// lookUp finds the entities that a table has of some sorted keys.
func lookUp(t fleet.Rows, keys []backend.Key) []backend.Entity {
	out := make([]backend.Entity, 0, len(keys))
	var f searchCursor
	for _, k := range keys {
		if i, ok := f.find(t.Len(), func(i int) int { return t.Entity(i).EntityMeta().Key.Compare(k) }); ok {
			out = append(out, t.Entity(i))
		}
	}
	return out
}
