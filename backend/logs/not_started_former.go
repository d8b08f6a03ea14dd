package logs

import (
	"cmp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	markFailing = "not started in "
	maxFailing  = 200 // sessions that a later process is told of
)

// bookmarks tell a later process in which sessions no command ran since one that could not begin: its look back need not reach that line.
func (s *sandboxCommands) bookmarks(now time.Time) []backend.Bookmark {
	var out []backend.Bookmark
	for name, x := range s.known {
		if x.failing && now.Sub(x.failedAt) < backend.ReportsFor {
			out = append(out, backend.Bookmark{File: markFailing + name, Sizes: []backend.SizeAt{{At: x.failedAt}}})
		}
	}
	stable.Sort(out, func(a, b backend.Bookmark) int {
		return cmp.Or(b.Sizes[0].At.Compare(a.Sizes[0].At), strings.Compare(a.File, b.File))
	})
	return out[:min(len(out), maxFailing)]
}

// resume takes them, and returns the other bookmarks.
func (s *sandboxCommands) resume(marks []backend.Bookmark) (others []backend.Bookmark) {
	for _, m := range marks {
		name, is := strings.CutPrefix(m.File, markFailing)
		if !is {
			others = append(others, m)
		} else if len(m.Sizes) > 0 {
			x := s.session(name)
			x.failing, x.failedAt = true, m.Sizes[0].At
		}
	}
	return others
}
