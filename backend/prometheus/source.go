package prometheus

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"

	"sandglass/backend"
	"sandglass/backend/exporter"
	"sandglass/backend/wire"
)

const (
	// startSlack is how much earlier than the page before a restarted process may seem to have started: server clocks
	// are known to the second, and a start time may be that of the machine's boot plus ticks.
	startSlack = 5 * time.Second
	maxStarts  = 16 // start times remembered
)

// source reads one metrics page.
type source struct {
	opts   Options
	deps   backend.Deps
	client *wire.Client

	out                exporter.Source
	evictions, retries exporter.Tracker
	starts             []float64 // start times of the processes that answered, the last one last, in epoch seconds
	lastPage           time.Time
	// counted is the start time of the process whose page had series of evictions, 0 where the page tells none.
	counted float64

	kept    exporter.Kept
	resumed bool // the first reading tells what a former process counted
}

func newSource(opts Options, deps backend.Deps) (*source, error) {
	c, err := wire.New(wire.Config{Origins: []string{opts.URL}, Credential: opts.Read, MaxBody: int64(opts.MaxBody)}, deps)
	if err != nil {
		return nil, err
	}
	s := &source{opts: opts, deps: deps, client: c}
	s.out = exporter.Source{ID: deps.ID, Metrics: &s.opts.Metrics, Cleaner: c.Cleaner(), Every: deps.Interval}
	return s, nil
}

// ID returns the source's id.
func (s *source) ID() string { return s.deps.ID }

// Routes names the one page.
func (s *source) Routes() []backend.Route {
	target, query, _ := strings.Cut(s.opts.URL, "?")
	if query != "" {
		target += "?…" // its values may be secrets
	}
	return []backend.Route{{Verb: "GET", Target: target, Why: "counters " + strings.Trim(s.opts.Evictions+" "+s.opts.Retries, " ") + memoryRoute(s.opts.Memory)}}
}

// Close ends idle connections.
func (s *source) Close() error { return s.client.Close() }

// Poll reads the page once.
func (s *source) Poll(ctx context.Context) (backend.Reading, error) {
	r := backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "prometheus", Started: s.deps.Now(),
		Scopes: []backend.Scope{}, Inputs: []backend.Input{}}
	answer, err := s.client.Get(ctx, wire.Request{URL: s.opts.URL, Accept: accept})
	r.At, r.Load, r.ClockOffset = s.deps.Now(), s.client.TakeLoad(), s.client.Offset()
	if err != nil {
		return r, err
	}
	if answer.Status == http.StatusNotFound {
		return r, s.refuse(backend.ErrGone, answer.Where, "answered 404: there is no metrics page at this path")
	}
	if err := checkMedia(answer.Header.Get("Content-Type"), answer.Body); err != nil {
		return r, s.refuse(backend.ErrInvalid, answer.Where, "%w", err)
	}
	m := parse(answer.Body, s.opts.MaxSeries, append([]string{s.opts.Evictions, s.opts.Retries, startTime}, s.opts.Memory...)...)
	if len(m.names) == 0 {
		return r, s.refuse(backend.ErrInvalid, answer.Where, "wrong path: there is no metric in the answer")
	}
	if m.problem != "" {
		r.Problems = append(r.Problems, backend.Problem{Kind: backend.ErrInvalid, Where: backend.Textf("%s line %d", answer.Where, m.line),
			What: s.client.Cleaner().Clean(m.problem+"; what comes after it was not read", 300), At: r.At})
	}
	s.count(&m, &r)
	s.memory(&m, &r)
	s.keep(&r)
	return r, nil
}

func (s *source) refuse(kind backend.ErrorKind, where, format string, args ...any) error {
	e := backend.Errorf(kind, where, format, args...)
	e.Source = s.deps.ID
	return e
}

// count turns the page's counters into counts and says what could not be found.
func (s *source) count(m *metrics, r *backend.Reading) {
	restarted, foreign := s.process(m, r)
	if restarted || foreign {
		s.out.Anew()
	}
	for _, t := range []*exporter.Tracker{&s.evictions, &s.retries} {
		if foreign {
			t.Forget()
		}
	}
	round := exporter.Round{At: r.At, Complete: m.complete, Lower: restarted || foreign,
		Proof: func(exporter.Target) exporter.Proof { return exporter.Proof{Restarted: restarted} }}
	s.metric(m, r, round, s.opts.Evictions, backend.MetricEvictions, &s.evictions)
	why, found := s.found(m, s.opts.Evictions)
	if s.vanished(m) {
		r.Unseen, found = true, exporter.Unreadable
		why = backend.Textf("the series of metric %s are gone, and the process is the same", s.opts.Evictions)
	}
	s.out.Evictions(r, why, found)
	why, found = s.found(m, s.opts.Retries)
	s.out.Retries(r, why, found)
	if s.opts.Retries != "" {
		s.metric(m, r, round, s.opts.Retries, backend.MetricEvictionRetries, &s.retries)
	}
	if m.filtered {
		r.Notes = append(r.Notes, backend.Textf("more than %d samples on the page: only the configured metrics are taken apart", s.opts.MaxSeries))
	}
	exporter.SortCounts(r.Counts)
}

