package fleet

import (
	"time"

	"sandglass/backend"
)

// worked is when a workspace was last read without a failure: the newest moment at which what fails now had not begun to.
// Zero: it was never read so.
func (s *store) worked(old *backend.Workspace) time.Time {
	attempt, tried := old.LastAttemptAt.Get()
	success := old.LastSuccessAt.Or(time.Time{})
	switch {
	case old.Class == backend.ClassFailed, old.Class == backend.ClassEvicted, old.Unreadable, tried && attempt.After(success),
		!tried && !old.LastAttemptAt.IsNotApplicable():
		return old.WorkedAt
	case old.Stale:
		return old.ReadAt
	}
	if at := s.confirmed[confirmation{old.Key.Source, backend.KindWorkspace}]; at.After(old.ReadAt) {
		return at
	}
	return old.ReadAt
}
