package promapi

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/exporter"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

// restarts notices that processes behind the metrics started anew.
func (s *source) restarts(r *backend.Reading, a *answer) map[target]proof {
	proofs := map[target]proof{}
	if a == nil {
		return proofs
	}
	var began []restart
	now := processes(a.vector)
	for t, p := range now {
		old, known := s.started[t]
		proofs[t] = p.since(old, known)
		if proofs[t].Restarted {
			began = append(began, restart{t, s.ours(time.UnixMicro(int64(p.start*1e6)), r.At), time.UnixMicro(int64(p.start * 1e6))})
		}
		s.started[t] = p
	}
	for t := range s.started { // what was not scraped for a while is compared when it comes back, unless it is too much
		if _, there := now[t]; !there && len(s.started) > s.opts.MaxSeries {
			delete(s.started, t)
		}
	}
	s.changed(r, began)
	return proofs
}

// restart is a process that started anew.
type restart struct {
	target   target
	at       time.Time // our clock
	sourceAt time.Time
}

// changed puts restarts on the timeline: one by one while they are few, else in one line.
func (s *source) changed(r *backend.Reading, began []restart) {
	stable.Sort(began, func(a, b restart) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return strings.Compare(short(a.target), short(b.target))
	})
	event := func(x restart, text backend.Safe) {
		s.out.Began(r, x.at, x.sourceAt, "process-restarted", text)
	}
	clean := s.client.Cleaner().Clean
	if n := len(began); n > maxRestarts {
		first, last := began[0], began[n-1]
		event(first, backend.Textf("%d processes restarted between %s and %s, %s first", n, first.sourceAt.UTC().Format(time.DateTime),
			last.sourceAt.UTC().Format(time.DateTime+" UTC"), clean(short(first.target), 100)))
		return
	}
	for _, x := range began {
		event(x, backend.Textf("process restarted: %s started at %s", clean(short(x.target), 100), x.sourceAt.UTC().Format(time.DateTime+" UTC")))
	}
}

// judge says whether the metrics are there, and if not, why.
func (s *source) judge(ctx context.Context, r *backend.Reading, answers []*answer) {
	var why backend.Safe
	found := exporter.Unreadable
	for i, m := range s.metrics {
		why, found = s.found(ctx, r, m, answers[i])
		if m.counts == backend.MetricEvictions {
			s.out.Evictions(r, why, found)
			if found == exporter.Counted && !answers[i].complete() {
				r.Degraded = backend.Textf("partial answer: %s", s.client.Cleaner().Clean(answers[i].warnings[0], 200))
			}
		}
	}
	s.out.Retries(r, why, found) // the last metric, if there is one
}

// found says whether a metric can be counted. A metric without any series is looked up in the server's metadata: some
// exporters declare a counter before its first increment.
func (s *source) found(ctx context.Context, r *backend.Reading, m *metric, a *answer) (backend.Safe, exporter.Found) {
	if a == nil {
		return backend.Textf("the query for %s failed", m.name), exporter.Unreadable
	}
	for _, x := range a.vector {
		if x.Histogram == nil {
			return backend.Safe{}, exporter.Counted
		}
	}
	if len(a.vector) > 0 {
		return backend.Textf("metric %s is a histogram, not a counter", m.name), exporter.Unreadable
	}
	if !a.complete() {
		return backend.Textf("no series of %s in a partial answer", m.name), exporter.Unreadable
	}
	switch kind := s.declared(ctx, m.name); kind {
	case "counter", "unknown", "untyped":
		if len(s.opts.Matchers) == 0 {
			r.Counts = append(r.Counts, backend.Count{Series: backend.Series{Source: s.deps.ID, Name: m.counts}, At: r.At})
			return backend.Safe{}, exporter.Counted
		}
	case "":
	default:
		return backend.Textf("metric %s is a %s, not a counter", m.name, s.client.Cleaner().Clean(kind, 40)), exporter.Unreadable
	}
	return backend.Textf("the server has no series %s now: check the metric's name and matchers, and whether its target is scraped",
		s.client.Cleaner().Clean(s.opts.selector(m.name), 200)), exporter.NotYet
}

// declared is the type under which any target declares a metric, empty when none does or the server cannot tell. Under
// OpenMetrics a counter is declared without its suffix.
func (s *source) declared(ctx context.Context, name string) string {
	for _, n := range slices.Compact([]string{name, strings.TrimSuffix(name, "_total")}) {
		resp, err := s.client.Get(ctx, wire.Request{URL: fmt.Sprintf("%s/api/v1/metadata?metric=%s&limit_per_metric=1", s.base, url.QueryEscape(n))})
		if err != nil || resp.Status != 200 {
			return ""
		}
		doc, err := wire.Parse(resp.Body)
		if err != nil {
			return ""
		}
		for e := range doc.Root().Get("data").Get(n).Elements() {
			if kind, ok := e.Get("type").Text(); ok {
				return kind
			}
		}
	}
	return ""
}
