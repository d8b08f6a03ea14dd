package fleet

import (
	"time"

	"sandglass/backend"
)

// SessionEnd is what says that the session on a sandbox ended.
type SessionEnd struct {
	Why backend.Safe
	// At is when a line of its log said so; zero where its list does, which does not tell when.
	At     time.Time
	Source string
}

// goesOn is how long after the line that tells the end of a session another one may belong to it.
const goesOn = time.Minute

// EndOn is what says that the session on a sandbox ended; false: nothing does. A list that names the session says more than its log,
// and a session that writes on did not end.
func (s *State) EndOn(b *backend.Sandbox) (SessionEnd, bool) {
	id := s.SessionOn(b)
	if id.IsZero() {
		return SessionEnd{}, false
	}
	for _, h := range s.SessionSourcesOf(b.Key.Source) {
		k := backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: id}
		switch x := s.Session(k); {
		case x != nil && x.Completed() && !x.Stale:
			return SessionEnd{backend.Textf("%s lists session %s as %s", backend.Clean(h.Key.Source, 80), id.Safe(), x.Status), time.Time{}, h.Key.Source}, true
		case x != nil:
			return SessionEnd{}, false
		case s.SaidToHaveEnded(k):
			return SessionEnd{backend.Textf("%s says that session %s ended", backend.Clean(h.Key.Source, 80), id.Safe()), time.Time{}, h.Key.Source}, true
		}
	}
	t, is := s.lastTold(b.Key.Source, b.Key.ID, id)
	if !is || !t.Over || s.lastLine(b, id).After(t.At.Add(goesOn)) || t.At.Before(b.CreatedAt.Or(time.Time{})) {
		return SessionEnd{}, false
	}
	return SessionEnd{backend.Textf("its log said so: %s", backend.Clean(t.Text.String(), 200)), t.At, t.Source}, true
}

// lastLine is the newest line within the last hour of a session, in logs that speak of a sandbox; zero: there is none.
func (s *State) lastLine(b *backend.Sandbox, session backend.ID) (last time.Time) {
	for series := range s.Windows.All(backend.MetricNamed) {
		if h := s.Source(series.Source); series.Session != session || h == nil || !h.ReportsOn(b.Key.Source) {
			continue
		}
		if at := s.lastOf(series); at.After(last) {
			last = at
		}
	}
	return last
}
