package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// outFor has helix out for a while, from a minute from now on.
func (s *story) outFor(d time.Duration) *story {
	s.t.Helper()
	s.after(time.Minute)
	s.down("helix", "connection refused")
	s.every(30*time.Second, d, nil)
	s.up("helix")
	return s
}

// Sessions that answered 404 once before the source went, and once after it, have not answered 404 for 2 minutes.
func TestLostRegistriesDoNotCountAnOutage(t *testing.T) {
	s := beginRegistries(t)
	s.publish(0, 30, backend.AnswerOK)
	s.look()
	s.pass(5 * time.Second)
	s.publish(0, 10, backend.AnswerIdle)
	s.look()
	s.outFor(10 * time.Minute)
	s.after(5 * time.Second).quiet(registryRule)
	s.every(5*time.Second, 115*time.Second, nil).quiet(registryRule)
	s.after(5*time.Second).want(registryRule, alerts.StateFiring)
	s.outFor(10 * time.Minute)
	s.want(registryRule, alerts.StateHeld)
	s.after(5*time.Second).want(registryRule, alerts.StateFiring) // what fired goes on
}

// Workspaces without times are known to fail by readings alone: an outage between two of them proves nothing.
func TestFailuresWithoutTimesDoNotCountAnOutage(t *testing.T) {
	fails := func(s *story, n int, worked time.Time) {
		for i := range n {
			s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: "socket hang up", edit: func(w *backend.Workspace) {
				w.LastAttemptAt, w.LastSuccessAt, w.WorkedAt = backend.Unknown[time.Time](), backend.Unknown[time.Time](), worked
			}})
		}
	}
	s := begin(t, failedRule)
	fails(s, 1, time.Time{})
	s.look().want(failedRule, alerts.StatePending)
	s.outFor(20 * time.Minute)
	fails(s, 1, time.Time{})
	s.after(time.Second).want(failedRule, alerts.StatePending)
	s.every(time.Minute, 9*time.Minute, nil).want(failedRule, alerts.StatePending)
	s.after(time.Minute).want(failedRule, alerts.StateFiring)
	s.outFor(20 * time.Minute)
	s.after(time.Second).want(failedRule, alerts.StateFiring) // what fired goes on

	s = begin(t, failedRule) // three that worked before the outage, and fail after it
	for i := range 3 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "open"})
	}
	s.look()
	worked := s.wall
	s.outFor(20 * time.Minute)
	fails(s, 3, worked)
	s.after(time.Second).want(failedRule, alerts.StatePending)
	s.every(time.Minute, 8*time.Minute, nil).want(failedRule, alerts.StatePending)
	s.every(time.Minute, 2*time.Minute, nil).want(failedRule, alerts.StateFiring)
}
