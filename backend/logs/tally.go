package logs

import (
	"cmp"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// seriesKey is a backend.Series without what is the same for the whole source.
type seriesKey struct {
	metric             backend.Metric
	session, workspace string
	sandbox            string // of reads and writes only
}

// tally sums what one poll found, by series and by at most 5 s of the lines' own time, and remembers which series
// exist, so that silence is reported as 0.
type tally struct {
	series  map[seriesKey]*seriesTally
	covered time.Time // since when everything was seen
	folded  int       // lines whose session or workspace was one too many
}

type seriesTally struct {
	buckets []cell
	last    time.Time // of the newest count
	told    time.Time // when a count was last reported, zero before the first
}

type cell struct {
	start  int64
	newest time.Time
	n      float64
	lower  bool
	open   bool // a lower bound for as long as the meaning of suppressedCount is open
	sample []byte
}

func newTally(covered time.Time) *tally {
	t := &tally{series: map[seriesKey]*seriesTally{}, covered: covered}
	for _, m := range backend.LogMetrics() {
		t.series[seriesKey{metric: m}] = &seriesTally{last: covered}
	}
	return t
}

// add counts n at a time. The sample is copied, and kept when it is the newest of its bucket.
func (t *tally) add(k seriesKey, at time.Time, n float64, lower bool, sample []byte) {
	c := t.admit(k, at).cell(at)
	c.n += n
	c.lower = c.lower || lower
	if !at.Before(c.newest) {
		c.newest = at
		if sample != nil {
			c.sample = append(c.sample[:0], sample[:min(len(sample), maxSample)]...)
		}
	}
}

// undecided marks the count of a rollup whose meaning is open; settle takes the mark away and adds what was due.
func (t *tally) undecided(k seriesKey, at time.Time) { t.admit(k, at).cell(at).open = true }

func (t *tally) settle(o pendingCount) {
	if o.n > 0 {
		t.add(o.series, o.at, o.n, false, nil)
	}
	if s := t.series[o.series]; s != nil {
		for i := range s.buckets {
			if s.buckets[i].start == o.at.UnixNano()/int64(bucket) {
				s.buckets[i].open = false
				s.buckets[i].lower = s.buckets[i].lower || o.before
			}
		}
	}
}

func (t *tally) admit(k seriesKey, at time.Time) *seriesTally {
	s := t.series[k]
	if s == nil && len(t.series) >= maxSeries && (k.session != "" || k.workspace != "" || k.sandbox != "") {
		t.folded++
		k.session, k.workspace, k.sandbox = "", "", ""
		s = t.series[k]
	}
	if s == nil {
		s = &seriesTally{}
		t.series[k] = s
	}
	if at.After(s.last) {
		s.last = at
	}
	return s
}

func (s *seriesTally) cell(at time.Time) *cell {
	start := at.UnixNano() / int64(bucket)
	for i := len(s.buckets) - 1; i >= 0; i-- {
		if s.buckets[i].start == start {
			return &s.buckets[i]
		}
	}
	s.buckets = append(s.buckets, cell{start: start})
	return &s.buckets[len(s.buckets)-1]
}

// counts empties the tally into counts in a stable order. Every known series gets a 0 at now unless it was
// reported less than 5 s ago, and a new one a 0 at the time since which everything was seen.
func (t *tally) counts(source string, now time.Time, clean func([]byte) backend.Safe) []backend.Count {
	var out []backend.Count
	covered := t.covered
	if oldest := now.Add(-forgetSeries); covered.Before(oldest) {
		covered = oldest
	}
	for k, s := range t.series {
		if k.metric == backend.MetricNamed && k.session == "" {
			delete(t.series, k) // folded: says nothing
			continue
		}
		if (k.session != "" || k.sandbox != "") && len(s.buckets) == 0 && now.Sub(s.last) > forgetSeries {
			delete(t.series, k)
			continue
		}
		series := backend.Series{Source: source, Name: k.metric}
		series.Session, _ = backend.NewID(k.session) // empty: none; too long was refused before
		series.Workspace, _ = backend.NewID(k.workspace)
		series.Sandbox, _ = backend.NewID(k.sandbox)
		newest := time.Time{}
		for i := range s.buckets {
			c := &s.buckets[i]
			count := backend.Count{Series: series, At: c.newest, N: c.n, LowerBound: c.lower || c.open}
			if len(c.sample) > 0 {
				count.Sample = clean(c.sample)
			}
			out = append(out, count)
			if c.newest.After(newest) {
				newest = c.newest
			}
		}
		if s.told.IsZero() && (newest.IsZero() || covered.Before(newest)) && covered.Before(now) {
			out = append(out, backend.Count{Series: series, At: covered})
		}
		if !newest.Equal(now) && now.Sub(s.told) >= bucket {
			out = append(out, backend.Count{Series: series, At: now})
			newest = now
		}
		if newest.After(s.told) {
			s.told = newest
		}
		s.buckets = nil
	}
	stable.Sort(out, func(a, b backend.Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Series.Name, b.Series.Name),
			a.Series.Session.Compare(b.Series.Session), a.Series.Workspace.Compare(b.Series.Workspace), a.Series.Sandbox.Compare(b.Series.Sandbox), cmp.Compare(a.N, b.N))
	})
	return out
}
