package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestASandboxThatCannotBeUsedUnderARunningSession: what its platform set aside, and one that answers nothing to a probe, contradict a
// session that runs on it; without such a session, or once it is back, they do not.
func TestASandboxThatCannotBeUsedUnderARunningSession(t *testing.T) {
	type want struct {
		cause    string
		severity alerts.Severity
	}
	for word, want := range map[backend.Literal]want{
		"DEPLOYED, disabled": {"its session runs, but it is DEPLOYED, disabled and refuses connections", alerts.SeverityCritical},
		"DEACTIVATING":       {"its session runs, but it is reported DEACTIVATING", alerts.SeverityWarning},
		"DEACTIVATED":        {"its session runs, but it is reported DEACTIVATED", alerts.SeverityWarning},
		"ARCHIVING":          {"its session runs, but it is reported ARCHIVING", alerts.SeverityWarning},
		"ARCHIVED":           {"its session runs, but it is reported ARCHIVED", alerts.SeverityWarning},
		"DEPLOYED RUNNING":   {"reported DEPLOYED RUNNING, but nothing in it answered a probe: its server did not answer within 10s", alerts.SeverityWarning},
		"DEPLOYED STANDBY":   {"reported DEPLOYED STANDBY, but nothing in it answered a probe: its server did not answer within 10s", alerts.SeverityWarning},
	} {
		class, reported := backend.SandboxRunning, backend.Literal("DEPLOYED RUNNING")
		if word == "DEPLOYED STANDBY" {
			class, reported = backend.SandboxAsleep, word
		}
		s := beginBelief(t, class, reported)
		s.stateOn(cloudBox, s.wall, nil)
		s.look().quiet(contradictionRule)
		s.pass(10 * time.Second)
		if word == "DEPLOYED RUNNING" || word == "DEPLOYED STANDBY" {
			s.hangs()
		} else {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				b.Class, b.Reported, b.KnownSince = backend.SandboxPaused, backend.Text(word), s.wall
			})
		}
		a := s.look().want(contradictionRule, alerts.StateFiring)
		if !strings.HasPrefix(a.Cause.String(), want.cause) || a.Severity != want.severity || a.Subjects[0].Key.ID.Raw() != cloudBox {
			t.Errorf("%s %s", a.Severity, a.Cause)
		}
		s.restart()
		if again := s.look().want(contradictionRule, alerts.StateFiring); again.ID != a.ID {
			t.Errorf("%s: another alert after a restart", word)
		}
		s.hub(cloudSession, cloudBox, func(x *backend.Session) { x.Running = backend.Known(false) })
		s.after(30 * time.Second).quiet(contradictionRule)
		s.hub(cloudSession, cloudBox, nil)
		s.after(30*time.Second).want(contradictionRule, alerts.StateFiring)
		s.pass(10 * time.Second)
		if word == "DEPLOYED RUNNING" || word == "DEPLOYED STANDBY" {
			s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: s.wall})
		} else {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) {
				b.Class, b.Reported, b.KnownSince = backend.SandboxRunning, backend.Text("DEPLOYED RUNNING"), s.wall
			})
		}
		s.look().quiet(contradictionRule)
	}
}

// hangs notes a probe that had no answer in time.
func (s *story) hangs() {
	in := &backend.Inside{At: s.wall, AgentSees: backend.Known(false), AgentWhy: backend.Text("its check would fail: timeout")}
	s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: s.wall, Inside: in},
		backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, At: s.wall, What: backend.Text("its server did not answer within 10s; the agent's own calls for files have no deadline")})
}
