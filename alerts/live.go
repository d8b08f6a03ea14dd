package alerts

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Live is what is known of the sessions that run now and could use what a source reports.
type Live struct {
	// Told says that some source that it speaks about lists sessions, and that none of these is silent now.
	Told bool
	Why  backend.Safe // why it is not told
	// Running counts the sessions not known to have stopped, Unsure those of them whose start is not known.
	Running, Unsure int
	Oldest          time.Time // steady: the earliest known start of a running one, zero without any
}

// Live sums up the sessions of the sources that a source speaks about. It walks all sessions once in a State.
func (e *Env) Live(source string) Live {
	if l, ok := e.live[source]; ok {
		return l
	}
	if e.live == nil {
		e.live = map[string]Live{}
	}
	l := e.sumLive(source)
	e.live[source] = l
	return l
}

func (e *Env) sumLive(source string) Live {
	homes := map[string]bool{}
	for _, h := range e.HomesOf(source) {
		if _, why, gap := e.Gap(h.Key.Source); gap {
			return Live{Why: why}
		}
		if h.WorkspacesUnknown {
			return Live{Why: backend.Textf("%s cannot tell which of its sessions run", backend.Clean(h.Key.Source, 80))}
		}
		homes[h.Key.Source] = true
	}
	if len(homes) == 0 {
		return Live{Why: backend.Textf("no source lists the sessions that %s speaks about", backend.Clean(source, 80))}
	}
	l := Live{Told: true}
	for s := range e.State.Sessions.All() {
		if !homes[s.Key.Source] || !Runs(s) {
			continue
		}
		l.Running++
		at := e.Time(&s.Meta, s.StartedAt)
		switch {
		case at.IsZero():
			l.Unsure++
		case l.Oldest.IsZero() || at.Before(l.Oldest):
			l.Oldest = at
		}
	}
	return l
}

// HomesOf lists the sources that list sessions and that the given one speaks about, those included that were not read yet
// and could.
func (e *Env) HomesOf(source string) []*fleet.SourceHealth { return e.State.SessionSourcesOf(source) }

// Runs reports whether a session may be running: nothing says that it stopped.
func Runs(s *backend.Session) bool { return s.MayRun() }
