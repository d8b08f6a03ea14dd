package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// believes adds a line of an agent's log about what it takes its sandbox for.
func (s *story) believes(kind backend.ReportKind, sandbox string) {
	r := backend.Report{Kind: kind, Sandbox: backend.MustID(sandbox), Session: backend.MustID(cloudSession), Source: "hub-log", At: s.wall, Text: backend.Text("sandbox state")}
	s.health("hub-log", func(h *fleet.SourceHealth) { h.Reports = backend.KeepReports(h.Reports, []backend.Report{r}, s.wall) })
}

func beginBelief(t *testing.T, class backend.SandboxClass, word backend.Literal) *story {
	s := beginCloud(t)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) {
		b.Provider, b.Class, b.Reported, b.KnownSince = backend.Text("blaxel"), class, backend.Text(word), s.wall
		b.CreatedAt = backend.Known(s.wall.Add(-time.Hour))
	})
	s.look().quiet(contradictionRule)
	s.pass(10 * time.Second)
	return s
}

// TestAnAgentThatTakesItsSandboxForSomethingElse: what its log says is compared with the platform's list and with what a probe saw. That
// only the check of the SDK failed counts once a command ran. The newest line counts.
func TestAnAgentThatTakesItsSandboxForSomethingElse(t *testing.T) {
	ran := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, What: backend.Text("true ran")}
	type class = backend.SandboxClass
	for name, c := range map[string]struct {
		class    class
		word     backend.Literal
		says     backend.ReportKind
		ran      bool
		cause    string
		severity alerts.Severity
	}{
		"it gave one up that sleeps":      {backend.SandboxAsleep, "DEPLOYED STANDBY", backend.ReportAgentDown, false, "its agent takes it for not running, but cloud lists it as DEPLOYED STANDBY", alerts.SeverityWarning},
		"it gave one up that works":       {backend.SandboxRunning, "DEPLOYED RUNNING", backend.ReportAgentDown, true, "its agent takes it for not running, but a command ran in it", alerts.SeverityWarning},
		"its check failed":                {backend.SandboxRunning, "DEPLOYED RUNNING", backend.ReportCheckFailed, false, "", ""},
		"its check failed, a command ran": {backend.SandboxRunning, "DEPLOYED RUNNING", backend.ReportCheckFailed, true, "its agent takes it for not running, but a command ran in it", alerts.SeverityWarning},
		"it works with one that is over":  {backend.SandboxExited, "TERMINATED", backend.ReportAgentRuns, false, "its agent takes it for running, but its status is TERMINATED", alerts.SeverityCritical},
		"it knows that it is over":        {backend.SandboxExited, "TERMINATED", backend.ReportAgentDown, false, "", ""},
		"it works with one that works":    {backend.SandboxRunning, "DEPLOYED RUNNING", backend.ReportAgentRuns, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := beginBelief(t, c.class, c.word)
			s.believes(c.says, cloudBox)
			if c.ran {
				ran.At = s.wall
				s.sees(cloudBox, ran)
			}
			if s.look(); c.cause == "" {
				s.quiet(contradictionRule)
				return
			}
			a := s.want(contradictionRule, alerts.StateFiring)
			if a.Cause.String() != c.cause || a.Severity != c.severity {
				t.Errorf("%s %s", a.Severity, a.Cause)
			}
			wantEvidence(t, a, "log: sandbox state")
			s.pass(10 * time.Second)
			if c.says == backend.ReportAgentRuns {
				s.believes(backend.ReportAgentDown, cloudBox)
			} else {
				s.believes(backend.ReportAgentRuns, cloudBox)
			}
			s.look().quiet(contradictionRule)
		})
	}
}

// TestALineFromBeforeTheEndSaysNothing: an agent may not know of an end that came after its line, or of another sandbox of the name.
func TestALineFromBeforeTheEndSaysNothing(t *testing.T) {
	s := beginBelief(t, backend.SandboxRunning, "DEPLOYED RUNNING")
	s.believes(backend.ReportAgentRuns, cloudBox)
	s.look()
	s.pass(10 * time.Second)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) {
		b.Class, b.Reported, b.KnownSince = backend.SandboxExited, backend.Text("TERMINATED"), s.wall
	})
	s.look().quiet(contradictionRule)
	s = beginBelief(t, backend.SandboxRunning, "DEPLOYED RUNNING")
	s.believes(backend.ReportAgentDown, cloudBox)
	s.pass(10 * time.Second)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.FreshAt = s.wall })
	s.look().quiet(contradictionRule)
}

// TestAnAgentThatWorksWithWhatIsGone: its platform does not list the sandbox of a saved state, and its agent's log says after that that
// it runs; also where the list was read by a process before.
func TestAnAgentThatWorksWithWhatIsGone(t *testing.T) {
	const lost = "agents-0123456789ab"
	for _, anew := range []bool{false, true} {
		s := beginCloud(t)
		s.health("cloud", func(h *fleet.SourceHealth) { h.Kind, h.Status = "blaxel", fleet.StatusOK })
		s.stateOn(lost, s.wall.Add(-time.Minute), nil)
		s.refs[0].Provider = backend.Text("blaxel")
		s.source("refs", backend.InputRefs)
		s.listed = map[backend.Kind]string{backend.KindSandbox: "cloud"}
		s.believes(backend.ReportAgentRuns, lost)
		s.look().quiet(contradictionRule) // it may have ended right after the line
		if anew {
			s.restart()
			s.look().quiet(contradictionRule)
		}
		s.pass(10 * time.Second)
		s.believes(backend.ReportAgentRuns, lost)
		a := s.look().want(contradictionRule, alerts.StateFiring)
		if a.Cause.String() != "its agent takes it for running, but it is not listed by cloud" || a.Severity != alerts.SeverityCritical {
			t.Errorf("%s %s", a.Severity, a.Cause)
		}
		wantEvidence(t, a, "log: sandbox state")
		s.pass(10 * time.Second)
		s.believes(backend.ReportAgentDown, lost)
		s.look().quiet(contradictionRule)
	}
}
