package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const stormRule = "eviction-storm"

// evicts counts evictions and retries of one provider now.
func (s *story) evicts(evictions, retries float64) {
	of := func(c *backend.Count) { c.Series.Provider = "cloudflare-sandbox" }
	s.counted("prom", backend.MetricEvictions, evictions, of)
	s.counted("prom", backend.MetricEvictionRetries, retries, of)
}

// beginStorm has eviction-storm fire as soon as it is true; what its `for` does has tests of its own.
func beginStorm(t testing.TB) *story {
	t.Helper()
	o := stormDefaults()
	o.For = 0
	r, err := o.build()
	if err != nil {
		t.Fatal(err)
	}
	return beginWith(t, r)
}

func beginMetrics(t testing.TB) *story {
	s := beginStorm(t)
	s.source("prom", backend.InputEvictions)
	return s
}

func TestStormByRateAndRecovery(t *testing.T) {
	s := beginMetrics(t)
	s.evicts(0, 0)
	s.look()
	s.every(5*time.Second, 5*time.Second, func() { s.evicts(8, 0) })
	if a := s.want(stormRule, alerts.StatePending); !strings.Contains(a.Why.String(), "5s of the window of 5m were read") {
		t.Errorf("why %q", a.Why)
	}
	s.every(5*time.Second, 35*time.Second, func() { s.evicts(8, 0) })
	a := s.want(stormRule, alerts.StateFiring) // 64 counted exceed 0.2/s over 5m whatever happened before
	if a.Source != "helix" || a.Runbook != "7" || a.Severity != alerts.SeverityCritical || !strings.HasPrefix(a.Cause.String(), "cloudflare-sandbox: ") || a.Providers != 1 {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "64 evictions in 40s (1.6/s), 0 % recovered by retry (storm from 0.2/s and below 50 %)")
	if len(a.Trend) == 0 || a.TrendSpan != 15*time.Minute {
		t.Error("no trend")
	}
	if len(a.Subjects) != 1 || a.Subjects[0].Key.Kind != backend.KindSource {
		t.Errorf("subjects %v: without known workspaces the source stands for them", a.Subjects)
	}
}

func TestStormDoesNotFireBelowTheRateOrWhenRetriesRecover(t *testing.T) {
	s := beginMetrics(t)
	s.evicts(0, 0)
	s.look()
	s.every(6*time.Second, 10*time.Minute, func() { s.evicts(1, 0) }) // below 0.2/s
	s.quiet(stormRule)
	s = beginMetrics(t)
	s.evicts(0, 0)
	s.look()
	s.every(5*time.Second, 10*time.Minute, func() { s.evicts(50, 25) }) // half recover
	s.quiet(stormRule)
	s.wantTransitions("")
}

func TestStormColdStartWithTwoPollsIsSuspectedWhenRetriesDoNotExistYet(t *testing.T) {
	s := beginMetrics(t)
	of := func(c *backend.Count) { c.Series.Provider = "p" }
	s.counted("prom", backend.MetricEvictions, 0, of)
	s.look().quiet(stormRule)
	s.pass(5 * time.Second)
	s.counted("prom", backend.MetricEvictions, 40, of)
	s.look().want(stormRule, alerts.StatePending)
	s.pass(5 * time.Second)
	s.counted("prom", backend.MetricEvictions, 40, of)
	s.look().want(stormRule, alerts.StateFiring)
}

func TestStormEndsBelowTheLeaveThreshold(t *testing.T) {
	s := beginMetrics(t)
	s.evicts(0, 0)
	s.look()
	s.every(5*time.Second, 5*time.Minute, func() { s.evicts(2, 0) })
	s.want(stormRule, alerts.StateFiring)
	s.every(5*time.Second, 6*time.Minute, func() { s.evicts(0.9, 0) }) // 0.18/s: below the threshold, above 80 % of it
	s.want(stormRule, alerts.StateFiring)
	s.every(5*time.Second, 7*time.Minute, func() { s.evicts(0, 0) })
	s.quiet(stormRule)
	s.wantTransitions("pending firing resolved")
}

