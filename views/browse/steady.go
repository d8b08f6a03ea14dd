package browse

import (
	"iter"
	"time"

	"sandglass/backend"
)

// steadyFor is how long after a key the rows of a steady table keep their order.
const steadyFor = 10 * time.Second

// steady keeps the natural order of rows while somebody moves among them. Rows that come meanwhile stand at the end and are told.
type steady struct {
	until  time.Time
	listed []backend.Key       // in the order of the last complete list
	place  map[backend.Key]int // while the order is kept; nil: it is not
	fresh  map[backend.Key]bool
}

// hold keeps the present order for a while from now on.
func (s *steady) hold(now time.Time) {
	s.until = now.Add(steadyFor)
	if s.place == nil {
		s.place, s.fresh = make(map[backend.Key]int, len(s.listed)), map[backend.Key]bool{}
		for i, k := range s.listed {
			s.place[k] = i
		}
	}
}

// over reports whether the order was kept and is kept no longer.
func (s *steady) over(now time.Time) bool { return s.place != nil && !now.Before(s.until) }

// arranged are rows in the order that is kept, those that are new at the end; in their own order where none is kept.
func arranged[R any](s *steady, rows iter.Seq[R], key func(R) backend.Key, now time.Time) []R {
	if s.over(now) {
		s.place, s.fresh = nil, nil
	}
	var all []R
	for r := range rows {
		all = append(all, r)
	}
	if s.place != nil {
		kept := make([]*R, len(s.place), len(s.place)+len(all))
		for i := range all {
			k := key(all[i])
			if at, known := s.place[k]; known {
				kept[at] = &all[i]
				continue
			}
			s.place[k], s.fresh[k] = len(kept), true
			kept = append(kept, &all[i])
		}
		out := make([]R, 0, len(all))
		for _, r := range kept {
			if r != nil {
				out = append(out, *r)
			}
		}
		all = out
	}
	s.listed = s.listed[:0]
	for _, r := range all {
		s.listed = append(s.listed, key(r))
	}
	return all
}
