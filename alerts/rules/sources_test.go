package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	downRule     = "source-down"
	registryRule = "registry-not-published"
)

func TestSourceDownAfterThreeFailedPolls(t *testing.T) {
	s := begin(t)
	s.look()
	for i, want := range []alerts.AlertState{alerts.StatePending, alerts.StatePending, alerts.StateFiring} {
		s.pass(5 * time.Second)
		s.down("helix", "dial tcp 127.0.0.1:8080: connection refused")
		a := s.look().want(downRule, want)
		if i == 0 && !strings.Contains(a.Why.String(), "fires after 3 failed polls in a row, 1 so far") {
			t.Errorf("why %q", a.Why)
		}
	}
	a := s.want(downRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning || a.Runbook != "source" || a.Subjects[0].Key.Kind != backend.KindSource {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "3 polls in a row failed", "it last answered at 12:00:00Z")
	id := a.ID
	s.down("helix", "timeout")
	if a := s.after(5*time.Second).want(downRule, alerts.StateFiring); a.ID != id || a.Cause.String() != "timeout" {
		t.Errorf("another error made another alert: %s %q", a.ID, a.Cause)
	}
	s.up("helix")
	s.after(time.Second).quiet(downRule)
	s.wantTransitions("pending firing resolved")
}

func TestSourceDownDoesNotFireForWhatIsAbsentOrStarting(t *testing.T) {
	s := begin(t)
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusAbsent; h.Failures = 10 })
	s.source("docker").Status = fleet.StatusStarting
	s.look().quiet(downRule)
	s.after(time.Hour).quiet(downRule)
}

func TestSourceDownColdStartIsSuspectedFirst(t *testing.T) {
	s := begin(t)
	s.health("helix", func(h *fleet.SourceHealth) { h.LastOK = time.Time{} })
	s.down("helix", "connection refused")
	a := s.look().want(downRule, alerts.StatePending)
	wantEvidence(t, a, "it has not answered since Sandglass started")
}

func TestSourceDownRestartKeepsIt(t *testing.T) {
	s := begin(t)
	s.look()
	for range 3 {
		s.pass(5 * time.Second)
		s.down("helix", "connection refused")
		s.look()
	}
	s.want(downRule, alerts.StateFiring)
	s.restart()
	s.health("helix", func(h *fleet.SourceHealth) { h.Status, h.Failures = fleet.StatusStarting, 0 })
	s.after(time.Second).want(downRule, alerts.StateFiring)
	s.down("helix", "connection refused") // the first failed poll of the new process
	s.after(time.Second).want(downRule, alerts.StateFiring)
	s.wantTransitions("pending firing")
}

// TestSourceDownCountsFailedRuns: each run on one state directory polls once; a single answer starts anew.
func TestSourceDownCountsFailedRuns(t *testing.T) {
	s := begin(t)
	s.look()
	run := func(want alerts.AlertState) *alerts.Alert {
		t.Helper()
		s.off(time.Minute)
		s.pass(time.Minute)
		s.health("helix", func(h *fleet.SourceHealth) {
			h.LastOK, h.FirstTry, h.Failures, h.DownFrom = time.Time{}, s.wall, 0, time.Time{}
		})
		s.down("helix", "answered 503")
		s.look()
		s.look() // the same poll counts once
		return s.want(downRule, want)
	}
	for round := range 2 {
		run(alerts.StatePending)
		began := s.wall
		if a := run(alerts.StatePending); !strings.Contains(a.Why.String(), "2 so far") {
			t.Errorf("why %q", a.Why)
		}
		a := run(alerts.StateFiring)
		wantEvidence(t, a, "3 polls in a row failed", "it last answered at ")
		if !a.Bounds.Latest.Equal(began) {
			t.Errorf("began %v, want %v", a.Bounds.Latest, began)
		}
		d := runbook.Diagnose("source", s.last, s.board, s.sources["helix"].Key)
		if !slices.ContainsFunc(d.Checks, func(c runbook.Check) bool { return strings.Contains(c.Fact.String(), "polls fail since") }) {
			t.Errorf("%+v", d.Checks)
		}
		if at := s.board.LastAnswer("helix"); at.IsZero() || !at.Before(began) {
			t.Errorf("round %d: last answer %v", round, at)
		}
		s.off(time.Minute)
		s.up("helix")
		s.look().quiet(downRule)
	}
}

func TestSourceDownGapLeavesItAlone(t *testing.T) {
	s := begin(t)
	for range 3 {
		s.down("helix", "x")
	}
	s.look().want(downRule, alerts.StateFiring)
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Minute).want(downRule, alerts.StateFiring)
}

