package promapi

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
)

const (
	maxProcesses = 200 // label sets of all of them that are read
)

// memory selects the gauges of memory: with matchers those that carry them, else those of the processes that export our
// counters, since a server knows many other processes too.
func (opts *Options) memory() string {
	var parts []string
	for _, name := range opts.Memory {
		parts = append(parts, opts.selector(name))
	}
	all := parts[0]
	if len(parts) > 1 {
		all = "(" + strings.Join(parts, " or ") + ")"
	}
	if len(opts.Matchers) > 0 {
		return all
	}
	return all + " and on (job, instance) " + opts.ours()
}

// readMemory adds what the processes use now.
func (s *source) readMemory(ctx context.Context, r *backend.Reading) {
	if len(s.opts.Memory) == 0 {
		return
	}
	a, err := s.instant(ctx, s.opts.memory())
	if err != nil {
		s.problem(r, strings.Join(s.opts.Memory, " "), err)
		return
	}
	for i, x := range a.vector {
		if i == maxProcesses {
			r.Notes = append(r.Notes, backend.Textf("the memory of %d processes is not followed (beyond %d)", len(a.vector)-i, maxProcesses))
			break
		}
		if x.Histogram == nil {
			s.used(r, x.Metric, float64(x.Value), r.At)
		}
	}
}

// pastMemory adds what they used in the past. It is no loss that matters when the server cannot tell.
func (s *source) pastMemory(ctx context.Context, r *backend.Reading, from time.Time, step time.Duration) {
	if len(s.opts.Memory) == 0 {
		return
	}
	a, err := s.past(ctx, s.opts.memory(), from, s.seed.until, step)
	if err != nil {
		s.problem(r, strings.Join(s.opts.Memory, " ")+" in the past", err)
		return
	}
	for _, stream := range a.matrix[:min(len(a.matrix), maxProcesses)] {
		for _, x := range stream.Values {
			s.used(r, stream.Metric, float64(x.Value), s.ours(x.Timestamp.Time(), r.At))
		}
	}
}

func (s *source) used(r *backend.Reading, m model.Metric, v float64, at time.Time) {
	if !countable(v) || v >= 1<<60 {
		return
	}
	p := backend.Process{Source: s.deps.ID, Name: string(m[model.MetricNameLabel])}
	others := model.Metric(maps.Clone(m))
	delete(others, model.MetricNameLabel)
	if l := model.LabelName(s.opts.Labels.Session); l != "" {
		p.Session, _ = backend.NewID(string(m[l])) // empty or absurdly long: no session
		delete(others, l)
	}
	p.Labels = s.client.Cleaner().Clean(strings.Trim(others.String(), "{}"), 200)
	x := backend.Memory{Of: p, At: at, Bytes: int64(v)}
	if s.opts.MemoryLimit > 0 {
		x.Limit = backend.Known(int64(s.opts.MemoryLimit))
	}
	r.Memory = append(r.Memory, x)
}
