package fleet

import (
	"iter"
	"strings"
	"time"

	"sandglass/backend"
)

// WindowSpan is how far back Windows reach.
const WindowSpan = time.Hour

// Windows are the counts of the last hour, by series. They are immutable; the zero Windows are empty.
type Windows struct {
	series []*window // sorted
}

// Increase is the sum of the counts in a window.
type Increase struct {
	N float64
	// First and Last are the times of the first and last count inside the window; a count of 0 is one too.
	First, Last time.Time
	// Samples is the number of counts inside the window. Fewer than two give no rate.
	Samples int
	// LowerBound says that more may have happened than was seen.
	LowerBound bool
	// Sample is the newest line or label set behind the number.
	Sample backend.Safe
}

// Rate is N per second over the window, or 0 and false with fewer than two samples.
func (i Increase) Rate(window time.Duration) (perSecond float64, ok bool) {
	if i.Samples < 2 || window <= 0 {
		return 0, false
	}
	return i.N / window.Seconds(), true
}

// Add joins two increases over the same window.
func (i Increase) Add(o Increase) Increase {
	if o.Samples == 0 {
		return i
	}
	if i.Samples == 0 {
		return o
	}
	i.N += o.N
	if o.First.Before(i.First) {
		i.First = o.First
	}
	if o.Last.After(i.Last) {
		i.Last, i.Sample = o.Last, o.Sample
	}
	i.Samples = max(i.Samples, o.Samples)
	i.LowerBound = i.LowerBound || o.LowerBound
	return i
}

// Over returns what one series saw in the window that ends at now.
func (w Windows) Over(s backend.Series, now time.Time, window time.Duration) Increase {
	if x := w.get(s); x != nil {
		return x.over(now, window)
	}
	return Increase{}
}

// All walks the series of one metric, in the order of their source, provider, session and workspace.
func (w Windows) All(name backend.Metric) iter.Seq[backend.Series] {
	return func(yield func(backend.Series) bool) {
		for i := w.search(backend.Series{Name: name}); i < len(w.series) && w.series[i].key.Name == name; i++ {
			if !yield(w.series[i].key) {
				return
			}
		}
	}
}

// AllOf walks the series of all metrics whose names begin with a text, in their order.
func (w Windows) AllOf(prefix backend.Metric) iter.Seq[backend.Series] {
	return func(yield func(backend.Series) bool) {
		for i := w.search(backend.Series{Name: prefix}); i < len(w.series) && strings.HasPrefix(string(w.series[i].key.Name), string(prefix)); i++ {
			if !yield(w.series[i].key) {
				return
			}
		}
	}
}

// Counts walks what one series counted in the last hour, oldest first: by when, and how much. Counts of one moment are
// joined, and old ones of a minute; a count of 0 says that there was no event until then.
func (w Windows) Counts(s backend.Series) iter.Seq2[time.Time, float64] {
	return func(yield func(time.Time, float64) bool) {
		x := w.get(s)
		if x == nil {
			return
		}
		for _, p := range x.pts {
			if !yield(time.UnixMilli(p.last), p.n) {
				return
			}
		}
	}
}

// Buckets splits the window that ends at now into n equal parts, oldest first, for a sparkline.
func (w Windows) Buckets(s backend.Series, now time.Time, window time.Duration, n int) []float64 {
	if x := w.get(s); x != nil {
		return x.buckets(now, window, n)
	}
	return make([]float64, n)
}

// NewWindows builds windows from counts alone; it serves tests and readers of recordings.
func NewWindows(counts ...backend.Count) Windows {
	w, _ := Windows{}.with(counts, time.Time{})
	return w
}
