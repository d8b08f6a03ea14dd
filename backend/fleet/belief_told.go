package fleet

import (
	"time"

	"sandglass/backend"
)

// Told is what the log of an agent last said of whether its sandbox runs.
type Told struct {
	Runs   bool
	Over   bool // it said that the session ended, and nothing of the sandbox
	Hint   bool // only the SDK's own check failed, which says little by itself
	At     time.Time
	Source string // that read the line
	Text   backend.Safe
}

// ToldOn is what the log of its agent said of a sandbox in its present life; false: nothing lately.
func (s *State) ToldOn(b *backend.Sandbox) (Told, bool) {
	t, is := s.lastTold(b.Key.Source, b.Key.ID, s.SessionOn(b))
	return t, is && !t.Over && !t.At.Before(b.CreatedAt.Or(time.Time{})) && !t.At.Before(b.FreshAt)
}

// sameMoment is by how much a line of a log and the end of a sandbox must differ for one to be the earlier: their clocks differ.
const sameMoment = time.Minute

// toldAfterEnd reports whether a line about a sandbox that is over is from after its end; unknown: nothing tells when it ended, as where
// it was over when Sandglass first saw it.
func toldAfterEnd(b *backend.Sandbox, at time.Time) backend.Value[bool] {
	end, known := b.FinishedAt.Get()
	switch {
	case !b.KnownSince.IsZero() && !at.Before(b.KnownSince), !known && b.KnownSince.IsZero():
		return backend.Known(true)
	case known && !at.After(end):
		return backend.Known(false)
	case known && at.After(end.Add(sameMoment)):
		return backend.Known(true)
	case !known && len(b.History) > 1 && at.Before(b.KnownSince.Add(-sameMoment)): // it was seen otherwise before
		return backend.Known(false)
	}
	return backend.Unknown[bool]()
}

// ToldOf is what the log of its agent said of the sandbox that a saved state names; false: nothing lately.
func (s *State) ToldOf(r *backend.Ref) (Told, bool) {
	t, is := s.lastTold("", r.Sandbox, r.Session)
	return t, is && !t.Over
}

// lastTold is the newest line about a sandbox of a source, "": of any, or about a session without a sandbox. One that tells the end of the
// session is about both.
func (s *State) lastTold(source string, sandbox, session backend.ID) (t Told, is bool) {
	for _, h := range s.Sources {
		if source != "" && !h.ReportsOn(source) {
			continue
		}
		for i := range h.Reports {
			x := &h.Reports[i]
			over := x.Kind == backend.ReportAgentDone
			about := !sandbox.IsZero() && x.Sandbox == sandbox || (x.Sandbox.IsZero() || over) && !session.IsZero() && x.Session == session
			if over && !session.IsZero() && !x.Session.IsZero() && x.Session != session {
				about = false // another session had it
			}
			if x.Kind.Belief() && about && !x.At.Before(t.At) {
				t, is = Told{x.Kind == backend.ReportAgentRuns, over, x.Kind == backend.ReportCheckFailed, x.At, h.Key.Source, x.Text}, true
			}
		}
	}
	return t, is
}