func TestSourceDownFoldsWhatDependsOnIt(t *testing.T) {
	s := begin(t)
	s.source("app", backend.InputRejections)
	s.session("c4f1", nil)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	s.reads("b/box", reading{state: "failed", err: "another", attempt: 40 * time.Minute, success: 50 * time.Minute})
	s.rejects("c4f1", 0, 0, 0)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.rejects("c4f1", 100, 1, 200) })
	s.want(auditRule, alerts.StateFiring)
	s.pass(5 * time.Second)
	s.down("helix", "connection refused")
	s.rejects("c4f1", 100, 1, 200)
	s.look()
	down := s.want(downRule, alerts.StatePending)
	for _, a := range s.alerts(failedRule) {
		if a.State != alerts.StateHeld || a.FoldedUnder != down.ID {
			t.Errorf("%s is %s, folded under %q, want %q", a.Cause, a.State, a.FoldedUnder, down.ID)
		}
	}
	if down.Folds != 2 {
		t.Errorf("%d fold, want 2", down.Folds)
	}
	if want := (alerts.Folded{Severity: alerts.SeverityCritical, Subjects: 2}); down.Folded != want {
		t.Errorf("it holds %+v, want %+v", down.Folded, want)
	}
	place := func(rule string) int {
		return slices.IndexFunc(s.board.Alerts, func(a *alerts.Alert) bool { return a.Rule == rule })
	}
	if place(downRule) > place(auditRule) {
		t.Error("a source that holds critical alerts stands below a warning")
	}
	if a := s.want(auditRule, alerts.StateFiring); a.FoldedUnder != "" {
		t.Error("the log source still confirms the flood: it is not folded")
	}
	s.down("app", "permission denied")
	s.after(time.Second)
	if a := s.want(auditRule, alerts.StateHeld); a.FoldedUnder == "" {
		t.Error("what rests on the log source does not fold under its line")
	}
	s.restart()
	s.after(time.Second)
	s.up("helix")
	s.up("app")
	s.after(time.Second).quiet(downRule)
	for _, a := range s.alerts(failedRule) {
		if a.State != alerts.StateFiring || a.FoldedUnder != "" {
			t.Errorf("%s is %s, folded under %q", a.Cause, a.State, a.FoldedUnder)
		}
	}
}

func allIdle(s *story, r backend.RegistryState) {
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Registry, h.RegistrySince, h.WorkspacesUnknown, h.Status = r, s.wall, true, fleet.StatusDegraded
	})
}

func TestRegistryNotPublishedWhenTheListSaysRunning(t *testing.T) {
	s := begin(t, registryRule)
	s.session("a", func(x *backend.Session) { x.ListedRunning, x.Answer = backend.Known(true), backend.AnswerIdle })
	s.session("b", func(x *backend.Session) { x.ListedRunning, x.Answer = backend.Known(false), backend.AnswerIdle })
	s.session("c", func(x *backend.Session) { x.ListedRunning = backend.Known(true) }) // was not asked yet
	allIdle(s, backend.RegistryAllIdle)
	a := s.look().want(registryRule, alerts.StateFiring)
	if a.SubjectCount != 1 || a.Subjects[0].Key != sessionKey("a") || a.Runbook != "source" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "the list route calls 1 session running", "no session answered with a registry since")
	s.health("helix", func(h *fleet.SourceHealth) { h.Registry, h.WorkspacesUnknown = backend.RegistryAnswers, false })
	s.after(time.Second).quiet(registryRule)
}

func TestRegistryNotPublishedNoRouteAndContainer(t *testing.T) {
	s := begin(t, registryRule)
	s.source("docker", backend.InputContainers)
	allIdle(s, backend.RegistryNoRoute)
	s.sandbox("c1", "a", backend.SandboxExited)
	s.look().quiet(registryRule)
	s.sandbox("c2", "b", backend.SandboxRunning)
	a := s.after(time.Second).want(registryRule, alerts.StateFiring)
	wantEvidence(t, a, "1 session joined to a running container")
	if !strings.Contains(a.Cause.String(), "the health route is not there") {
		t.Errorf("cause %q", a.Cause)
	}
}

func TestRegistryNotPublishedByALogLine(t *testing.T) {
	s := begin(t, registryRule)
	s.source("app", backend.InputRejections)
	allIdle(s, backend.RegistryAllIdle)
	s.counted("app", backend.MetricNamed, 1, func(c *backend.Count) { c.Series.Session = backend.MustID("a") })
	a := s.look().want(registryRule, alerts.StateFiring)
	wantEvidence(t, a, "1 session named by a log line of the last 5m")
	s.after(5*time.Minute + time.Second).quiet(registryRule)
}

