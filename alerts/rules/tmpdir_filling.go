package rules

import (
	"time"

	"sandglass/backend"
)

const (
	// fillingSeen is how long the rate at which a disk fills must be seen.
	fillingSeen = 10 * time.Minute
	// fillingPart is in what parts that time is looked at, and fillingSteady the least share of the mean rate in each of
	// them: one large write is no rate.
	fillingPart   = 2 * time.Minute
	fillingSteady = 0.4
)

// freeOf is how many bytes are free below the first three roots of a host; negative where that is not known.
func freeOf(h *backend.Host) [3]float64 {
	n := [3]float64{-1, -1, -1}
	for i := range h.Roots[:min(len(h.Roots), len(n))] {
		if free, ok := h.Roots[i].BytesFree.Get(); ok {
			n[i] = float64(free)
		}
	}
	return n
}

// filling is how the free space below a root fell.
type filling struct {
	lost          float64 // bytes
	watched, left time.Duration
}

// filling reports how a root fills at the rate of the last ten minutes, whatever fills it. False where it does not, or was
// not watched for so long.
func (p *pile) filling(root int) (filling, bool) {
	if root >= len(point{}.N) || len(p.space) < 3 {
		return filling{}, false
	}
	last, from := p.space[len(p.space)-1], -1
	for i, x := range p.space { // the newest one that lies so far back
		if last.At.Sub(x.At) >= fillingSeen {
			from = i
		}
	}
	if from < 0 {
		return filling{}, false
	}
	first := p.space[from]
	f := filling{lost: first.N[root] - last.N[root], watched: last.At.Sub(first.At)}
	if f.lost <= 0 {
		return filling{}, false
	}
	part := first
	for _, x := range p.space[from:] {
		if x.N[root] < 0 {
			return filling{}, false
		}
		d := x.At.Sub(part.At)
		if d < fillingPart {
			continue
		}
		if lost := part.N[root] - x.N[root]; lost < fillingSteady*f.lost*d.Seconds()/f.watched.Seconds() {
			return filling{}, false
		}
		part = x
	}
	f.left = time.Duration(last.N[root] / f.lost * float64(f.watched))
	return f, true
}
