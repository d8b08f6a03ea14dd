package helix

import (
	"cmp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	// bookmarkWork, a kind and ids mark when work was first seen of which the platform does not say when it was queued.
	bookmarkWork = "work "
	// mostMarks bounds such bookmarks: the oldest stay.
	mostMarks = 1000
	// unseenFor is how long a mark is kept without being seen again.
	unseenFor = time.Hour
)

// workSeen is when a piece of work was first and last seen.
type workSeen struct{ first, last time.Time }

// date says since when a piece of work is known, former processes included, where its platform does not say when it was
// queued. What was published already has that time and is not written again.
func (s *Source) date(k backend.Key, w *backend.Work) {
	if w.QueuedAt.IsKnown() || w.Class.Ended() {
		return
	}
	now, mark := s.deps.Now(), bookmarkWork+string(k.Kind)+" "+k.Parent.Raw()+" "+k.ID.Raw()
	x, known := s.seenWork[mark]
	if !known || x.first.After(now) {
		x.first = now
	}
	x.last = now
	s.seenWork[mark] = x
	if !w.KnownSince.Equal(x.first) {
		w.KnownSince = x.first
	}
}

// resumeWork takes what a former process saw first.
func (s *Source) resumeWork(m backend.Bookmark) {
	if len(m.Sizes) > 0 && strings.HasPrefix(m.File, bookmarkWork) {
		s.seenWork[m.File] = workSeen{m.Sizes[0].At, s.deps.Now()}
	}
}

// markWork hands what was first seen to a later process.
func (s *Source) markWork(r *backend.Reading) {
	now := s.deps.Now()
	var out []backend.Bookmark
	for mark, x := range s.seenWork {
		if now.Sub(x.last) > unseenFor {
			delete(s.seenWork, mark)
			continue
		}
		out = append(out, backend.Bookmark{File: mark, Sizes: []backend.SizeAt{{At: x.first}}})
	}
	stable.Sort(out, func(a, b backend.Bookmark) int {
		return cmp.Or(a.Sizes[0].At.Compare(b.Sizes[0].At), cmp.Compare(a.File, b.File))
	})
	r.Bookmarks = append(r.Bookmarks, out[:min(len(out), mostMarks)]...)
}