func TestStormHeldWhileMetricsAreDownAndAcrossARestart(t *testing.T) {
	s := beginMetrics(t)
	s.evicts(0, 0)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1) })
	s.want(stormRule, alerts.StateFiring)
	s.down("prom", "connection refused")
	if a := s.after(time.Minute).want(stormRule, alerts.StateFiring); a == nil { // its window still proves it
		t.Fatal()
	}
	a := s.after(10*time.Minute).want(stormRule, alerts.StateHeld)
	if a.Why.String() != "prom is down: connection refused" {
		t.Errorf("why %q", a.Why)
	}
	s.up("prom")
	s.evicts(0, 0)
	s.after(time.Second)
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1) })
	s.want(stormRule, alerts.StateFiring)

	s.restart()
	s.counts = nil // windows begin anew with the process
	s.health("prom", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second).want(stormRule, alerts.StateFiring)
	s.up("prom")
	s.evicts(0, 0)
	s.after(time.Second).want(stormRule, alerts.StateFiring)
	s.every(5*time.Second, 10*time.Second, func() { s.evicts(20, 1) })
	s.want(stormRule, alerts.StateFiring)
	s.every(5*time.Second, 7*time.Minute, func() { s.evicts(0, 0) })
	s.quiet(stormRule)
}

func TestStormByRepeatedExhaustedLines(t *testing.T) {
	s := beginStorm(t)
	s.source("app", backend.InputEvictionLogs)
	line := func(n float64) {
		s.counted("app", backend.MetricEvictionExhausted, n, func(c *backend.Count) { c.Sample = backend.Text("workspace tool: eviction retry exhausted") })
	}
	line(0)
	s.look()
	s.every(5*time.Second, 10*time.Second, func() { line(1) })
	s.quiet(stormRule)
	s.every(5*time.Second, 5*time.Second, func() { line(1) })
	a := s.want(stormRule, alerts.StateFiring)
	wantEvidence(t, a, `3 × "eviction retry exhausted" in 5m`)
	s.every(5*time.Second, 7*time.Minute, func() { line(0) })
	s.quiet(stormRule)
}

func TestStormByRepeatedExhaustedLinesOfTheLastMinutesOnAColdStart(t *testing.T) {
	s := beginStorm(t)
	s.source("app", backend.InputEvictionLogs)
	for i := range 12 {
		s.counted("app", backend.MetricEvictionExhausted, 3, func(c *backend.Count) { c.At = s.wall.Add(-time.Duration(i) * 20 * time.Second) })
	}
	s.look().want(stormRule, alerts.StateFiring)
}

// evictedFleet has n workspaces of which the first are evicted.
func evictedFleet(s *story, n, evicted int, attempt time.Duration) {
	for i := range n {
		path := fmt.Sprintf("s%03d/box", i)
		if i < evicted {
			s.reads(path, reading{state: "evicted", err: fmt.Sprintf("max_instances reached (%d)", i), attempt: attempt, success: 40 * time.Minute, provider: "cloudflare-sandbox"})
		} else {
			s.reads(path, reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "cloudflare-sandbox"})
		}
	}
}

func TestStormSeenBetweenPollsIsALowerBound(t *testing.T) {
	s := beginStorm(t)
	evictedFleet(s, 40, 0, time.Second)
	s.look().quiet(stormRule)
	s.pass(5 * time.Second)
	evictedFleet(s, 40, 30, time.Second)
	a := s.look().want(stormRule, alerts.StateFiring)
	if a.SubjectCount != 30 || a.Sessions != 30 || !strings.Contains(a.Cause.String(), "cloudflare-sandbox: max_instances reached") {
		t.Errorf("%d subjects in %d sessions, cause %q", a.SubjectCount, a.Sessions, a.Cause)
	}
	wantEvidence(t, a, "30 of 40 workspaces of cloudflare-sandbox are evicted now, in 30 sessions", "at least 30 evictions in 5m", "a lower bound")
	s.pass(time.Minute)
	evictedFleet(s, 40, 0, time.Second)
	s.look().want(stormRule, alerts.StateFiring) // kept for a minute
	s.after(time.Minute).quiet(stormRule)
}

