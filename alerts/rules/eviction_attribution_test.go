package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// exhausts is one more line about retries in vain, which names a session and a workspace but no provider.
func exhausts(s *story, n float64, session, workspace string) {
	s.counted("app", backend.MetricEvictionExhausted, n, func(c *backend.Count) {
		if session != "" {
			c.Series.Session = backend.MustID(session)
		}
		if workspace != "" {
			c.Series.Workspace = backend.MustID(workspace)
		}
		c.Sample = backend.Text("workspace tool: eviction retry exhausted")
	})
}

// twoRegistries are read by one log and one metrics page, and workspaces of two providers are in the first.
func twoRegistries(t *testing.T) *story {
	s := beginStorm(t)
	s.source("helix-us", backend.InputRegistry)
	s.source("app", backend.InputEvictionLogs).About = []string{"helix", "helix-us"}
	s.source("prom", backend.InputEvictions).About = []string{"helix", "helix-us"}
	evictedFleet(s, 12, 0, time.Second)
	s.session("s001", nil)
	s.session("d", nil)
	s.reads("d/box", reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "docker"})
	exhausts(s, 0, "s001", "box")
	exhausts(s, 0, "d", "box")
	exhausts(s, 0, "", "")
	return s.look()
}

func TestLinesThatNameNoProviderAreOfTheirWorkspacesOwn(t *testing.T) {
	s := twoRegistries(t)
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1); exhausts(s, 1, "s001", "box") })
	one := func() {
		t.Helper()
		a := s.want(stormRule, alerts.StateFiring)
		if len(s.alerts(stormRule)) != 1 || a.Source != "helix" || !strings.HasPrefix(a.Cause.String(), "cloudflare-sandbox") {
			t.Fatalf("one storm is shown as:\n%s", summary(s.board))
		}
		wantEvidence(t, a, "evictions ", `× "eviction retry exhausted" in 5m`)
	}
	one()
	s.sessionEnds("s001") // its lines stay where they were counted
	s.every(5*time.Second, 30*time.Second, func() { s.evicts(20, 1) })
	one()
	s.restart()
	s.after(time.Second)
	one()
}

func TestLinesThatNameNobodyJoinTheOnlyStormThereIs(t *testing.T) {
	s := twoRegistries(t)
	evictedFleet(s, 12, 4, time.Second)
	s.every(5*time.Second, time.Minute, func() { s.evicts(20, 1); exhausts(s, 1, "", "") })
	a := s.want(stormRule, alerts.StateFiring)
	if len(s.alerts(stormRule)) != 1 || a.Source != "helix" {
		t.Fatalf("one storm is shown as:\n%s", summary(s.board))
	}
	wantEvidence(t, a, "evictions ", `× "eviction retry exhausted" in 5m`)
}

func TestLinesThatMayBeOfSeveralStormsSaySo(t *testing.T) {
	s := twoRegistries(t)
	evictedFleet(s, 12, 1, time.Second)
	s.reads("d/box", reading{state: "evicted", err: "gone", attempt: time.Second, success: time.Minute, provider: "docker"})
	s.every(5*time.Second, time.Minute, func() { exhausts(s, 1, "", "") })
	a := s.want(stormRule, alerts.StateFiring) // neither is a storm by itself, so the lines have one of their own
	if len(s.alerts(stormRule)) != 1 {
		t.Fatalf("one storm is shown as:\n%s", summary(s.board))
	}
	wantEvidence(t, a, "name no provider; they can be about cloudflare-sandbox on helix or docker on helix")
	evictedFleet(s, 12, 8, 0) // now it shows which one storms
	s.every(5*time.Second, 3*time.Minute, func() { exhausts(s, 1, "", ""); evictedFleet(s, 12, 8, 0) })
	firing := 0
	for _, a := range s.alerts(stormRule) {
		if a.State == alerts.StateFiring {
			firing++
			wantEvidence(t, a, "name no provider: they can be about this one or another")
		}
	}
	if firing != 1 {
		t.Errorf("%d storms fire:\n%s", firing, summary(s.board))
	}
}
