package promapi

import (
	"context"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/exporter"
	"sandglass/backend/wire"
)

// maxRestarts is how many restarts of one poll are named one by one; more are summed up.
const maxRestarts = 5

// source queries one server.
type source struct {
	opts   Options
	deps   backend.Deps
	client *wire.Client
	base   string

	metrics []*metric
	started map[target]process // as of the last poll that told
	lastAt  time.Time          // evaluation of the last poll, by the server's clock
	out     exporter.Source
	seed    seed
}

// metric is one followed counter metric.
type metric struct {
	name    string // on the server
	counts  backend.Metric
	tracker exporter.Tracker
}

func newSource(opts Options, deps backend.Deps) (*source, error) {
	if deps.Cleaner != nil {
		deps.Cleaner = deps.Cleaner.With(wire.ConfiguredSecrets(opts.Headers)...)
	}
	c, err := wire.New(wire.Config{Origins: []string{opts.URL}, Credential: opts.Read, MaxBody: int64(opts.MaxBody)}, deps)
	if err != nil {
		return nil, err
	}
	s := &source{opts: opts, deps: deps, client: c, base: strings.TrimRight(opts.URL, "/"), started: map[target]process{}}
	s.out = exporter.Source{ID: deps.ID, Metrics: &s.opts.Metrics, Cleaner: c.Cleaner(), Every: deps.Interval}
	for _, m := range []metric{{name: opts.Evictions, counts: backend.MetricEvictions}, {name: opts.Retries, counts: backend.MetricEvictionRetries}} {
		if m.name != "" {
			s.metrics = append(s.metrics, &m)
		}
	}
	return s, nil
}

// ID returns the source's id.
func (s *source) ID() string { return s.deps.ID }

// Routes names the three routes that are asked.
func (s *source) Routes() []backend.Route {
	names := strings.Trim(s.opts.Evictions+" "+s.opts.Retries, " ")
	return []backend.Route{
		{Verb: "GET", Target: s.base + "/api/v1/query?query=…", Why: "counters " + names + ", and the start times and the memory of the processes behind them"},
		{Verb: "GET", Target: s.base + "/api/v1/query_range?query=…", Why: "the same for the past " + s.opts.Lookback.Std().String() + ", once at the start"},
		{Verb: "GET", Target: s.base + "/api/v1/metadata?metric=…", Why: "whether a metric without a series exists, and of which type it is"},
	}
}

// Close ends idle connections.
func (s *source) Close() error { return s.client.Close() }

// Poll asks for the present values, and at the start for the past.
func (s *source) Poll(ctx context.Context) (backend.Reading, error) {
	r := backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "prometheus-api", Started: s.deps.Now(),
		Scopes: []backend.Scope{}, Inputs: []backend.Input{}}
	answers := make([]*answer, len(s.metrics))
	for i, m := range s.metrics {
		a, err := s.instant(ctx, s.opts.selector(m.name))
		if err != nil && i == 0 {
			r.At, r.Load, r.ClockOffset = s.deps.Now(), s.client.TakeLoad(), s.client.Offset()
			return r, err
		}
		if err != nil {
			s.problem(&r, m.name, err)
			continue
		}
		answers[i] = a
	}
	starts, err := s.instant(ctx, s.opts.starts())
	if err != nil {
		s.problem(&r, "process_start_time_seconds", err)
		starts = nil
	}
	at := s.evaluated(answers)
	born := s.newcomers(ctx, &r, answers, at)
	r.At = s.deps.Now()
	proofs := s.restarts(&r, starts)
	for i, m := range s.metrics {
		s.follow(&r, m, answers[i], proofs, born)
	}
	s.judge(ctx, &r, answers)
	s.readMemory(ctx, &r)
	s.lastAt = at
	s.lookBack(ctx, &r, at)
	exporter.SortCounts(r.Counts)
	r.Load, r.ClockOffset = s.client.TakeLoad(), s.client.Offset()
	return r, nil
}

// evaluated is the server's time of this poll: that of the values, else our own time corrected by its clock's offset.
func (s *source) evaluated(answers []*answer) time.Time {
	for _, a := range answers {
		if a != nil && !a.at.IsZero() {
			return a.at
		}
	}
	offset, _ := s.client.Offset().Get()
	return s.deps.Now().Add(offset)
}

// ours is a time of the server by our clock, never in our future.
func (s *source) ours(t, now time.Time) time.Time {
	offset, _ := s.client.Offset().Get()
	if t = t.Add(-offset); t.After(now) {
		return now
	}
	return t
}

// newcomers asks, when label sets of unknown targets appeared, which of these targets were scraped at the poll before:
// only then was the label set born since. A target that was only just added may bring any number from its past.
func (s *source) newcomers(ctx context.Context, r *backend.Reading, answers []*answer, at time.Time) map[target]bool {
	known, ask := map[target]bool{}, false
	for _, m := range s.metrics {
		m.tracker.Targets(known)
	}
	for i, m := range s.metrics {
		if answers[i] == nil || !m.tracker.Watched() {
			continue
		}
		for _, x := range answers[i].vector {
			ask = ask || !known[exporter.TargetOf(x.Metric)]
		}
	}
	if !ask || s.lastAt.IsZero() {
		return known
	}
	a, err := s.instant(ctx, s.opts.scraped(at.Sub(s.lastAt)))
	if err != nil {
		s.problem(r, "up", err)
		return known
	}
	for _, x := range a.vector {
		known[exporter.TargetOf(x.Metric)] = true
	}
	return known
}

// follow turns the values of one metric into counts, summed over label sets of the same series.
func (s *source) follow(r *backend.Reading, m *metric, a *answer, proofs map[target]proof, read map[target]bool) {
	if a == nil {
		m.tracker.Miss()
		return
	}
	increases, skipped, back := m.tracker.Follow(exporter.Round{At: r.At, Samples: a.vector, Complete: a.complete(), Lower: !a.complete(),
		Proof: func(t target) proof { return proofs[t] }, Read: func(t target) bool { return read[t] }}, s.opts.MaxSeries)
	sums := s.out.Sums(m.counts)
	for _, i := range increases {
		sums.Add(i, r.At)
	}
	r.Counts = append(r.Counts, sums.List...)
	s.remarks(r, m, a, skipped, back)
}

func (s *source) remarks(r *backend.Reading, m *metric, a *answer, skipped, back int) {
	cleaner := s.client.Cleaner()
	for _, w := range a.warnings[:min(len(a.warnings), maxRemarks)] {
		r.Problems = append(r.Problems, backend.Problem{Kind: backend.ErrInvalid, Where: backend.Clean(a.where+" "+m.name, 200),
			What: backend.Textf("the answer may lack series, so counts are lower bounds: %s", cleaner.Clean(w, 300)), At: r.At})
	}
	for _, i := range a.infos[:min(len(a.infos), maxRemarks)] {
		r.Notes = append(r.Notes, cleaner.Clean(m.name+": "+i, 300))
	}
	exporter.Skipped(r, skipped, m.name)
	exporter.Unwatched(r, m.tracker.Unwatched, m.name)
	if back > 0 {
		r.Notes = append(r.Notes, backend.Textf("%d label sets of %s fell although their process runs on: several replicas seem to answer; the higher value counts", back, m.name))
	}
}

// problem notes a query that failed beside the one that matters.
func (s *source) problem(r *backend.Reading, what string, err error) {
	kind, where := backend.KindOf(err), what
	r.Problems = append(r.Problems, backend.Problem{Kind: kind, Where: backend.Clean(where, 200),
		What: s.client.Cleaner().Clean(err.Error(), 300), At: s.deps.Now()})
}
