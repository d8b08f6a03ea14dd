package fleet

import (
	"time"

	"sandglass/backend"
)

// spokeLately is how long after a line of its log a session that no source lists is taken to run.
const spokeLately = 15 * time.Minute

// LiveOn says why a session is taken to run on a sandbox; empty: nothing says that one does, which is no proof that none does.
func (s *State) LiveOn(b *backend.Sandbox) backend.Safe {
	id := s.SessionOn(b)
	if id.IsZero() {
		return backend.Safe{}
	}
	for _, h := range s.SessionSourcesOf(b.Key.Source) {
		x := s.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: id})
		if x == nil {
			continue
		}
		if x.Running.Or(false) || x.ListedRunning.Or(false) {
			return backend.Textf("session %s is listed as %s", id.Safe(), x.Status)
		}
		if !x.MayRun() {
			return backend.Safe{} // it is over, its own list says
		}
	}
	if _, over := s.EndOn(b); over {
		return backend.Safe{}
	}
	last := s.lastLine(b, id)
	if ago := s.Wall.Sub(last); !last.IsZero() && ago < spokeLately {
		return backend.Textf("session %s wrote to its log %s ago", id.Safe(), backend.Age(max(ago, 0)))
	}
	return backend.Safe{}
}
