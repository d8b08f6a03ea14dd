package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestVersionsThatDoNotFitLongerThanARolloutLasts: a probe that finds them once is no failure, as in each rollout; one that finds them
// when that would be over is, since the first; a command that ran in between begins the count again.
func TestVersionsThatDoNotFitLongerThanARolloutLasts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs  bool
		after time.Duration
		fires bool
	}{"soon": {false, 5 * time.Minute, false}, "late": {false, 25 * time.Minute, true}, "one ran in between": {true, 25 * time.Minute, false}} {
		s := beginWorkers(t)
		found := func(outcome backend.Outcome, kind backend.FailureKind) {
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: outcome, Kind: kind, At: s.wall, What: backend.Text("as it was answered")}})
			})
		}
		first := s.wall
		found(backend.OutcomeUnknown, backend.FailProtocol)
		s.look().quiet(contradictionRule)
		s.pass(time.Minute)
		if c.runs {
			found(backend.OutcomeOK, "")
			s.look().quiet(contradictionRule)
		}
		s.pass(c.after)
		found(backend.OutcomeUnknown, backend.FailProtocol)
		s.look()
		if all := s.alerts(contradictionRule); (len(all) == 1) != c.fires {
			t.Errorf("%s: %+v", name, all)
		} else if c.fires && (all[0].State != alerts.StateFiring || !strings.Contains(all[0].Cause.String(), "versions that do not understand each other") || !all[0].Bounds.Latest.Equal(first)) {
			t.Errorf("%s: %s %s since %s", name, all[0].State, all[0].Cause, all[0].Bounds.Latest)
		}
		if c.fires {
			s.pass(time.Minute)
			found(backend.OutcomeOK, "")
			s.look().quiet(contradictionRule)
		}
	}
}

// TestLinesOfVersionsThatDoNotFit: lines of an agent's log tell the same, until one of a command that ran.
func TestLinesOfVersionsThatDoNotFit(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	says := func(kind backend.ReportKind) {
		r := backend.Report{Kind: kind, Session: backend.MustID("sandbox-demo"), Source: "agent-log", At: s.wall}
		r.Sandbox, _ = backend.SandboxOfSession("sandbox-demo")
		s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = backend.KeepReports(h.Reports, []backend.Report{r}, s.wall) })
		s.workersBox(nil)
		s.look()
	}
	first := s.wall
	says(backend.ReportProtocol)
	for range 3 {
		s.quiet(contradictionRule)
		s.pass(8 * time.Minute)
		says(backend.ReportProtocol)
	}
	if a := s.want(contradictionRule, alerts.StateFiring); !strings.Contains(a.Cause.String(), "versions that do not understand each other") || !a.Bounds.Latest.Equal(first) {
		t.Errorf("%s since %s", a.Cause, a.Bounds.Latest)
	}
	s.pass(time.Minute)
	says(backend.ReportCommandGood)
	s.quiet(contradictionRule)
}
