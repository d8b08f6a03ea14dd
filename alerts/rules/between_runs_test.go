package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
)

// TestASessionThatLeftBetweenTwoRunsIsOffered: one process read it, the next one finds its workspace's name re-created.
func TestASessionThatLeftBetweenTwoRunsIsOffered(t *testing.T) {
	s := begin(t)
	s.source("helix", backend.InputRegistry, backend.InputSessions)
	s.order = s.order[1:] // once
	open := reading{state: "open", attempt: time.Second, success: time.Second, provider: "local-bash"}
	s.session("s1", nil)
	s.reads("s1/box", open)
	s.look()
	s.off(time.Minute)
	delete(s.workspaces, wsKey("s1/box"))
	delete(s.sessions, sessionKey("s1"))
	s.session("s2", func(x *backend.Session) { x.StartedAt = backend.Known(s.wall.Add(-10 * time.Second)) })
	s.reads("s2/box", open)
	s.look()
	d := runbook.Diagnose("2", s.last, s.board, wsKey("s2/box"))
	if !strings.Contains(d.Conclusion.String(), "closed between sessions: session s1") {
		t.Errorf("%s", d.Conclusion)
	}
}

// TestASessionThatCompletedBetweenTwoRunsIsOffered: it stays listed, and its registry answers the documented 404.
func TestASessionThatCompletedBetweenTwoRunsIsOffered(t *testing.T) {
	s := begin(t)
	s.source("helix", backend.InputRegistry, backend.InputSessions)
	s.order = s.order[1:] // once
	open := reading{state: "open", attempt: time.Second, success: time.Second, provider: "local-bash"}
	s.session("s1", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.reads("s1/box", open)
	s.look()
	s.off(time.Minute)
	delete(s.workspaces, wsKey("s1/box"))
	s.session("s1", func(x *backend.Session) { x.Running, x.Status = backend.Known(false), backend.Text("completed") })
	s.look()
	s.off(time.Minute)
	s.session("s2", func(x *backend.Session) { x.StartedAt = backend.Known(s.wall.Add(-10 * time.Second)) })
	s.reads("s2/box", open)
	s.look()
	d := runbook.Diagnose("2", s.last, s.board, wsKey("s2/box"))
	if !strings.Contains(d.Conclusion.String(), "closed between sessions: session s1") || !strings.Contains(d.Conclusion.String(), "is completed now") {
		t.Errorf("%s", d.Conclusion)
	}
}

// TestAFiringAlertSaysWhichConditionItMet: not what a suspicion would wait for.
func TestAFiringAlertSaysWhichConditionItMet(t *testing.T) {
	s := begin(t, failedRule)
	for _, id := range []string{"a", "b", "c", "d"} {
		s.reads(id+"/box", reading{state: "failed", err: "Error: socket hang up", attempt: 3 * time.Second, success: 20 * time.Minute})
	}
	for range 2 {
		s.look()
		if a := s.want(failedRule, alerts.StateFiring); a.Why.String() != "4 subjects share the cause: it fires from 3" {
			t.Errorf("why %q", a.Why)
		}
		s.pass(5 * time.Second)
	}
}
