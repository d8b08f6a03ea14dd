package prometheus

import (
	"math"
	"time"

	dto "github.com/prometheus/client_model/go"

	"sandglass/backend"
)

// forgetAfter is how long a series may be absent and still be continued when it comes back.
const forgetAfter = time.Hour

// tracker turns the values of one counter metric, one per label set, into increases.
type tracker struct {
	known map[string]*counter
	// watched: some earlier page was read completely, so that a label set that is new now was born since.
	watched bool
}

type counter struct {
	last   float64
	seenAt time.Time
}

// sample is one line of the page.
type sample struct {
	labels string // the complete label set, unambiguous
	series backend.Series
	value  float64
	pairs  []*dto.LabelPair
}

// page is what one reading of the metrics page says about one metric.
type page struct {
	samples  []sample
	complete bool // nothing of the page is missing
	// restarted: the process behind the page started anew since the page before, so that every value counts from 0.
	restarted bool
	// foreign: another process answered than before, whose values continue nothing.
	foreign bool
	at      time.Time
}

// increase is what happened to one label set since the page before.
type increase struct {
	series backend.Series
	n      float64
	lower  bool // more may have happened: what came between the last page and a reset is lost
	from   *sample
}

func newTracker() *tracker { return &tracker{known: map[string]*counter{}} }

// read takes one page and returns one increase per label set on it; first sight of a counter gives 0, which says that
// somebody looks. At most limit label sets are followed; skipped counts the others.
func (t *tracker) read(p page, limit int) (out []increase, skipped int) {
	if p.foreign {
		clear(t.known)
		t.watched = false
	}
	for _, c := range t.known {
		if p.restarted {
			c.last = 0
		}
	}
	out = make([]increase, 0, len(p.samples))
	for i := range p.samples {
		s := &p.samples[i]
		if math.IsNaN(s.value) || math.IsInf(s.value, 0) || s.value < 0 {
			skipped++
			continue
		}
		c, known := t.known[s.labels]
		if !known && len(t.known) >= limit {
			skipped++
			continue
		}
		inc := increase{series: s.series, from: s, lower: p.restarted || p.foreign}
		switch {
		case !known && (t.watched || p.restarted):
			inc.n = s.value // its first value is what happened since the page before
		case !known:
		case s.value < c.last:
			inc.n, inc.lower = s.value, true
		default:
			inc.n = s.value - c.last
		}
		if !known {
			c = &counter{}
			t.known[s.labels] = c
		}
		c.last, c.seenAt = s.value, p.at
		out = append(out, inc)
	}
	for labels, c := range t.known {
		if p.at.Sub(c.seenAt) > forgetAfter {
			delete(t.known, labels)
		}
	}
	// After an incomplete page a new label set may be as old as any other.
	t.watched = p.complete
	return out, skipped
}
