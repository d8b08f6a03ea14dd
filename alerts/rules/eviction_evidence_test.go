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

// quietInputs are a readable log and a metrics page on which nothing happens: they deliver zeros, as real ones do.
func quietInputs(s *story) func() {
	s.source("app", backend.InputEvictionLogs)
	s.source("prom", backend.InputEvictions)
	return func() {
		s.counted("app", backend.MetricEvictionExhausted, 0, nil)
		s.evicts(0, 0)
	}
}

// A readable log without lines and a flat counter switch nothing off.
func TestNoInputTalksAnotherDown(t *testing.T) {
	s := begin(t, stormRule)
	zeros := quietInputs(s)
	zeros()
	evictedFleet(s, 40, 0, time.Second)
	s.every(5*time.Second, 10*time.Minute, zeros)
	evictedFleet(s, 40, 40, time.Second)
	s.every(5*time.Second, 30*time.Second, func() { zeros(); evictedFleet(s, 40, 40, time.Second) })
	s.want(stormRule, alerts.StatePending)
	s.every(5*time.Second, time.Minute, func() { zeros(); evictedFleet(s, 40, 40, time.Second) })
	a := s.want(stormRule, alerts.StateFiring)
	wantEvidence(t, a, "40 of 40 workspaces of cloudflare-sandbox are evicted now", "a lower bound", "prom counted no eviction in 5m")
	s.every(5*time.Second, 20*time.Minute, zeros) // they stay evicted, and no more are tried
	s.want(stormRule, alerts.StateFiring)
	evictedFleet(s, 40, 0, time.Second)
	s.every(5*time.Second, 2*time.Minute, zeros)
	s.quiet(stormRule)
}

// A provider's workspaces are those that name it: others may be of any.
func TestAStormCountsTheWorkspacesOfItsProvider(t *testing.T) {
	s := begin(t, stormRule)
	look := func(lost int) {
		for i := range 38 {
			state, provider, success := "open", "cloudflare-sandbox", time.Second
			if i < lost {
				state, success = "evicted", 10*time.Minute
			}
			if i >= 30 {
				provider = ""
			}
			s.reads(fmt.Sprintf("s%02d/box", i), reading{state: state, attempt: time.Second, success: success, provider: provider})
		}
	}
	look(0)
	s.every(5*time.Second, time.Minute, func() { look(0) })
	s.every(5*time.Second, 2*time.Minute, func() { look(25) })
	wantEvidence(t, s.want(stormRule, alerts.StateFiring), "25 of 30 workspaces of cloudflare-sandbox are evicted now")
}

// The alert names the providers that are evicted from, with how many of each.
func TestAStormNamesItsProviders(t *testing.T) {
	s := begin(t, stormRule)
	look := func(lost int) {
		for i := range 12 {
			state, attempt, provider := "open", time.Second, "cloudflare-sandbox"
			if i < lost {
				state = "evicted"
			}
			if i >= 10 {
				provider = "docker"
			}
			success := attempt
			if state == "evicted" {
				success = 10 * time.Minute
			}
			s.reads(fmt.Sprintf("s%02d/box", i), reading{state: state, attempt: attempt, success: success, provider: provider})
		}
	}
	look(0)
	s.every(5*time.Second, 10*time.Minute, func() { look(0) })
	s.every(5*time.Second, 2*time.Minute, func() { look(11) })
	wantEvidence(t, s.want(stormRule, alerts.StateFiring), "evicted now by provider: cloudflare-sandbox 10, docker 1")
}

// What a counter proved is not disproved by a registry that shows little of it.
func TestARegistryDoesNotTalkACounterDown(t *testing.T) {
	s := beginMetrics(t)
	evictedFleet(s, 40, 0, time.Second)
	s.evicts(0, 0)
	s.look()
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1) })
	s.want(stormRule, alerts.StateFiring)
	s.down("prom", "connection refused")
	s.every(5*time.Second, 10*time.Minute, nil)
	s.want(stormRule, alerts.StateHeld)
}

