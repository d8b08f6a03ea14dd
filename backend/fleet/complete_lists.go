package fleet

import (
	"time"

	"sandglass/backend"
)

// LastCompleteList is when the last complete list of a source's entities of one kind was read. It is zero when there was
// none. An entity that was never seen counts as absent only after such a list.
func (s *State) LastCompleteList(source string, kind backend.Kind) time.Time {
	return s.confirmed[confirmation{source, kind}]
}

// WithListed returns a copy of the State with a complete list of a kind read at a time. It serves tests and readers of
// recordings.
func (s *State) WithListed(source string, kind backend.Kind, at time.Time) *State {
	c := *s
	c.confirmed = make(map[confirmation]time.Time, len(s.confirmed)+1)
	for k, v := range s.confirmed {
		c.confirmed[k] = v
	}
	c.confirmed[confirmation{source, kind}] = at
	return &c
}
