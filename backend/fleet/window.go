package fleet

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// window is the last hour of one series. It is immutable: appending makes a new window that may share the points'
// memory, which is safe because there is one writer and no reader looks past its own length.
type window struct {
	key    backend.Series
	pts    []point
	sample backend.Safe
}

// point joins the counts of one moment; once there are many, of 5 seconds, and of a minute when they are old.
type point struct {
	first, last int64 // Unix milliseconds
	n           float64
	samples     int32
	lower       bool
}

const (
	// fineSpan is how far back counts are joined by 5 seconds; older ones are joined by the minute.
	fineSpan = 10 * time.Minute
	// compactAt is the number of points at which old ones are joined.
	compactAt = 320
	// slack is how far behind the newest point a count's time may be and still be counted at that point's time.
	slack = 10 * time.Second
)

func compareSeries(a, b backend.Series) int {
	return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Provider, b.Provider),
		a.Session.Compare(b.Session), a.Workspace.Compare(b.Workspace), a.Sandbox.Compare(b.Sandbox))
}

func (w Windows) search(s backend.Series) int {
	return sort.Search(len(w.series), func(i int) bool { return compareSeries(w.series[i].key, s) >= 0 })
}

func (w Windows) get(s backend.Series) *window {
	if i := w.search(s); i < len(w.series) && w.series[i].key == s {
		return w.series[i]
	}
	return nil
}

// with adds counts and drops series without counts since before; it returns the series that changed.
func (w Windows) with(counts []backend.Count, before time.Time) (Windows, []backend.Series) {
	by := make(map[backend.Series][]backend.Count)
	for _, c := range counts {
		by[c.Series] = append(by[c.Series], c)
	}
	changed := make([]backend.Series, 0, len(by))
	out := make([]*window, 0, len(w.series)+len(by))
	for _, x := range w.series {
		if cs, ok := by[x.key]; ok {
			out = append(out, x.with(cs))
			changed = append(changed, x.key)
			delete(by, x.key)
			continue
		}
		if x.pts[len(x.pts)-1].last >= before.UnixMilli() || before.IsZero() {
			out = append(out, x)
		}
	}
	for s, cs := range by {
		out = append(out, (&window{key: s}).with(cs))
		changed = append(changed, s)
	}
	stable.Sort(out, func(a, b *window) int { return compareSeries(a.key, b.key) })
	stable.Sort(changed, compareSeries)
	return Windows{series: out}, changed
}

func (x *window) with(counts []backend.Count) *window {
	stable.Sort(counts, func(a, b backend.Count) int { return a.At.Compare(b.At) })
	next := &window{key: x.key, pts: x.pts, sample: x.sample}
	for _, c := range counts {
		at := c.At.UnixMilli()
		if n := len(next.pts); n > 0 && at < next.pts[n-1].last && at >= next.pts[n-1].last-slack.Milliseconds() {
			at = next.pts[n-1].last
		}
		p := point{first: at, last: at, n: c.N, samples: 1, lower: c.LowerBound}
		if n := len(next.pts); n == 0 || at >= next.pts[n-1].last {
			next.pts = append(next.pts, p)
		} else {
			i := sort.Search(n, func(i int) bool { return next.pts[i].last > at })
			next.pts = slices.Insert(slices.Clone(next.pts), i, p)
		}
		if !c.Sample.IsEmpty() {
			next.sample = c.Sample
		}
	}
	next.trim()
	return next
}

// trim drops points older than the span and, once there are many, joins neighbours.
func (x *window) trim() {
	newest := x.pts[len(x.pts)-1].last
	from := newest - WindowSpan.Milliseconds()
	i := sort.Search(len(x.pts), func(i int) bool { return x.pts[i].last >= from })
	x.pts = x.pts[i:]
	if len(x.pts) < compactAt {
		return
	}
	fine := newest - fineSpan.Milliseconds()
	out := make([]point, 0, compactAt)
	for _, p := range x.pts {
		grain := int64(60_000)
		if p.last >= fine {
			grain = 5_000
		}
		if n := len(out); n > 0 && p.last/grain == out[n-1].last/grain {
			o := &out[n-1]
			o.last, o.n, o.samples, o.lower = p.last, o.n+p.n, o.samples+p.samples, o.lower || p.lower
			continue
		}
		out = append(out, p)
	}
	x.pts = out
}

func (x *window) over(now time.Time, span time.Duration) Increase {
	from, to := now.Add(-span).UnixMilli(), now.UnixMilli()
	var in Increase
	for i := sort.Search(len(x.pts), func(i int) bool { return x.pts[i].last > from }); i < len(x.pts); i++ {
		p := x.pts[i]
		if p.last > to {
			break
		}
		if in.Samples == 0 {
			in.First = time.UnixMilli(max(p.first, from))
		}
		in.Last = time.UnixMilli(p.last)
		in.N += p.n
		in.Samples += int(p.samples)
		in.LowerBound = in.LowerBound || p.lower
	}
	if in.Samples > 0 {
		in.Sample = x.sample
	}
	return in
}

func (x *window) buckets(now time.Time, span time.Duration, n int) []float64 {
	out := make([]float64, n)
	if n == 0 {
		return out
	}
	from := now.Add(-span).UnixMilli()
	for i := sort.Search(len(x.pts), func(i int) bool { return x.pts[i].last > from }); i < len(x.pts); i++ {
		b := int((x.pts[i].last - from) * int64(n) / span.Milliseconds())
		if b >= 0 && b < n {
			out[b] += x.pts[i].n
		} else if b == n {
			out[n-1] += x.pts[i].n
		}
	}
	return out
}
