package promapi

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
	"sandglass/backend/exporter"
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
		if i == exporter.MaxProcesses {
			r.Notes = append(r.Notes, backend.Textf("the memory of %d processes is not followed (beyond %d)", len(a.vector)-i, exporter.MaxProcesses))
			break
		}
		s.out.Memory(r, x, r.At)
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
	for _, stream := range a.matrix[:min(len(a.matrix), exporter.MaxProcesses)] {
		for _, x := range stream.Values {
			s.out.Memory(r, &model.Sample{Metric: stream.Metric, Value: x.Value}, s.ours(x.Timestamp.Time(), r.At))
		}
	}
}
