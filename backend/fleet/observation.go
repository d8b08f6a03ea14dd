package fleet

import (
	"slices"
	"time"

	"sandglass/backend"
)

// ObservedFor is how long what was proved about a sandbox is worth showing.
const ObservedFor = time.Hour

// Observe takes what an action proved about a sandbox. It is shown beside what the platform reports, with its own age, and
// forgotten after an hour, or as soon as the sandbox was started again since. It asks for a poll of the source, whose
// reading carries it.
func (f *Fleet) Observe(k backend.Key, o backend.Observation) {
	now := f.opt.instant()
	f.queue(backend.Answer{Source: k.Source, Started: now, Ended: now, Proved: &backend.Proof{Sandbox: k, Observation: o}})
	f.Wake(k.Source)
}

// addProved adds what was proved to a reading. Entities and lists may be shared, so that it changes copies.
func (f *Folder) addProved(r *backend.Reading, now time.Time) {
	for k, o := range f.proved {
		if now.Sub(o.At) > ObservedFor {
			delete(f.proved, k)
		}
	}
	if len(f.proved) == 0 {
		return
	}
	r.Sandboxes = slices.Clone(r.Sandboxes)
	for i, b := range r.Sandboxes {
		o, ok := f.proved[b.Key]
		if !ok || b.Observed.IsKnown() || b.Observed.IsNotApplicable() {
			continue
		}
		if started, known := b.StartedAt.Get(); known && started.After(o.At) {
			delete(f.proved, b.Key) // it was proved about the run before
			continue
		}
		c := *b
		c.Observed = backend.Known(o)
		r.Sandboxes[i] = &c
	}
}
