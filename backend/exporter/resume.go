package exporter

import (
	"cmp"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	// maxMarks is how many label sets of a metric are remembered for the next process; of more none are.
	maxMarks = 20_000
	// maxKept is how many counts, and how many readings of memory, are.
	maxKept = 2000
	keptFor = time.Hour
)

// Mark is where the counters stand, for the next process; of too many none.
func (t *Tracker) Mark() backend.CounterMark {
	out := backend.CounterMark{At: t.at, Complete: t.watched}
	if len(t.known) > maxMarks {
		return backend.CounterMark{}
	}
	for id, c := range t.known {
		v := backend.CounterLast{Labels: uint64(id), Value: c.last}
		if c.target != (Target{}) {
			v.Target = []string{string(c.target.Job), string(c.target.Instance)}
		}
		if !c.seenAt.Equal(t.at) {
			v.At = c.seenAt
		}
		out.Values = append(out.Values, v)
	}
	stable.Sort(out.Values, func(a, b backend.CounterLast) int { return cmp.Compare(a.Labels, b.Labels) })
	return out
}

// Resume goes on where a former process stopped.
func (t *Tracker) Resume(m backend.CounterMark) {
	if m.At.IsZero() {
		return
	}
	t.at, t.watched, t.known = m.At, m.Complete, map[model.Fingerprint]*Counter{}
	for _, v := range m.Values {
		c := &Counter{last: v.Value, seenAt: v.At}
		if v.At.IsZero() {
			c.seenAt = m.At
		}
		if len(v.Target) == 2 {
			c.target = Target{model.LabelValue(v.Target[0]), model.LabelValue(v.Target[1])}
		}
		t.known[model.Fingerprint(v.Labels)] = c
	}
}

// Kept are the counts and readings of memory of the last hour, for the next process. They are bounded.
type Kept struct {
	counts []backend.Count
	memory []backend.Memory
}

// Resume takes what a former process kept.
func (k *Kept) Resume(counts []backend.Count, memory []backend.Memory) {
	k.counts, k.memory = slices.Clone(counts), slices.Clone(memory)
}

// Tell puts what a former process counted before the counts of the first reading.
func (k *Kept) Tell(r *backend.Reading) {
	r.Counts = slices.Concat(k.counts, r.Counts)
	r.Memory = slices.Concat(k.memory, r.Memory)
}

// Add adds what a reading counted. Between two counts of zero of a series further ones say nothing.
func (k *Kept) Add(r *backend.Reading) {
	type ends [2]int // of a series: its newest counts
	last := map[backend.Series]ends{}
	over := r.At.Add(-keptFor)
	var counts []backend.Count
	for _, c := range slices.Concat(k.counts, r.Counts) {
		if c.At.Before(over) {
			continue
		}
		e, known := last[c.Series]
		if known && e[1] > e[0] && c.N == 0 && !c.LowerBound && quiet(counts[e[0]]) && quiet(counts[e[1]]) {
			counts[e[1]].At = c.At
			continue
		}
		at := ends{len(counts), len(counts)}
		if known {
			at[0] = e[1]
		}
		last[c.Series] = at
		counts = append(counts, c)
	}
	stable.Sort(counts, func(a, b backend.Count) int { return a.At.Compare(b.At) })
	k.counts = newest(fewer(counts))
	grains := map[backend.Process]int{}
	var memory []backend.Memory
	for _, m := range slices.Concat(k.memory, r.Memory) {
		i, known := grains[m.Of]
		switch {
		case m.At.Before(over):
			continue
		case known && memory[i].At.UnixNano()/int64(backend.MemoryGrain) == m.At.UnixNano()/int64(backend.MemoryGrain):
			if m.Bytes >= memory[i].Bytes {
				memory[i] = m
			}
			continue
		}
		grains[m.Of] = len(memory)
		memory = append(memory, m)
	}
	k.memory = newest(memory)
}

// Mark adds what is kept to marks. Where the counters of a metric are not remembered, its counts are none either: a process
// that begins anew with these must not pass for one that watched.
func (k *Kept) Mark(to *backend.CounterMarks, of ...*Tracker) {
	to.Counts, to.Memory = k.counts, k.memory
	for _, t := range of {
		if to.Metrics = append(to.Metrics, t.Mark()); len(t.known) > maxMarks {
			to.Counts = nil
		}
	}
}

// fewer sums the counts of more series than can be kept up by metric and provider.
func fewer(counts []backend.Count) []backend.Count {
	if len(counts) <= maxKept {
		return counts
	}
	at := map[cell]int{}
	var out []backend.Count
	for _, c := range counts {
		c.Series.Session, c.Series.Workspace = backend.ID{}, backend.ID{}
		id := cell{c.Series, c.At.UnixNano()}
		i, known := at[id]
		if !known {
			at[id] = len(out)
			out = append(out, c)
			continue
		}
		if out[i].N == 0 {
			out[i].Sample = c.Sample
		}
		out[i].N += c.N
		out[i].LowerBound = out[i].LowerBound || c.LowerBound
	}
	return out
}

func quiet(c backend.Count) bool { return c.N == 0 && !c.LowerBound }

func newest[T any](all []T) []T { return all[max(0, len(all)-maxKept):] }
