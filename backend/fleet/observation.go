package fleet

import (
	"slices"

	"sandglass/backend"
)

// maxProved bounds the sandboxes of which what was proved is kept; the oldest goes first.
const maxProved = 1000

// Observe takes what an action proved about a sandbox. It is shown beside what the platform reports, with its own age, until
// a newer one, and marked once the sandbox was started again since. It asks for a poll of the source, whose reading
// carries it.
func (f *Fleet) Observe(k backend.Key, o backend.Observation) {
	now := f.opt.instant()
	f.queue(backend.Answer{Source: k.Source, Started: now, Ended: now, Proved: &backend.Proof{Sandbox: k, Observation: o}})
	f.Wake(k.Source)
}

// addProved adds what was proved to a reading. Entities and lists may be shared, so that it changes copies.
func (f *Folder) addProved(r *backend.Reading) {
	for len(f.proved) > maxProved {
		var oldest backend.Key
		for k, o := range f.proved {
			if at := f.proved[oldest].At; oldest.Kind == "" || o.At.Before(at) {
				oldest = k
			}
		}
		delete(f.proved, oldest)
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
			o.Past = true // it was proved about the run before
		}
		c := *b
		c.Observed = backend.Known(o)
		r.Sandboxes[i] = &c
	}
}
