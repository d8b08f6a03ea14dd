package fleet

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// maxProcesses bounds the processes of a MemoryHistory, each of which has at most 241 points of 16 bytes: 1.5 MB in all.
const maxProcesses = 400

// MemoryHistory is the memory use of processes in the last hour. It is immutable; the zero value is empty.
type MemoryHistory struct {
	of []*ProcessMemory // sorted by process
}

// ProcessMemory is the memory use of one process. It is immutable.
type ProcessMemory struct {
	Process backend.Process
	// Limit is how many bytes it may use; unknown where no source reports it.
	Limit  backend.Value[int64]
	points []MemoryPoint // oldest first, at most one for each backend.MemoryGrain
}

// MemoryPoint is the highest use within one backend.MemoryGrain.
type MemoryPoint struct {
	at    int64 // Unix milliseconds
	Bytes int64
}

// At is the time of the reading.
func (p MemoryPoint) At() time.Time { return time.UnixMilli(p.at) }

func (p MemoryPoint) grain() int64 { return p.at / backend.MemoryGrain.Milliseconds() }

// All walks the processes, in the order of their source, name, labels and session.
func (m MemoryHistory) All() iter.Seq[*ProcessMemory] { return slices.Values(m.of) }

// NewMemoryHistory builds a history from readings alone; it serves tests and readers of recordings.
func NewMemoryHistory(read ...backend.Memory) MemoryHistory {
	var newest time.Time
	for _, x := range read {
		if x.At.After(newest) {
			newest = x.At
		}
	}
	return MemoryHistory{}.with(read, newest)
}

func compareProcesses(a, b backend.Process) int {
	return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Labels.String(), b.Labels.String()), a.Session.Compare(b.Session))
}

// with adds readings, and drops processes that had none for WindowSpan. New processes beyond maxProcesses are not kept.
func (m MemoryHistory) with(read []backend.Memory, now time.Time) MemoryHistory {
	oldest := now.Add(-WindowSpan).UnixMilli()
	if len(read) == 0 && !slices.ContainsFunc(m.of, func(x *ProcessMemory) bool { return x.newest() < oldest }) {
		return m
	}
	by := map[backend.Process][]backend.Memory{}
	for _, x := range read {
		if x.Bytes >= 0 && x.At.UnixMilli() >= oldest {
			by[x.Of] = append(by[x.Of], x)
		}
	}
	out := MemoryHistory{of: make([]*ProcessMemory, 0, len(m.of)+len(by))}
	for _, x := range m.of {
		if added := by[x.Process]; added != nil {
			x = x.with(added)
			delete(by, x.Process)
		}
		if x.newest() >= oldest {
			out.of = append(out.of, x)
		}
	}
	fresh := make([]backend.Process, 0, len(by))
	for p := range by {
		fresh = append(fresh, p)
	}
	stable.Sort(fresh, compareProcesses)
	for _, p := range fresh[:min(len(fresh), maxProcesses-min(len(out.of), maxProcesses))] {
		out.of = append(out.of, (&ProcessMemory{Process: p}).with(by[p]))
	}
	stable.Sort(out.of, func(a, b *ProcessMemory) int { return compareProcesses(a.Process, b.Process) })
	return out
}

func (x *ProcessMemory) newest() int64 { return x.points[len(x.points)-1].at }

func (x *ProcessMemory) with(read []backend.Memory) *ProcessMemory {
	next := &ProcessMemory{Process: x.Process, Limit: x.Limit, points: slices.Clone(x.points)}
	for _, r := range read {
		p := MemoryPoint{r.At.UnixMilli(), r.Bytes}
		i, _ := slices.BinarySearchFunc(next.points, p.grain(), func(q MemoryPoint, g int64) int { return cmp.Compare(q.grain(), g) })
		switch {
		case i == len(next.points) || next.points[i].grain() != p.grain():
			next.points = slices.Insert(next.points, i, p)
		case p.Bytes > next.points[i].Bytes:
			next.points[i] = p
		}
		if r.Limit.IsKnown() {
			next.Limit = r.Limit
		}
	}
	from := next.newest() - WindowSpan.Milliseconds()
	next.points = slices.DeleteFunc(next.points, func(p MemoryPoint) bool { return p.at < from })
	return next
}