// vanished reports whether the page of a process had series of evictions and has none now: a counter of a process that goes on
// does not vanish.
func (s *source) vanished(m *metrics) bool {
	now, ok := m.started()
	if f := m.families[s.opts.Evictions]; f != nil && len(f.GetMetric()) > 0 {
		s.counted = 0
		if ok {
			s.counted = now
		}
		return false
	}
	return m.complete && ok && s.counted > 0 && math.Abs(now-s.counted) <= exporter.RestartJump
}

// metric follows one metric and adds its counts, summed over label sets of the same series.
func (s *source) metric(m *metrics, r *backend.Reading, round exporter.Round, name string, metric backend.Metric, t *exporter.Tracker) {
	round.Samples = m.counted(name)
	increases, skipped, _ := t.Follow(round, s.opts.MaxSeries)
	exporter.Skipped(r, skipped, name)
	exporter.Unwatched(r, t.Unwatched, name)
	sums := s.out.Sums(metric)
	for _, i := range increases {
		i.Lower = i.Lower || skipped > 0
		sums.Add(i, r.At)
	}
	r.Counts = append(r.Counts, sums.List...)
	if len(increases) == 0 && m.declared[name] && m.complete {
		r.Counts = append(r.Counts, backend.Count{Series: backend.Series{Source: s.deps.ID, Name: metric}, At: r.At})
	}
}

// found says why a metric cannot be counted, or that it can.
func (s *source) found(m *metrics, name string) (backend.Safe, exporter.Found) {
	f := m.families[name]
	switch {
	case f == nil && m.declared[name] && m.complete:
		return backend.Safe{}, exporter.Counted // declared, and nothing happened yet
	case f == nil && !m.complete:
		return backend.Textf("metric %s not found in the readable part of the page", name), exporter.Unreadable
	case f == nil:
		text := backend.Textf("metric %s not found among %d families", name, len(m.names))
		if near := m.near(); near != "" {
			text = backend.Textf("%s; similar: %s", text, backend.Clean(near, 200))
		}
		return text, exporter.NotYet
	}
	switch k := f.GetType(); k {
	case dto.MetricType_COUNTER, dto.MetricType_UNTYPED:
		return backend.Safe{}, exporter.Counted
	case dto.MetricType_GAUGE, dto.MetricType_SUMMARY, dto.MetricType_HISTOGRAM, dto.MetricType_GAUGE_HISTOGRAM:
		return backend.Textf("metric %s is a %s, not a counter", name, strings.ToLower(k.String())), exporter.Unreadable
	}
	return backend.Textf("metric %s is of an unknown type", name), exporter.Unreadable
}

// near lists families that may be the one meant.
func (m *metrics) near() string {
	var out []string
	for _, n := range m.names {
		if strings.Contains(strings.ToLower(n), "evict") && len(out) < 3 {
			out = append(out, n)
		}
	}
	return strings.Join(out, ", ")
}

// process notices that the process behind the page started anew, or that another one answers. A restarted process
// started after the page before was read, and its start time was never seen; whoever else answers was there all along.
func (s *source) process(m *metrics, r *backend.Reading) (restarted, foreign bool) {
	previous := s.lastPage
	s.lastPage = r.At
	now, ok := m.started()
	if !ok || !(now > 0 && now < 1e11) {
		return false, false
	}
	before := s.starts // readings and a former process share them: they are replaced, never written to
	if n := len(before); n > 0 && math.Abs(before[n-1]-now) <= exporter.RestartJump {
		s.starts = append(slices.Clone(before[:n-1]), now) // follow the wobble
		return false, false
	}
	s.starts = append(slices.Clone(before[max(0, len(before)-maxStarts+1):]), now)
	at := time.UnixMicro(int64(now * 1e6))
	offset, dated := r.ClockOffset.Get()
	if len(before) == 0 {
		if age := r.At.Sub(at.Add(-offset)); age >= 0 && age <= youngProcess {
			s.tellStart(r, at.Add(-offset), at, "process-started", "process started")
		}
		return false, false
	}
	known := slices.ContainsFunc(before, func(x float64) bool { return math.Abs(x-now) <= exporter.RestartJump })
	if known || now < before[len(before)-1] || dated && at.Add(-offset).Before(previous.Add(-startSlack)) {
		r.Problems = append(r.Problems, backend.Problem{Kind: backend.ErrInvalid, Where: backend.Clean(startTime, 100), At: r.At,
			What: backend.Text("another process answered than before: several seem to share this URL; name one source for each, else counts are too low")})
		return false, true
	}
	when := r.At
	if dated && at.Add(-offset).Before(r.At) {
		when = at.Add(-offset)
	}
	if when.Before(previous) || !dated && r.At.Sub(previous) > exporter.WatchedGap { // in a gap nothing else tells when
		when = previous
	}
	s.tellStart(r, when, at, "process-restarted", "process restarted")
	return true, false
}

// youngProcess is how old a process may be when its page is read for the first time, and its start still be told: what
// began to fail shortly before this console started may have begun with it.
const youngProcess = 15 * time.Minute

func (s *source) tellStart(r *backend.Reading, at, theirs time.Time, name string, what backend.Literal) {
	s.out.Began(r, at, theirs, name, backend.Textf("%s: the agent server behind %s started at %s", backend.Text(what), s.deps.ID, theirs.UTC().Format(time.DateTime+" UTC")))
}
