package fleet

import (
	"time"

	"sandglass/backend"
)

// ListedWhole is when everything of one kind of a source was last read completely, zero when it never was: only then
// does the absence of an entity say something to whoever has not seen it before.
func (s *State) ListedWhole(source string, kind backend.Kind) time.Time {
	return s.confirmed[confirmation{source, kind}]
}

// WithListed returns a copy of the State in which everything of a kind was read completely at a time. It serves tests
// and readers of recordings.
func (s *State) WithListed(source string, kind backend.Kind, at time.Time) *State {
	c := *s
	c.confirmed = make(map[confirmation]time.Time, len(s.confirmed)+1)
	for k, v := range s.confirmed {
		c.confirmed[k] = v
	}
	c.confirmed[confirmation{source, kind}] = at
	return &c
}
