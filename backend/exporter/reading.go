package exporter

import (
	"cmp"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// MaxProcesses is how many label sets of memory are read.
const MaxProcesses = 200

// Source is what turns samples of one configured source into parts of a Reading.
type Source struct {
	ID      string
	Metrics *Metrics
	Cleaner *backend.Cleaner
	Every   time.Duration // how often it is asked

	foundAt time.Time // when the metric of evictions was last there
}

// label is the value of a configured label; empty without one.
func label(m model.Metric, name string) string {
	if name == "" {
		return ""
	}
	return string(m[model.LabelName(name)])
}

// Series says what a label set counts for. A session or workspace that is empty or absurdly long is none.
func (s *Source) Series(m model.Metric, name backend.Metric) backend.Series {
	l := s.Metrics.Labels
	out := backend.Series{Source: s.ID, Name: name, Provider: label(m, l.Provider)}
	out.Session, _ = backend.NewID(label(m, l.Session))
	out.Workspace, _ = backend.NewID(label(m, l.Workspace))
	return out
}

// Sums adds up what label sets of the same series and moment count.
type Sums struct {
	List []backend.Count

	s    *Source
	name backend.Metric
	at   map[cell]int
}

type cell struct {
	series backend.Series
	at     int64
}

// Sums begins with nothing.
func (s *Source) Sums(name backend.Metric) *Sums { return &Sums{s: s, name: name, at: map[cell]int{}} }

// Add adds an increase. What rose over several intervals, as when nobody looked, is spread over them.
func (u *Sums) Add(i Increase, at time.Time) {
	if i.N > 0 && !i.Since.IsZero() && u.s.Every > 0 {
		for steps, all := math.Round(float64(at.Sub(i.Since))/float64(u.s.Every)), i.N; steps > 1; steps-- {
			i.N = math.Floor(all / steps)
			u.put(i, at.Add(-time.Duration(steps-1)*u.s.Every))
			all -= i.N
			i.N = all
		}
	}
	u.put(i, at)
}

func (u *Sums) put(i Increase, at time.Time) {
	key := cell{u.s.Series(i.Metric, u.name), at.UnixNano()}
	n, ok := u.at[key]
	if !ok {
		n = len(u.List)
		u.at[key] = n
		u.List = append(u.List, backend.Count{Series: key.series, At: at})
	}
	c := &u.List[n]
	if i.N > 0 && c.N == 0 { // the evidence is what rose, not what stood still
		c.Sample = u.s.Cleaner.Clean(i.Metric.String()+" "+strconv.FormatFloat(float64(i.Value), 'f', -1, 64), 300)
	}
	c.N += i.N
	c.LowerBound = c.LowerBound || i.Lower
}

// SortCounts orders counts by time and series.
func SortCounts(counts []backend.Count) {
	stable.Sort(counts, func(a, b backend.Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Series.Name, b.Series.Name), cmp.Compare(a.Series.Provider, b.Series.Provider),
			a.Series.Session.Compare(b.Series.Session), a.Series.Workspace.Compare(b.Series.Workspace))
	})
}

// Skipped notes label sets that are not followed.
func Skipped(r *backend.Reading, n int, metric string) {
	if n > 0 {
		r.Notes = append(r.Notes, backend.Textf("%d label sets of %s are not followed (beyond max_series, or no number to count)", n, metric))
	}
}

// Unwatched notes what counters rose by while they were not read.
func Unwatched(r *backend.Reading, n float64, metric string) {
	if n > 0 {
		r.Notes = append(r.Notes, backend.Textf("%s rose by %s while it was not read for more than %d minutes: when is not known, so that is not counted",
			metric, strconv.FormatFloat(n, 'f', -1, 64), int(WatchedGap.Minutes())))
	}
}

// Found says whether a metric can be counted.
type Found uint8

// What a metric that was looked for is. NotYet was read whole and lacks it: some libraries export a counter only after its
// first increment.
const (
	Unreadable Found = iota
	NotYet
	Counted
)

// Anew says that another process answers: what the former one counted is not missed.
func (s *Source) Anew() { s.foundAt = time.Time{} }

// Evictions says that evictions can be counted, or why not. A metric that is not there yet leaves its rules not evaluated and
// its source ok; one that was there is missed.
func (s *Source) Evictions(r *backend.Reading, why backend.Safe, found Found) {
	if found == Counted {
		s.foundAt = r.At
		r.Inputs = append(r.Inputs, backend.InputEvictions)
		return
	}
	if !s.foundAt.IsZero() {
		why, found = backend.Textf("%s; it was there until %s", why, s.foundAt.UTC().Format(time.TimeOnly+" UTC")), Unreadable
	}
	r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputEvictions, Why: why})
	if found == NotYet {
		r.Notes = append(r.Notes, backend.Textf("evictions unknown: %s", why))
		return
	}
	r.Degraded = why
}

// Retries says why retries cannot be counted, if so.
func (s *Source) Retries(r *backend.Reading, why backend.Safe, found Found) {
	if s.Metrics.Retries == "" {
		why, found = backend.Text("no metric of retries is configured"), NotYet
	}
	if found != Counted {
		r.Notes = append(r.Notes, backend.Textf("recovery unknown: %s", why))
	}
}

// Memory adds what a process used; false when the value is no number of bytes. Processes differ by all labels but that
// of the session.
func (s *Source) Memory(r *backend.Reading, x *model.Sample, at time.Time) bool {
	v := float64(x.Value)
	if x.Histogram != nil || !Countable(v) || v >= 1<<60 {
		return false
	}
	p := backend.Process{Source: s.ID, Name: string(x.Metric[model.MetricNameLabel])}
	others := maps.Clone(x.Metric)
	delete(others, model.MetricNameLabel)
	if l := s.Metrics.Labels.Session; l != "" {
		p.Session, _ = backend.NewID(label(others, l))
		delete(others, model.LabelName(l))
	}
	p.Labels = s.Cleaner.Clean(strings.Trim(others.String(), "{}"), 200)
	m := backend.Memory{Of: p, At: at, Bytes: int64(v)}
	if s.Metrics.MemoryLimit > 0 {
		m.Limit = backend.Known(int64(s.Metrics.MemoryLimit))
	}
	r.Memory = append(r.Memory, m)
	return true
}

// Began puts the start of a process on the timeline. theirs is the time by its own clock.
func (s *Source) Began(r *backend.Reading, at, theirs time.Time, name string, text backend.Safe) {
	r.Events = append(r.Events, backend.Event{Kind: backend.EventChange, At: at, SourceAt: theirs, Source: s.ID,
		Subject: backend.Key{Kind: backend.KindSource, Source: s.ID, ID: backend.MustID(s.ID)}, Name: name, Text: text})
}
