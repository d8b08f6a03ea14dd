package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestAnApplicationThatItsPlatformCallsUnhealthy raises an alert of its own: no sandbox may be there to show it. What is not counted is not
// told as 0, and the alert is held while its platform does not answer.
func TestAnApplicationThatItsPlatformCallsUnhealthy(t *testing.T) {
	const rule = "sandbox-unhealthy"
	s := begin(t, rule)
	s.source("cf", backend.InputContainers, backend.InputCapacity)
	for _, word := range []backend.Literal{"", "healthy", "degraded", "pending", "a new word"} {
		s.runsOf(func(x *backend.Pool) { x.Health = backend.Text(word) })
		s.after(10 * time.Second).quiet(rule)
	}
	bad := func(x *backend.Pool) {
		x.Health, x.Used, x.Starting, x.Failed = backend.Text("unhealthy"), backend.Unknown[int](), backend.Known(0), backend.Known(2)
	}
	s.runsOf(bad)
	s.after(10*time.Second).want(rule, alerts.StatePending)
	s.runsOf(bad)
	a := s.after(40*time.Second).want(rule, alerts.StateFiring)
	if a.Cause.String() != "its platform calls the application agents unhealthy" || a.Severity != alerts.SeverityWarning || a.Source != "cf" || a.Runbook != "container" || a.Subjects[0].Key.Kind != backend.KindSource {
		t.Errorf("%+v", a)
	}
	wantEvidence(t, a, "instances of agents that failed, as the platform counts: 2", "instances of agents that start, as the platform counts: 0")
	if slices.ContainsFunc(a.Evidence, func(e alerts.Evidence) bool { return strings.Contains(e.Text.String(), "that run") }) {
		t.Error("what runs is not counted, and told")
	}
	s.down("cf", "answered 500 Internal Server Error")
	s.after(10 * time.Second)
	s.down("cf", "answered 500 Internal Server Error")
	if a := s.after(10 * time.Second).alerts(rule)[0]; !strings.Contains(string(a.State), "held") {
		t.Errorf("while the platform does not answer it is %s", a.State)
	}
	s.up("cf")
	s.runsOf(bad)
	s.after(10*time.Second).want(rule, alerts.StateFiring)
	s.runsOf(func(*backend.Pool) {})
	s.after(10 * time.Second).quiet(rule)
	s.runsOf(bad)
	s.after(10*time.Second).want(rule, alerts.StatePending)
	s.health("cf", func(h *fleet.SourceHealth) { h.Pools, h.Unfinished = nil, true })
	s.after(10*time.Second).want(rule, alerts.StatePending)
	s.health("cf", func(h *fleet.SourceHealth) { h.Pools, h.Unfinished = nil, false })
	s.after(10 * time.Second).quiet(rule)
}