// Sandboxes that sleep read evicted, and are no storm: neither at a cold start nor when they fall asleep while watched.
func TestSleepingSandboxesAreNoStorm(t *testing.T) {
	night := reading{state: "evicted", attempt: 9 * time.Hour, success: 9 * time.Hour, provider: "cloudflare-sandbox"}
	for name, before := range map[string]string{"cold start": "evicted", "falling asleep": "open"} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, stormRule)
			for i := range 40 {
				r := night
				r.state = before
				s.reads(fmt.Sprintf("s%03d/box", i), r)
			}
			s.every(5*time.Second, 3*time.Minute, nil)
			s.quiet(stormRule)
			for i := range 40 {
				s.edit(fmt.Sprintf("s%03d/box", i), func(w *backend.Workspace) {
					w.Reported, w.Class = backend.Text("evicted"), backend.ClassEvicted
				})
			}
			s.every(5*time.Second, 3*time.Minute, nil)
			s.quiet(stormRule)
			for i := range 40 { // they are used again, and that fails
				s.reads(fmt.Sprintf("s%03d/box", i), reading{state: "evicted", err: "sandbox instance is gone", attempt: time.Second, success: 9 * time.Hour, provider: "cloudflare-sandbox"})
			}
			s.every(5*time.Second, 90*time.Second, nil)
			s.want(stormRule, alerts.StateFiring)
		})
	}
}

// One ordinary restart is no storm by default, whatever sees it, on a small fleet and a large one, at 5 s polls; configured
// values are taken literally.
func TestOneRestartIsNoStorm(t *testing.T) {
	for _, fleetSize := range []int{8, 50} {
		lost := fleetSize * 3 / 4
		for _, literal := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d literal %v", fleetSize, literal), func(t *testing.T) {
				s := begin(t, stormRule)
				if literal {
					s = beginStorm(t)
				}
				zeros := quietInputs(s)
				evictedFleet(s, fleetSize, 0, time.Second)
				s.every(5*time.Second, 6*time.Minute, zeros)
				s.counted("app", backend.MetricEvictionExhausted, float64(lost), nil)
				s.evicts(float64(lost), 0)
				s.every(5*time.Second, 15*time.Second, func() { evictedFleet(s, fleetSize, lost, time.Second) })
				evictedFleet(s, fleetSize, 0, time.Second)
				s.every(5*time.Second, 10*time.Minute, zeros)
				fired := false
				for _, e := range s.events {
					fired = fired || e.Kind == backend.EventTransition && e.Name == string(alerts.StateFiring)
				}
				if fired != literal {
					t.Errorf("it fired: %v", fired)
				}
			})
		}
	}
}

// What lasts fires once it has lasted, also when the console starts in the middle and its log tells of the past.
func TestAStormFiresOnceItHasLasted(t *testing.T) {
	s := begin(t, stormRule)
	s.source("app", backend.InputEvictionLogs)
	for i := range 12 {
		s.counted("app", backend.MetricEvictionExhausted, 3, func(c *backend.Count) { c.At = s.wall.Add(-time.Duration(i) * 20 * time.Second) })
	}
	s.look().want(stormRule, alerts.StateFiring)
}

// Evicted workspaces whose sessions cannot be read now prove nothing now: the storm is held.
func TestAStormOfUnreadableSessionsIsHeld(t *testing.T) {
	s := beginStorm(t)
	evictedFleet(s, 40, 0, time.Second)
	s.look()
	s.pass(5 * time.Second)
	evictedFleet(s, 40, 30, time.Second)
	s.look().want(stormRule, alerts.StateFiring)
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusDegraded })
	for i := range 40 {
		s.edit(fmt.Sprintf("s%03d/box", i), func(w *backend.Workspace) {
			w.Stale, w.StaleWhy = true, backend.Text("its list lost 40 of 40 sessions at once")
		})
	}
	s.every(5*time.Second, 10*time.Minute, nil)
	s.want(stormRule, alerts.StateHeld)
}

// A storm that was there at the first reading counts no eviction, and no evidence says that it did.
func TestNoEvictionSeenIsNotCounted(t *testing.T) {
	s := beginStorm(t)
	evictedFleet(s, 40, 40, time.Second)
	for _, e := range s.look().want(stormRule, alerts.StatePending).Evidence {
		if strings.Contains(e.Text.String(), "at least 0") {
			t.Error(e.Text)
		}
	}
}
