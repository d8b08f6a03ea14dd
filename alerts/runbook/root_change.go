package runbook

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// rootChange is a command in the log of an agent that changed the working directory of its sandbox, as an alert tells it.
type rootChange struct {
	who, command string // "agent coder", or "agent" where the log does not tell which
	evidence     *alerts.Evidence
}

// rootChange is the newest such command that the page's alerts name; nil: they name none.
func (s *subjectView) rootChange() (out *rootChange) {
	for _, a := range s.led {
		for i := range a.Evidence {
			e := &a.Evidence[i]
			if who, command, is := alerts.IsRootChange(e.Text.String()); is && (out == nil || e.At.After(out.evidence.At)) {
				out = &rootChange{who, command, e}
			}
		}
	}
	return out
}

// changedAt is when it ran; zero: there is none.
func (s *subjectView) changedAt() (at time.Time) {
	if x := s.rootChange(); x != nil {
		at = x.evidence.At
	}
	return at
}

// sharedBy are the agents that run commands in the sandbox, where they are several: "coder and planner".
func (s *subjectView) sharedBy() string {
	for _, a := range s.led {
		for i := range a.Evidence {
			if agents, is := alerts.IsSharedBy(a.Evidence[i].Text.String()); is {
				return agents
			}
		}
	}
	return ""
}

// changedByAgent says which command of an agent changed the working directory. It is asked only where a log answers it.
func (s *subjectView) changedByAgent() (Check, bool) {
	x := s.rootChange()
	if x == nil {
		return Check{}, false
	}
	q := question{"changed", "Did an agent change its working directory?", ""}
	said := backend.Clean(strings.TrimPrefix(x.evidence.Text.String(), "log: before it, "), 300)
	if agents := s.sharedBy(); agents != "" {
		said = backend.Textf("%s. Commands in it are run by %s", said, backend.Clean(agents, 200))
	}
	return q.yes(origin{x.evidence.Source, x.evidence.At}, "%s", said), true
}

// again adds what keeps an agent from doing to its sandbox once more what its log shows.
func (s *subjectView) again(d *Diagnosis) {
	x := s.rootChange()
	if x == nil {
		return
	}
	d.do("Keep the %s from running it again, or this comes back: %s", backend.Clean(x.who, 80), backend.Clean(x.command, 120))
	if agents := s.sharedBy(); agents != "" {
		d.do("Give %s a sandbox each. What one removes, all lose.", backend.Clean(agents, 200))
	}
}
