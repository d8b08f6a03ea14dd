package rules

import (
	"slices"
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

// TestAFloodEndsForProcessesThatLookOnce: each reads the past of the log and one moment of its own. A flood that is over ends
// when other lines of its session go on, and is held when the log stops.
func TestAFloodEndsForProcessesThatLookOnce(t *testing.T) {
	for _, goesOn := range []bool{true, false} {
		s := beginFlood(t)
		s.health("app", func(h *fleet.SourceHealth) { h.Kind = "logs" })
		for range 12 {
			s.off(15 * time.Second)
			s.counts = slices.DeleteFunc(s.counts, func(c backend.Count) bool { return c.N == 0 }) // of a former process
			lines := 0.0
			if goesOn {
				lines = 1
			}
			for m, n := range map[backend.Metric]float64{backend.MetricRejections: 0, backend.MetricLogBytes: 80 * lines, backend.MetricLogLines: lines} {
				s.counted("app", m, n, func(c *backend.Count) { c.Series.Session = backend.MustID("c4f1") })
			}
			s.look()
		}
		if goesOn {
			s.quiet(auditRule)
		} else {
			s.want(auditRule, alerts.StateHeld)
		}
	}
}