func TestRegistryNotPublishedDoesNotFireWhenNothingRunsOrOneAnswers(t *testing.T) {
	s := begin(t, registryRule)
	s.session("a", func(x *backend.Session) { x.ListedRunning, x.Answer = backend.Known(false), backend.AnswerIdle })
	allIdle(s, backend.RegistryAllIdle)
	s.look().quiet(registryRule)
	// a running session without workspaces answers the same 404 while others answer
	s.session("b", func(x *backend.Session) { x.ListedRunning, x.Answer = backend.Known(true), backend.AnswerIdle })
	s.health("helix", func(h *fleet.SourceHealth) { h.Registry, h.WorkspacesUnknown = backend.RegistryAnswers, false })
	s.after(time.Second).quiet(registryRule)
	allIdle(s, backend.RegistryWrongPath) // has words of its own
	s.after(time.Second).quiet(registryRule)
}

func TestRegistryNotPublishedGapAndRestart(t *testing.T) {
	s := begin(t, registryRule)
	s.session("a", func(x *backend.Session) { x.ListedRunning, x.Answer = backend.Known(true), backend.AnswerIdle })
	allIdle(s, backend.RegistryAllIdle)
	s.look().want(registryRule, alerts.StateFiring)
	s.restart()
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second).want(registryRule, alerts.StateFiring)
	s.down("helix", "timeout")
	s.after(time.Second).want(registryRule, alerts.StateHeld)
	s.up("helix")
	s.after(time.Second).want(registryRule, alerts.StateFiring)
	s.wantTransitions("firing held firing")
}

func TestExitCodes(t *testing.T) {
	s := begin(t)
	code := func() int { return alerts.ExitCode(s.board, s.lastState()) }
	if s.look(); code() != 0 {
		t.Errorf("healthy: %d", code())
	}
	s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, success: 72 * time.Hour})
	if s.after(time.Second); code() != 0 {
		t.Errorf("suspected: %d", code())
	}
	s.reads("b/box", reading{state: "evicted", attempt: time.Second, success: time.Hour})
	if s.after(time.Second); code() != 1 {
		t.Errorf("warning: %d", code())
	}
	s.reads("c/box", reading{state: "failed", err: "x", attempt: time.Hour, success: 2 * time.Hour})
	if s.after(time.Second); code() != 2 {
		t.Errorf("critical: %d", code())
	}
	for range 3 {
		s.down("helix", "x")
	}
	if s.after(time.Second); code() != 2 {
		t.Errorf("held counts by severity: %d", code())
	}
	acknowledged, silenced := *s.board, *s.board
	acknowledged.Alerts, silenced.Alerts = nil, nil
	for _, a := range s.board.Alerts {
		x, y := *a, *a
		x.Acknowledged, y.Silenced = &alerts.Acknowledgement{}, &alerts.Silence{}
		acknowledged.Alerts, silenced.Alerts = append(acknowledged.Alerts, &x), append(silenced.Alerts, &y)
	}
	if got := alerts.ExitCode(&acknowledged, s.lastState()); got != 2 {
		t.Errorf("acknowledged counts: %d", got)
	}
	if got := alerts.ExitCode(&silenced, s.lastState()); got != 3 {
		t.Errorf("silenced does not count, the source is down: %d", got)
	}
	s.up("helix")
	for _, p := range []string{"a/box", "b/box", "c/box"} {
		s.ends(p, "closed")
	}
	if s.after(time.Second); code() != 0 {
		t.Errorf("ended: %d\n%s", code(), summary(s.board))
	}
	s.health("helix", func(h *fleet.SourceHealth) { h.WorkspacesUnknown = true })
	if s.after(time.Second); code() != 3 {
		t.Errorf("workspaces unknown: %d", code())
	}
	s.session("r", func(x *backend.Session) { x.ListedRunning, x.Answer = backend.Known(true), backend.AnswerIdle })
	allIdle(s, backend.RegistryAllIdle)
	if s.after(time.Second); code() != 3 {
		t.Errorf("registry-not-published counts only as unknown: %d", code())
	}
	s.health("helix", func(h *fleet.SourceHealth) { h.Status, h.WorkspacesUnknown = fleet.StatusAbsent, false })
	if s.after(time.Second); code() != 0 {
		t.Errorf("absent is no failure: %d", code())
	}
}
