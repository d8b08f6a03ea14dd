package rules

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// muteLogs lets a log source answer and say that it can read no log any more.
func muteLogs(s *story, id string) {
	s.health(id, func(h *fleet.SourceHealth) {
		why := backend.Text("no log file can be read")
		h.Inputs, h.Missing = nil, []backend.MissingInput{{Input: backend.InputRejections, Why: why}, {Input: backend.InputEvictionLogs, Why: why}}
	})
}

// Files that vanish are no silence: what fired on their lines is held while the window runs empty.
func TestAStormIsHeldWhileItsLogCannotBeRead(t *testing.T) {
	s := begin(t, stormRule)
	o := stormDefaults()
	o.For, o.Over = 0, backend.Duration(time.Minute) // as long as a count is taken to speak about now
	r, err := o.build()
	if err != nil {
		t.Fatal(err)
	}
	s.engine = alerts.NewEngine([]alerts.Rule{r}, "test")
	s.source("app", backend.InputEvictionLogs)
	for range 13 {
		s.counted("app", backend.MetricEvictionExhausted, 1, nil)
		s.after(5 * time.Second)
	}
	s.want(stormRule, alerts.StateFiring)
	muteLogs(s, "app")
	s.every(5*time.Second, 10*time.Minute, nil)
	if a := s.want(stormRule, alerts.StateHeld); a.Why.String() != "app: no log file can be read" {
		t.Errorf("why %q", a.Why)
	}
	s.health("app", func(h *fleet.SourceHealth) { h.Inputs, h.Missing = []backend.Input{backend.InputEvictionLogs}, nil })
	s.every(5*time.Second, 3*time.Minute, func() { s.counted("app", backend.MetricEvictionExhausted, 0, nil) })
	s.quiet(stormRule)
}

func TestAFloodIsHeldWhileItsLogCannotBeRead(t *testing.T) {
	s := beginFlood(t)
	inputs := s.sources["app"].Inputs
	muteLogs(s, "app")
	s.every(5*time.Second, 10*time.Minute, nil)
	if a := s.want(auditRule, alerts.StateHeld); a.Why.String() != "app: no log file can be read" {
		t.Errorf("why %q", a.Why)
	}
	s.health("app", func(h *fleet.SourceHealth) { h.Inputs, h.Missing = inputs, nil })
	s.every(5*time.Second, 3*time.Minute, func() { s.rejects("c4f1", 0, 0, 0) })
	s.quiet(auditRule)
}

func TestLinesAreHeldWhileTheirLogCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		rule   string
		metric backend.Metric
		line   string
	}{
		{closeRule, backend.MetricTmpdirCloseFailed, "EBUSY: resource busy"},
		{agentRule, backend.MetricAgentOOM, "Durable Object's isolate exceeded its memory limit and was reset."},
	} {
		t.Run(c.rule, func(t *testing.T) {
			s := beginLines(t, c.rule, c.metric)
			s.look()
			s.pass(5 * time.Second)
			s.lines(c.metric, "a", 1, c.line)
			s.look().want(c.rule, alerts.StateFiring)
			muteLogs(s, "app")
			s.every(30*time.Second, 50*time.Minute, nil)
			s.want(c.rule, alerts.StateHeld)
		})
	}
}

// What fired when the program ended and cannot be read when it begins again is held at once, and not shown as if it had been
// confirmed.
func TestARestartDuringAnOutageHolds(t *testing.T) {
	s := begin(t, failedRule, downRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	s.look().want(failedRule, alerts.StateFiring)
	s.restart()
	delete(s.workspaces, wsKey("a/box"))
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second).want(failedRule, alerts.StateFiring)
	s.down("helix", "connection refused")
	if a := s.after(5*time.Second).want(failedRule, alerts.StateHeld); a.Why.String() != "helix is down: connection refused" {
		t.Errorf("why %q", a.Why)
	}
	s.up("helix")
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	s.look().want(failedRule, alerts.StateFiring)
}

// A root that is not there any more is not empty: what piled up in it is held, and the rule that says so is not blind.
func TestAPileIsHeldWhileItsRootCannotBeListed(t *testing.T) {
	s := beginPile(t)
	s.dirs(0, 130)
	s.look().want(pileupRule, alerts.StateFiring)
	inputs := s.sources["scratch"].Inputs
	s.health("scratch", func(h *fleet.SourceHealth) {
		h.Inputs, h.Missing = []backend.Input{backend.InputHost}, []backend.MissingInput{{Input: backend.InputTmpdirs, Why: backend.Text("the directory does not exist")}}
	})
	for i := range 130 {
		s.dirGone(fmt.Sprint("d", i))
	}
	if a := s.after(5*time.Second).want(pileupRule, alerts.StateHeld); a.Why.String() != "scratch: the directory does not exist" {
		t.Errorf("why %q", a.Why)
	}
	if blind := s.board.BlindOn("scratch"); slices.Contains(blind, "tmpdir-root-unusable") {
		t.Errorf("blind on scratch: %v", blind)
	}
	s.health("scratch", func(h *fleet.SourceHealth) { h.Inputs, h.Missing = inputs, nil })
	s.after(5 * time.Second).quiet(pileupRule)
}
