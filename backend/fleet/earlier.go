package fleet

import (
	"maps"
	"time"

	"sandglass/backend"
)

const (
	// MostEarlier is up to how many entities of a kind earlier readings are kept of.
	MostEarlier = 2000
	// earlierSpan is for how long they are kept, and earlierStep how far apart they lie. The newest is always kept.
	earlierSpan, earlierStep = 30 * time.Minute, 15 * time.Minute
)

// Earlier keeps what entities said before their newest reading, so that two readings of one can be compared. It is
// immutable; nil knows none.
type Earlier struct {
	of map[backend.Key][]EarlierReading
}

// EarlierReading is an entity as it was, and when a reading first said otherwise.
type EarlierReading struct {
	Entity backend.Entity
	Until  time.Time
}

// Of lists the earlier readings of an entity that are kept, oldest first: the one of 30 minutes before or the first one, one
// of each 15 minutes since, and the last that said otherwise.
func (e *Earlier) Of(k backend.Key) []EarlierReading {
	if e == nil {
		return nil
	}
	return e.of[k]
}

// with returns one that also knows the entities that readings replaced, and forgets those that went.
func (e *Earlier) with(replaced []EarlierReading, gone []Departure) *Earlier {
	if len(replaced) == 0 && len(gone) == 0 {
		return e
	}
	next := &Earlier{of: maps.Clone(e.of)}
	if next.of == nil {
		next.of = map[backend.Key][]EarlierReading{}
	}
	for _, x := range replaced {
		k := x.Entity.EntityMeta().Key
		next.of[k] = thinned(next.of[k], x)
	}
	for i := range gone {
		delete(next.of, gone[i].Key)
	}
	return next
}

// thinned is a new list with one more reading, without those that need not be kept.
func thinned(list []EarlierReading, x EarlierReading) []EarlierReading {
	if n := len(list); n > 1 && list[n-1].Until.Sub(list[n-2].Until) < earlierStep {
		list = list[:n-1]
	}
	for len(list) > 0 && !list[0].Until.After(x.Until.Add(-earlierSpan)) {
		list = list[1:]
	}
	return append(append(make([]EarlierReading, 0, len(list)+1), list...), x)
}
