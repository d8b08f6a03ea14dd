package fleet

import (
	"time"

	"sandglass/backend"
)

// ObservedFor is how long what was proved about a sandbox is worth showing.
const ObservedFor = time.Hour

// Observe takes what an action proved about a sandbox. It is shown beside what the platform reports, with its own age, and
// forgotten after an hour, or as soon as the sandbox was started again since. It asks for a poll of the source, whose
// reading carries it.
func (f *Fleet) Observe(k backend.Key, o backend.Observation) {
	f.mu.Lock()
	if f.observed == nil {
		f.observed = map[backend.Key]backend.Observation{}
	}
	f.observed[k] = o
	f.mu.Unlock()
	f.Wake(k.Source)
}

// withObserved adds what was proved to a reading. Entities are shared, so that it changes copies.
func (f *Fleet) withObserved(r *backend.Reading, now time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k, o := range f.observed {
		if now.Sub(o.At) > ObservedFor {
			delete(f.observed, k)
		}
	}
	if len(f.observed) == 0 {
		return
	}
	for i, b := range r.Sandboxes {
		o, ok := f.observed[b.Key]
		if !ok || b.Observed.IsKnown() || b.Observed.IsNotApplicable() {
			continue
		}
		if started, known := b.StartedAt.Get(); known && started.After(o.At) {
			delete(f.observed, b.Key) // it was proved about the run before
			continue
		}
		c := *b
		c.Observed = backend.Known(o)
		r.Sandboxes[i] = &c
	}
}
