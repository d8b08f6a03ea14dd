package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestALogThatStopsInAFloodHoldsItsAlert: for every rule that counts lines, until the session ends or a line arrives; per
// session where its source tells which file stopped.
func TestALogThatStopsInAFloodHoldsItsAlert(t *testing.T) {
	for _, x := range []struct {
		rule    string
		metric  backend.Metric
		session string
		flood   float64
	}{
		{stormRule, backend.MetricEvictionExhausted, "", 1},
		{stormRule, backend.MetricWorkspaceEvicted, "", 5},
		{"tmpdir-close-failed", backend.MetricTmpdirCloseFailed, "a", 1},
		{"persist-failed", backend.MetricPersistFailed, "a", 1},
	} {
		t.Run(x.rule+" "+string(x.metric), func(t *testing.T) {
			play := func() (*story, func(n, others float64)) {
				s := begin(t, x.rule)
				s.plainly = true
				s.source("app", backend.InputEvictionLogs)
				s.session("a", func(e *backend.Session) { e.Running = backend.Known(true) })
				count := func(n, others float64) {
					s.lines(x.metric, x.session, n, "WorkspaceEvictedError: gone")
					s.lines(backend.MetricLogLines, "a", n, "")
					s.lines(backend.MetricLogLines, "b", others, "")
				}
				count(0, 0)
				s.look()
				s.every(5*time.Second, 5*time.Minute, func() { count(x.flood, 1) })
				s.want(x.rule, alerts.StateFiring)
				return s, count
			}
			s, count := play()
			s.every(30*time.Second, 40*time.Minute, func() { count(0, 0) })
			s.want(x.rule, alerts.StateHeld)
			s.restart()
			s.every(30*time.Second, 10*time.Minute, func() { count(0, 0) })
			s.want(x.rule, alerts.StateHeld)
			s.every(30*time.Second, 5*time.Minute, func() { count(0, 1) })
			s.quiet(x.rule)

			s, count = play()
			s.every(30*time.Second, 40*time.Minute, func() { count(0, 0) })
			s.session("a", func(e *backend.Session) { e.Running, e.ListedRunning = backend.Known(false), backend.Known(false) })
			s.every(30*time.Second, 5*time.Minute, func() { count(0, 0) })
			s.quiet(x.rule)

			if x.session == "" {
				return
			}
			s, count = play() // another file of the source goes on
			s.health("app", func(h *fleet.SourceHealth) { h.Stopped = []backend.ID{backend.MustID("a")} })
			s.every(30*time.Second, 40*time.Minute, func() { count(0, 1) })
			s.want(x.rule, alerts.StateHeld)
			s.health("app", func(h *fleet.SourceHealth) { h.Stopped = nil })
			s.every(30*time.Second, 2*time.Minute, func() { count(0, 1) })
			s.quiet(x.rule)
		})
	}
}
