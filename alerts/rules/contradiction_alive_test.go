package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestARootThatIsListedBesideATerminatedStatus: what answers since its end contradicts its status; what answered before, or did not,
// does not.
func TestARootThatIsListedBesideATerminatedStatus(t *testing.T) {
	play := func(sees, runs bool, after time.Duration) *story {
		s := beginCloud(t)
		s.hub(cloudSession, cloudBox, func(x *backend.Session) { x.Running = backend.Known(runs) })
		ended := s.wall
		s.cloudBox(cloudBox, func(b *backend.Sandbox) {
			b.Class, b.Reported, b.KnownSince = backend.SandboxExited, backend.Text("TERMINATED"), ended
			b.Provider = backend.Text("blaxel")
		})
		s.look().quiet(contradictionRule)
		s.pass(time.Minute)
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: s.wall,
			Inside: &backend.Inside{At: ended.Add(after), Root: backend.Text("/workspace"), AgentSees: backend.Known(sees), AgentWhy: backend.Text("/ was listed in 1s")}})
		return s.look()
	}
	s := play(true, true, time.Minute)
	a := s.want(contradictionRule, alerts.StateFiring)
	if a.Cause.String() != "reported TERMINATED, but / of it was listed since" || a.Severity != alerts.SeverityCritical {
		t.Errorf("%s %s", a.Severity, a.Cause)
	}
	wantEvidence(t, a, "its agent's check would say: running, since / was listed in 1s; but its status is TERMINATED")
	if a := play(true, false, time.Minute).want(contradictionRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning {
		t.Errorf("no session runs: %s", a.Severity)
	}
	play(true, true, -time.Minute).quiet(contradictionRule)
	play(false, true, time.Minute).quiet(contradictionRule)
}
