package fleet

import (
	"slices"
	"time"

	"sandglass/backend"
)

// Folder makes States of Answers. It owns the tables and indexes from which the next State is made, and it is the only
// way to make one: a live Fleet, a scenario and a recording all use it. It reads no clock and starts nothing, so that
// equal Answers at equal times give equal States. It belongs to one goroutine.
type Folder struct {
	store   *store
	sources []*sourceRecord // in the order of their introduction
	proved  observations
	before  func(*backend.Answer)
}

// NewFolder makes a Folder that knows nothing. longest is how long one operation of an agent may take; it is copied into
// every State.
func NewFolder(longest time.Duration) *Folder {
	return &Folder{store: newStore(longest), proved: observations{known: map[backend.Key]*observed{}}}
}

// Before has f called with each Answer just before it is folded. That is the moment to write it down: from then on its
// entities belong to the States.
func (f *Folder) Before(do func(*backend.Answer)) { f.before = do }

// Fold adds Answers to what is known and returns the next State, as of a time. It takes over the entities of the Answers.
func (f *Folder) Fold(answers []backend.Answer, at backend.Instant) *State {
	for i := range answers {
		a := &answers[i]
		if f.before != nil {
			f.before(a)
		}
		f.add(a, at.Wall)
	}
	f.store.events = append(f.store.events, f.proved.events()...)
	health := make([]*SourceHealth, len(f.sources))
	f.store.release(at.Wall)
	for i, s := range f.sources {
		health[i] = s.health(at.Wall, f.store.heldOf(s.h.Key.Source))
	}
	return f.store.build(at.Wall, at.Mono, health)
}

func (f *Folder) add(a *backend.Answer, now time.Time) {
	if a.Config != nil {
		f.sources = append(f.sources, newSourceRecord(a.Source, *a.Config))
	}
	if a.Proved != nil {
		f.store.prove(a.Proved, &f.proved)
	}
	if a.Reading == nil && a.Failure == nil {
		return
	}
	if !a.More {
		if i := slices.IndexFunc(f.sources, func(s *sourceRecord) bool { return s.h.Key.Source == a.Source }); i >= 0 {
			f.sources[i].note(a)
		}
	}
	if a.Reading != nil {
		r := *a.Reading
		r.At = r.At.Add(-a.Load.BodyAge) // ages are those of the body
		sortReading(&r)
		f.store.joinNamed(&r)
		f.proved.join(&r, f.store)
		f.store.apply(&r)
	}
}