func TestStormColdStartInTheMiddle(t *testing.T) {
	s := beginStorm(t)
	evictedFleet(s, 230, 212, time.Second)
	if a := s.look().want(stormRule, alerts.StatePending); !strings.Contains(a.Why.String(), "212 of 230 are evicted now, 0 of them were seen") {
		t.Errorf("why %q", a.Why)
	}
	s.pass(5 * time.Second)
	evictedFleet(s, 230, 212, time.Second) // they try and fail again
	s.look().want(stormRule, alerts.StateFiring)
}

func TestStormNeedsManyAndHalf(t *testing.T) {
	s := beginStorm(t)
	evictedFleet(s, 6, 0, time.Second)
	s.look()
	s.pass(time.Second)
	evictedFleet(s, 6, 4, time.Second)
	s.look().quiet(stormRule) // four are not many
	s = beginStorm(t)
	evictedFleet(s, 40, 0, time.Second)
	s.look()
	s.pass(time.Second)
	evictedFleet(s, 40, 19, time.Second)
	s.look().quiet(stormRule) // less than half
}

func TestStormIsHeldWhileTheRegistryIsDown(t *testing.T) {
	s := beginStorm(t)
	evictedFleet(s, 40, 0, time.Second)
	s.look()
	s.pass(time.Second)
	evictedFleet(s, 40, 30, time.Second)
	s.look().want(stormRule, alerts.StateFiring)
	s.down("helix", "timeout")
	s.after(10*time.Minute).want(stormRule, alerts.StateHeld)
}

func TestStormsOfTwoProvidersAndSourcesStayApart(t *testing.T) {
	s := beginStorm(t)
	s.source("helix-us", backend.InputRegistry)
	for _, x := range []struct{ prom, home string }{{"prom-eu", "helix"}, {"prom-us", "helix-us"}} {
		s.source(x.prom, backend.InputEvictions).About = []string{x.home}
	}
	s.every(5*time.Second, time.Minute, func() {
		for _, prom := range []string{"prom-eu", "prom-us"} {
			for _, p := range []string{"docker", "filestore"} {
				s.counted(prom, backend.MetricEvictions, 20, func(c *backend.Count) { c.Series.Provider = p })
			}
		}
	})
	ids := map[string]bool{}
	for _, a := range s.alerts(stormRule) {
		if a.State != alerts.StateFiring {
			t.Errorf("%s %s", a.Cause, a.State)
		}
		ids[a.ID+a.Source] = true
	}
	if len(ids) != 4 {
		t.Errorf("%d alerts, want 4:\n%s", len(ids), summary(s.board))
	}
}

func TestStormCountedForSeveralRegistriesIsThatOfTheOneWithEvictedWorkspaces(t *testing.T) {
	s := beginStorm(t)
	s.source("helix-us", backend.InputRegistry)
	s.source("prom", backend.InputEvictions).About = []string{"helix", "helix-us"}
	s.evicts(0, 0)
	evictedFleet(s, 40, 3, time.Second)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1) })
	one := func(subjects int) {
		t.Helper()
		a := s.want(stormRule, alerts.StateFiring)
		if len(s.alerts(stormRule)) != 1 || a.Source != "helix" || a.SubjectCount != subjects || a.Subjects[0].Key.Kind != backend.KindWorkspace {
			t.Errorf("%d subjects on %s:\n%s", a.SubjectCount, a.Source, summary(s.board))
		}
		if !strings.HasPrefix(a.Cause.String(), "cloudflare-sandbox: max_instances reached") {
			t.Errorf("cause %q", a.Cause)
		}
		wantEvidence(t, a, " evictions in ", "5 % recovered by retry", "are evicted now")
	}
	one(3)
	s.restart()
	s.after(time.Second)
	one(3)
	evictedFleet(s, 40, 0, time.Second) // the counters' window still tells of the storm
	s.every(5*time.Second, 10*time.Second, func() { s.evicts(20, 1) })
	if a := s.want(stormRule, alerts.StateFiring); len(s.alerts(stormRule)) != 1 || a.Source != "helix" {
		t.Errorf("it moved:\n%s", summary(s.board))
	}
	s.every(5*time.Second, 10*time.Minute, func() { s.evicts(0, 0) })
	s.quiet(stormRule)
}

