package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const fullLine = "ExecTransportError, HTTP 422, disk full"

// beginFull is a sandbox of an agent's cloud and the log of its agent.
func beginFull(t testing.TB) *story {
	s := beginCloud(t)
	s.source("app", backend.InputEvictionLogs)
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	s.stateOn(cloudBox, s.wall, nil)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) {
		b.Provider, b.Reported = backend.Text("blaxel"), backend.Text("DEPLOYED RUNNING")
	})
	s.look().quiet(contradictionRule)
	s.pass(10 * time.Second)
	return s
}

// TestAFullDiskInALogAloneIsPending: it is the agent's word, joined to its sandbox; what a probe finds makes the same alert fire.
func TestAFullDiskInALogAloneIsPending(t *testing.T) {
	for _, m := range []backend.Metric{backend.MetricSDKExec, backend.MetricSDKFiles, backend.MetricSDKMissing} {
		s := beginFull(t)
		s.lines(m, cloudSession, 1, fullLine)
		a := s.look().want(contradictionRule, alerts.StatePending)
		if len(a.Subjects) != 1 || a.Subjects[0].Key != cloudKey(backend.KindSandbox, cloudBox) || a.Cause.String() != "reported DEPLOYED RUNNING, but its disk has no space left, its agent's log says" ||
			!strings.HasPrefix(a.Why.String(), "its agent's word: fires when a probe") {
			t.Fatalf("%s: %v %s: %s", m, a.Subjects, a.Cause, a.Why)
		}
		s.pass(10 * time.Second) // another error of its kind disproves nothing
		s.lines(m, cloudSession, 1, "ExecTimeoutError")
		s.look().want(contradictionRule, alerts.StatePending)
		s.restart()
		if b := s.look().want(contradictionRule, alerts.StatePending); b.ID != a.ID {
			t.Errorf("%s: another alert after a restart", m)
		}
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailNoSpace, At: s.wall, What: backend.Text("/ is 100% full")})
		b := s.look().want(contradictionRule, alerts.StateFiring)
		if b.ID != a.ID || b.Cause.String() != "reported DEPLOYED RUNNING, but its disk has no space left" {
			t.Errorf("%s: %s %s, was %s", m, b.ID, b.Cause, a.ID)
		}
	}
}

// TestAWordOfAFullDiskLapses: an hour after its newest line, and with the sandbox that it was said of. Of another session it says nothing.
func TestAWordOfAFullDiskLapses(t *testing.T) {
	s := beginFull(t)
	s.lines(backend.MetricSDKExec, "another", 1, fullLine)
	s.look().quiet(contradictionRule)
	s.lines(backend.MetricSDKExec, cloudSession, 1, fullLine)
	s.look().want(contradictionRule, alerts.StatePending)
	s.every(5*time.Minute, 50*time.Minute, nil).want(contradictionRule, alerts.StatePending)
	s.every(5*time.Minute, 15*time.Minute, nil).quiet(contradictionRule)

	s = beginFull(t)
	s.lines(backend.MetricSDKExec, cloudSession, 1, fullLine)
	s.look().want(contradictionRule, alerts.StatePending)
	s.pass(time.Minute)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.CreatedAt = backend.Known(s.wall) })
	s.look().quiet(contradictionRule)
}
