package agentuity

import (
	"slices"
	"time"

	"sandglass/backend"
)

// byHub says that the Hub's list joins a session and a sandbox.
const byHub = "the Hub's list"

// saidJoin is a session and a sandbox that one log line names together.
type saidJoin struct {
	session, sandbox backend.ID
	source           string
	at               time.Time    // of the newest such line
	told             time.Time    // of the first one
	where, line      backend.Safe // its file, and the line itself
}

// by says which line it was.
func (x *saidJoin) by() backend.Safe {
	out := backend.Textf("a log line of %s at %s", backend.Clean(x.source, 80), x.told.UTC().Round(time.Second).Format("2006-01-02 15:04:05Z"))
	if !x.where.IsEmpty() {
		out = backend.Textf("%s, in %s", out, x.where)
	}
	return out
}

// maxSaid bounds the joins that log lines tell.
const maxSaid = 5000

// saidJoins are the newest joins that log lines tell, by sandbox. They stay after their lines, for later processes too.
func (p *poll) saidJoins() map[backend.ID]saidJoin {
	s := p.s
	for _, r := range slices.Concat(p.attention.joins, p.attention.reports) {
		if !r.Session.IsZero() && !r.Sandbox.IsZero() && r.At.After(s.saidOf[r.Session].at) && len(s.saidOf) < maxSaid {
			x := s.saidOf[r.Session]
			if x.sandbox != r.Sandbox {
				x = saidJoin{r.Session, r.Sandbox, r.Source, r.At, r.At, r.Where, backend.Clean(r.Text.String(), maxJoinLine)}
			}
			x.at = r.At
			s.saidOf[r.Session] = x
		}
	}
	out := make(map[backend.ID]saidJoin, len(s.saidOf))
	for session, x := range s.saidOf {
		if s.boxes[x.sandbox] == nil {
			if s.recalled { // the lists were read
				delete(s.saidOf, session)
			}
		} else if x.at.After(out[x.sandbox].at) {
			out[x.sandbox] = x
		}
	}
	return out
}

// sandbox is the sandbox of the session: as the Hub's list says, else as a log line does; zero: neither tells.
func (y *hubSession) sandbox(s *Source) backend.ID {
	if !y.join.sandbox.IsZero() {
		return y.join.sandbox
	}
	return s.saidOf[y.entity.Key.ID].sandbox
}

// joined is the sandbox of the session, and what names it.
func (y *hubSession) joined(s *Source) (sandbox backend.ID, by backend.Safe) {
	if !y.join.sandbox.IsZero() {
		return y.join.sandbox, backend.Text(byHub)
	}
	if x, is := s.saidOf[y.entity.Key.ID]; is {
		return x.sandbox, x.by()
	}
	return sandbox, by
}