func TestStormCountedForSeveralRegistriesStaysThereWhenItCouldBeAnyOfThem(t *testing.T) {
	s := beginStorm(t)
	s.source("helix-us", backend.InputRegistry)
	s.source("prom", backend.InputEvictions).About = []string{"helix", "helix-us"}
	s.evicts(0, 0)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1) })
	if a := s.want(stormRule, alerts.StateFiring); a.Source != "prom" {
		t.Errorf("on %s", a.Source)
	}
}

func TestStormMovesToTheRegistryOnceItShowsAndLeavesNothingBehind(t *testing.T) {
	s := beginStorm(t)
	s.source("helix-us", backend.InputRegistry)
	s.source("prom", backend.InputEvictions).About = []string{"helix", "helix-us"}
	s.evicts(0, 0)
	evictedFleet(s, 40, 0, time.Second)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1) })
	evictedFleet(s, 40, 2, time.Second)
	s.every(5*time.Second, 3*time.Minute, func() { s.evicts(20, 1) })
	firing := 0
	for _, a := range s.alerts(stormRule) {
		switch {
		case a.State == alerts.StateFiring && a.Source == "helix":
			firing++
		case a.State == alerts.StateFiring || a.State == alerts.StateHeld || a.State == alerts.StatePending:
			t.Errorf("left behind on %s: %s", a.Source, a.State)
		}
	}
	if firing != 1 {
		t.Errorf("%d storms fire:\n%s", firing, summary(s.board))
	}
}

// Without a counter the lines of single evictions tell a storm, and nothing tells how many were recovered.
func TestStormByLinesOfEvictions(t *testing.T) {
	line := func(s *story) {
		s.counted("app", backend.MetricWorkspaceEvicted, 1, func(c *backend.Count) { c.Series.Session = backend.MustID(fmt.Sprintf("s%d", int(s.wall.Unix())%7)) })
	}
	begun := func(inputs ...backend.Input) *story {
		s := begin(t, stormRule)
		s.plainly = true
		s.source("app", append(inputs, backend.InputEvictionLogs)...)
		return s.look()
	}
	s := begun()
	s.every(3*time.Second, 2*time.Minute, func() { line(s) })
	s.quiet(stormRule) // 40 lines
	s.every(3*time.Second, 2*time.Minute, func() { line(s) })
	a := s.want(stormRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning {
		t.Errorf("severity %s", a.Severity)
	}
	wantEvidence(t, a, "× WorkspaceEvictedError in the log in 5m (alert from 60); no counter says how many of them were recovered")
	s.every(time.Minute, 10*time.Minute, func() {
		for i := range 7 {
			s.counted("app", backend.MetricWorkspaceEvicted, 0, func(c *backend.Count) { c.Series.Session = backend.MustID(fmt.Sprintf("s%d", i)) })
		}
	})
	s.quiet(stormRule)

	s = begun() // one restart logs many at once
	for range 90 {
		line(s)
	}
	s.every(5*time.Second, 6*time.Minute, nil)
	if len(s.alerts(stormRule)) > 0 && s.alerts(stormRule)[0].State == alerts.StateFiring {
		t.Error("one moment is a storm")
	}

	s = begun(backend.InputEvictions) // counters know that they recover
	s.every(3*time.Second, 10*time.Minute, func() {
		line(s)
		s.counted("app", backend.MetricEvictions, 1, nil)
		s.counted("app", backend.MetricEvictionRetries, 1, nil)
	})
	s.quiet(stormRule)
}
