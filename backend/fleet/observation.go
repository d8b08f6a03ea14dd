package fleet

import (
	"slices"

	"sandglass/backend"
)

// maxProved bounds the sandboxes of which what was proved is kept; the oldest goes first.
const maxProved = 1000

// Observe takes what an action proved about a sandbox. It is shown beside what the platform reports, with its own age, until
// a newer one, and marked once the sandbox was started again since. It asks for a poll of the source.
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
		if o, ok := f.proved[b.Key]; ok && !b.Observed.IsKnown() && !b.Observed.IsNotApplicable() {
			r.Sandboxes[i] = observed(b, o)
		}
	}
}

// observed is a sandbox with what was proved about it.
func observed(b *backend.Sandbox, o backend.Observation) *backend.Sandbox {
	if started, known := b.StartedAt.Get(); known && started.After(o.At) {
		o.Past = true // it was proved about the run before
	}
	c := *b
	c.Observed = backend.Known(o)
	return &c
}

// prove shows what was proved about a sandbox that is known: its source may have nothing new to say of it for long.
func (s *store) prove(p *backend.Proof) {
	t, ok := s.of(backend.KindSandbox).(*stagingTable[backend.Sandbox, *backend.Sandbox])
	if !ok {
		return
	}
	if b := t.get(p.Sandbox); b != nil && !b.Observed.IsNotApplicable() {
		c := observed(b, p.Observation)
		c.Rev = s.number + 1
		t.put[p.Sandbox] = c
		s.changed = append(s.changed, p.Sandbox)
	}
}
