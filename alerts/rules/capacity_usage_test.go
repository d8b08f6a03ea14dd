package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// refusedForUse is a call that the gateway refused for the usage limit of the workspace.
func (s *story) refusedForUse(p backend.Plane) {
	s.sees(cloudBox, backend.Verdict{Plane: p, Outcome: backend.OutcomeUnknown, Kind: backend.FailUsageLimit, At: s.wall, What: backend.Text("answered 402: m (USAGE_LIMIT_EXCEEDED)")})
}

// TestAWorkspaceOverItsUsageLimit: a call that its platform refused for it is an alert about the source and none about the sandbox. It lasts
// over a restart and the end of the sandbox, until a later call works, whatever was found before.
func TestAWorkspaceOverItsUsageLimit(t *testing.T) {
	begin := func(kind string) *story {
		s := beginCloud(t, capacityRule)
		s.source("app", backend.InputRejections, backend.InputEvictionLogs)
		s.health("cloud", func(h *fleet.SourceHealth) { h.Kind = kind })
		s.cloudBox(cloudBox, func(b *backend.Sandbox) {
			b.Provider, b.Reported, b.CreatedAt = backend.Text("blaxel"), backend.Text("DEPLOYED RUNNING"), backend.Known(s.wall.Add(-time.Hour))
		})
		s.lines(backend.MetricSDKExec, cloudSession, 0, "")
		s.look().quiet(capacityRule)
		s.pass(10 * time.Second)
		return s
	}
	works := func(s *story) {
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: s.wall, LastOK: s.wall})
	}
	for name, refuse := range map[string]func(*story){
		"an action": func(s *story) { s.refusedForUse(backend.PlaneList) },
		"a command": func(s *story) { s.refusedForUse(backend.PlaneExec) },
		"the log": func(s *story) {
			s.lines(backend.MetricSDKExec, cloudSession, 1, "ExecTransportError, HTTP 402, code USAGE_LIMIT_EXCEEDED"+backend.AnswerUsage.Sign())
		},
	} {
		s := begin("blaxel")
		works(s)
		s.look().quiet(capacityRule)
		s.pass(10 * time.Second)
		refuse(s)
		a := s.look().want(capacityRule, alerts.StateFiring)
		s.quiet(contradictionRule)
		if a.Severity != alerts.SeverityCritical || a.Source != "cloud" || a.Subjects[0].Key != backend.PlacesKey("cloud", nil) || !strings.Contains(a.Cause.String(), "every call there (USAGE_LIMIT_EXCEEDED)") || !strings.Contains(a.Evidence[0].Text.String(), "402") {
			t.Errorf("%s: %s %s %s %v", name, a.Severity, a.Source, a.Cause, a.Evidence)
		}
		s.pass(2 * time.Minute)
		s.lines(backend.MetricSDKExec, cloudSession, 0, "")                                                         // the log is read again, and has no more of them
		if again := s.look().want(capacityRule, alerts.StateFiring); again.Evidence[0].Text != a.Evidence[0].Text { // the time is that of the refusal
			t.Errorf("%s: %s, later %s", name, a.Evidence[0].Text, again.Evidence[0].Text)
		}
		s.restart()
		if again := s.look().want(capacityRule, alerts.StateFiring); again.ID != a.ID {
			t.Errorf("%s: another alert after a restart", name)
		}
		s.pass(3 * time.Hour) // the line is not kept as long
		if again := s.look().want(capacityRule, alerts.StateFiring); again.ID != a.ID {
			t.Errorf("%s: another alert later", name)
		}
		s.wantHeldThenBack(capacityRule, "cloud", func() { s.cloudBox(cloudBox, nil) })
		works(s)
		s.look().quiet(capacityRule)
	}
	s := begin("blaxel") // a command of its agent was answered since
	s.lines(backend.MetricExecDone, cloudSession, 1, "")
	s.look().quiet(capacityRule)
	s.pass(10 * time.Second)
	s.refusedForUse(backend.PlaneExec)
	s.look().want(capacityRule, alerts.StateFiring)
	s.pass(10 * time.Second)
	s.lines(backend.MetricExecDone, cloudSession, 1, "")
	s.look().quiet(capacityRule)
	s = begin("test") // of another platform
	s.refusedForUse(backend.PlaneList)
	s.look().quiet(capacityRule)
	s = begin("blaxel") // of our own key, or of another answer
	s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, Kind: backend.FailThrottled, At: s.wall})
	s.lines(backend.MetricSDKExec, cloudSession, 1, "ExecTransportError, HTTP 429")
	s.look().quiet(capacityRule)
}
