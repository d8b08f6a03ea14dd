package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// publish lets sessions that their list calls running answer in a way.
func (s *story) publish(from, to int, a backend.RouteAnswer) {
	for i := from; i < to; i++ {
		id := fmt.Sprintf("r%02d", i)
		s.session(id, func(x *backend.Session) { x.ListedRunning, x.Answer = backend.Known(true), a })
		switch k := wsKey(id + "/box"); {
		case a == backend.AnswerOK:
			s.reads(id+"/box", works)
		case s.workspaces[k] != nil:
			s.ends(id+"/box", "its session is idle")
		}
	}
}

func beginRegistries(t *testing.T) *story {
	s := begin(t, "registry-not-published")
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Inputs, h.Registry = append(h.Inputs, backend.InputSessions), backend.RegistryAnswers
	})
	return s
}

func TestSomeRunningSessionsLoseTheirRegistry(t *testing.T) {
	const rule = "registry-not-published"
	s := beginRegistries(t)
	s.publish(0, 30, backend.AnswerOK)
	s.look().quiet(rule)
	s.pass(5 * time.Second)
	s.publish(0, 10, backend.AnswerIdle)
	s.look()
	s.every(5*time.Second, time.Minute, nil).quiet(rule) // the list may lag
	s.every(5*time.Second, 2*time.Minute, nil)
	a := s.want(rule, alerts.StateFiring)
	if a.SubjectCount != 10 || a.Severity != alerts.SeverityWarning {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "10 of 30 sessions that the list route calls running had a registry, or have references, and answer 404 now")
	s.restart()
	s.after(5*time.Second).want(rule, alerts.StateFiring)
	s.pass(5 * time.Second)
	s.publish(0, 10, backend.AnswerOK)
	s.look().quiet(rule)

	s = beginRegistries(t) // agents that declare no workspace, of which two have references
	s.source("refs", backend.InputRefs)
	s.publish(0, 20, backend.AnswerOK)
	s.publish(20, 30, backend.AnswerIdle)
	s.ref("r20/box", func(*backend.Ref) {})
	s.ref("r21/box", func(*backend.Ref) {})
	s.look().every(5*time.Second, 5*time.Minute, nil).quiet(rule)
	s.ref("r22/box", func(*backend.Ref) {}) // and a third one
	s.every(5*time.Second, 2*time.Minute, nil)
	if a := s.want(rule, alerts.StateFiring); a.SubjectCount != 3 {
		t.Errorf("%d subjects", a.SubjectCount)
	}
}
