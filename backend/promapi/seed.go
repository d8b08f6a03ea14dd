package promapi

import (
	"context"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
	"sandglass/backend/exporter"
)

const (
	seedSteps    = 60   // of the lookback; with the greatest lookback one a minute
	coarseSteps  = 12   // when the finer answer is too large
	seedTries    = 3    // polls that may ask for the past when the server is slow or away
	everyStep    = 2000 // label sets up to which quiet steps are told too, so that the past can be drawn without gaps
	minSeedStep  = time.Second
	stepTolerant = time.Millisecond // the API rounds times to milliseconds
)

// seed is the state of the one reading of the past.
type seed struct {
	until time.Time // first evaluation, by the server's clock: what comes after it is counted live
	tries int
	done  bool
	why   backend.Safe // why the past is unknown, empty when it is not
}

// lookBack reads the past once. It does not disturb the live counters: they began at the same moment.
func (s *source) lookBack(ctx context.Context, r *backend.Reading, at time.Time) {
	span := s.opts.Lookback.Std()
	if span <= 0 {
		return
	}
	if s.seed.until.IsZero() {
		s.seed.until = at
	}
	if !s.seed.done {
		s.seed.tries++
		err := s.readPast(ctx, r, span, max(span/seedSteps, minSeedStep))
		if err != nil && backend.KindOf(err) == backend.ErrInvalid {
			err = s.readPast(ctx, r, span, max(span/coarseSteps, minSeedStep))
		}
		s.seed.why = backend.Safe{}
		if err != nil {
			s.seed.why = s.client.Cleaner().Clean(err.Error(), 300)
		}
		s.seed.done = err == nil || backend.KindOf(err) == backend.ErrInvalid || s.seed.tries >= seedTries
	}
	if !s.seed.why.IsEmpty() {
		again := backend.Text("it is asked for again")
		if s.seed.done {
			again = backend.Text("it is not asked for again")
		}
		r.Notes = append(r.Notes, backend.Textf("what happened in the %s before the start is unknown (%s): %s", span, again, s.seed.why))
	}
}

// readPast asks for the values of the past and adds what they count. Nothing is added when any query that matters fails.
func (s *source) readPast(ctx context.Context, r *backend.Reading, span, step time.Duration) error {
	from := s.seed.until.Add(-span)
	answers := make([]*answer, len(s.metrics))
	for i, m := range s.metrics {
		a, err := s.past(ctx, s.opts.selector(m.name), from, s.seed.until, step)
		if err != nil {
			return err
		}
		answers[i] = a
	}
	up, err := s.past(ctx, s.opts.scraped(step), from, s.seed.until, step)
	if err != nil {
		return err
	}
	starts, err := s.past(ctx, s.opts.starts(), from, s.seed.until, step)
	if err != nil {
		return err
	}
	h := history{step: step, from: from, up: moments(up.matrix), starts: startsAt(starts.matrix)}
	for i, m := range s.metrics {
		s.replay(r, m, answers[i], &h)
	}
	s.changed(r, h.restarts(s, r.At))
	s.pastMemory(ctx, r, from, step)
	return nil
}

// moment is one target at one time, in milliseconds of the server's clock.
type moment struct {
	target target
	at     int64
}

// history is what the past says about targets.
type history struct {
	step   time.Duration
	from   time.Time
	up     map[moment]bool // the target was scraped a step before
	starts map[moment]process
}

func moments(m model.Matrix) map[moment]bool {
	out := map[moment]bool{}
	for _, stream := range m {
		for _, v := range stream.Values {
			out[moment{exporter.TargetOf(stream.Metric), int64(v.Timestamp)}] = true
		}
	}
	return out
}

func startsAt(m model.Matrix) map[moment]process {
	out := map[moment]process{}
	for _, stream := range m {
		t := exporter.TargetOf(stream.Metric)
		for _, v := range stream.Values {
			at := moment{t, int64(v.Timestamp)}
			p := process{start: float64(v.Value)}
			if old, twice := out[at]; twice {
				p.many = old.many || p.start != old.start
			}
			p.many = p.many || !exporter.Countable(p.start)
			out[at] = p
		}
	}
	return out
}

// proof compares a target's process with the one a step before.
func (h *history) proof(t target, at int64) proof {
	now, known := h.starts[moment{t, at}]
	old, before := h.starts[moment{t, at - h.step.Milliseconds()}]
	if !known {
		return proof{}
	}
	return now.since(old, before)
}

func (h *history) restarts(s *source, now time.Time) []restart {
	var out []restart
	for m, p := range h.starts {
		if h.proof(m.target, m.at).Restarted {
			began := time.UnixMicro(int64(p.start * 1e6))
			out = append(out, restart{m.target, s.ours(began, now), began})
		}
	}
	return out
}

// replay turns the past values of one metric into counts with their times.
func (s *source) replay(r *backend.Reading, m *metric, a *answer, h *history) {
	sums := s.out.Sums(m.counts)
	quiet := len(a.matrix) <= everyStep
	for _, stream := range a.matrix[:min(len(a.matrix), s.opts.MaxSeries)] {
		t := exporter.TargetOf(stream.Metric)
		var c *exporter.Counter
		for i, x := range stream.Values {
			v, at := float64(x.Value), x.Timestamp.Time()
			if !exporter.Countable(v) {
				continue
			}
			var n float64
			var lower bool
			switch born := c == nil && at.After(h.from.Add(stepTolerant)); {
			case c != nil:
				n, lower, _ = c.Advance(v, h.proof(t, int64(x.Timestamp)))
			case born && (h.proof(t, int64(x.Timestamp)).Restarted || a.complete() && h.up[moment{t, int64(x.Timestamp)}]):
				n = v // its process is new, or its target was scraped a step before and did not have it
			case born:
				lower = true // the first that anybody saw of it: how much of it is new cannot be told
			}
			if c == nil {
				c = exporter.NewCounter(v)
			}
			if n > 0 || quiet || i == 0 || i == len(stream.Values)-1 {
				sums.Add(exporter.Increase{Sample: &model.Sample{Metric: stream.Metric, Value: x.Value}, N: n, Lower: lower || !a.complete()}, s.ours(at, r.At))
			}
		}
	}
	r.Counts = append(r.Counts, sums.List...)
	for _, w := range a.warnings[:min(len(a.warnings), maxRemarks)] {
		r.Notes = append(r.Notes, backend.Textf("of %s in the past: %s", m.name, s.client.Cleaner().Clean(w, 300)))
	}
}
