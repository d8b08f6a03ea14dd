package helix

import (
	"slices"
	"time"

	"sandglass/backend"
)

const (
	// leftFor is how long a session that left its list counts towards a list that shrinks little by little.
	leftFor = 10 * time.Minute
	// leftLag is how much earlier than its registry closes a list may leave a session out.
	leftLag = 30 * time.Second
	// maxLeft bounds the sessions that are remembered so.
	maxLeft = 10_000
)

// mayRun reports whether nothing said that the session ended.
func (t *tracked) mayRun() bool { return t.entity == nil || t.entity.MayRun() }

// mayRun counts the listed sessions of which nothing says that they ended. The caller holds the lock.
func (s *Source) mayRun() (n int) {
	for _, t := range s.sessions {
		if t.mayRun() {
			n++
		}
	}
	return n
}

// leave remembers sessions that may run and left their list a few at a time. The caller holds the lock.
func (s *Source) leave(gone []*tracked) {
	for _, t := range gone {
		if t.mayRun() && len(s.left) < maxLeft {
			t.workspaces, t.etag, t.hash = nil, "", 0
			t.left = s.deps.Now()
			s.left[t.id] = t
		}
	}
}

// mostLeft reports whether half or more of what ran left the list. Their own routes are asked then, however few they are.
func mostLeft(before, gone int) bool { return 2*gone >= before }

// loseGradually takes in the sessions that left their list within the last minutes, when these are half or more of what ran.
// The caller holds the lock.
func (s *Source) loseGradually(listed func(backend.ID) bool, running int) {
	now := s.deps.Now()
	for id, t := range s.left {
		if listed(id) || now.Sub(t.left) > leftFor {
			delete(s.left, id)
		}
	}
	gone := len(s.left)
	for id := range s.lost {
		if s.left[id] == nil {
			gone++
		}
	}
	if len(s.left) == 0 || !mostLeft(running+gone, gone) {
		return
	}
	for id, t := range s.left {
		if s.lost[id] == nil && now.Sub(t.left) >= leftLag {
			t.outcome, t.gradual = outcome{good: t.good}, true
			s.lost[id] = t
		}
	}
}

// fewLeft leaves three quarters of the requests to the sessions that are listed: sessions that end all the time must not cost
// them their turn.
func (s *Source) fewLeft(due []*tracked) []*tracked {
	most := max(10, int(s.opt.RequestsPerSec*s.deps.Interval.Seconds()/4))
	return slices.DeleteFunc(due, func(t *tracked) bool {
		if t.gradual {
			most--
		}
		return t.gradual && most < 0
	})
}

// closed reports whether the registry of a session holds nothing that is open: that agrees with a list which leaves it out.
func (t *tracked) closed() bool {
	return !slices.ContainsFunc(t.workspaces, func(w backend.Workspace) bool {
		return w.Class != backend.ClassClosed && w.Reported.String() != "closed"
	})
}

// givenUp reports whether a session that left its list never told since then whether it runs, for as long as that counts: longer
// while it alerts.
func (s *Source) givenUp(t *tracked, alerting bool) bool {
	span := leftFor
	if alerting {
		span = troubledFor
	}
	return t.good.Before(t.left) && s.deps.Now().Sub(t.left) > span
}
