package prometheus

import (
	"fmt"
	"hash/fnv"

	"sandglass/backend"
	"sandglass/backend/exporter"
)

// page identifies what is read, so that marks of another page or of other metrics are not taken.
func (s *source) page() string {
	h := fnv.New64a()
	_, _ = fmt.Fprintf(h, "%q", []any{s.opts.URL, s.opts.Evictions, s.opts.Retries, s.opts.Memory, s.opts.Labels})
	return fmt.Sprintf("page:%x", h.Sum64())
}

// Resume goes on where a former process stopped reading the page.
func (s *source) Resume(marks []backend.Bookmark) {
	for _, b := range marks {
		c := b.Counters
		if c == nil || b.File != s.page() || len(c.Metrics) != 2 {
			continue
		}
		s.evictions.Resume(c.Metrics[0])
		s.retries.Resume(c.Metrics[1])
		s.kept.Resume(c.Counts, c.Memory)
		s.starts, s.lastPage, s.resumed = c.Starts, c.At, true
		if n := len(c.Starts); n > 0 && len(c.Metrics[0].Values) > 0 {
			s.counted = c.Starts[n-1]
		}
	}
}

// keep notes where the counters stand for the next process, and tells once what a former one counted.
func (s *source) keep(r *backend.Reading) {
	var kept exporter.Kept
	if s.resumed {
		kept, s.resumed = s.kept, false
	}
	s.kept.Add(r)
	kept.Tell(r)
	c := &backend.CounterMarks{At: r.At, Starts: s.starts}
	s.kept.Mark(c, &s.evictions, &s.retries)
	r.Bookmarks = []backend.Bookmark{{File: s.page(), Sizes: []backend.SizeAt{}, Counters: c}}
}
