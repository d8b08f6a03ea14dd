package rules

import (
	"fmt"
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

// TestACountOfSeveralServersProvesNoStormWhereNoneIsEvicted: the counter names a session of helix-us, whose registry is read and
// shows no evicted workspace; what the counter says of both servers is told of the one that shows it.
func TestACountOfSeveralServersProvesNoStormWhereNoneIsEvicted(t *testing.T) {
	s := twoRegistries(t)
	us := func(state string) {
		for i := range 20 {
			path, r := fmt.Sprintf("u%02d/box", i), reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "cloudflare-sandbox"}
			if i == 7 && state != "" {
				r = reading{state: state, err: "gone", attempt: time.Second, success: time.Minute, provider: "cloudflare-sandbox"}
			}
			s.reads(path, r)
			k := wsKey(path)
			w := s.workspaces[k]
			delete(s.workspaces, k)
			w.Key.Source = "helix-us"
			s.workspaces[w.Key] = w
			s.delta.Changed[len(s.delta.Changed)-1] = w.Key
		}
	}
	us("")
	s.session("u07", func(x *backend.Session) { x.Key.Source = "helix-us" })
	s.delta.Changed[len(s.delta.Changed)-1] = s.sessions[sessionKey("u07")].Key
	counts := func(n float64) {
		s.counted("prom", backend.MetricEvictions, n, func(c *backend.Count) {
			c.Series.Provider, c.Series.Session = "cloudflare-sandbox", backend.MustID("u07")
		})
	}
	counts(0)
	s.look()
	s.every(5*time.Second, 7*time.Minute, func() { counts(5) })
	a := s.want(stormRule, alerts.StatePending)
	if a.Source != "helix-us" || !strings.Contains(a.Why.String(), "none of 20 workspaces here is evicted") {
		t.Fatalf("%s on %s: %s", a.State, a.Source, a.Why)
	}
	s.every(5*time.Second, 2*time.Minute, func() { counts(5); s.evicts(20, 0); evictedFleet(s, 12, 8, 0) })
	for _, a := range s.alerts(stormRule) {
		if fires := a.State == alerts.StateFiring; fires != (a.Source == "helix") {
			t.Errorf("%s is %s", a.Source, a.State)
		}
		for _, e := range a.Evidence {
			if a.Source == "helix-us" && strings.Contains(e.Text.String(), "20/s") {
				t.Errorf("evictions of helix are counted to helix-us: %s", e.Text)
			}
		}
	}
	us("evicted")
	s.every(5*time.Second, 10*time.Second, func() { counts(5); us("evicted") })
	for _, a := range s.alerts(stormRule) {
		if a.State != alerts.StateFiring {
			t.Errorf("%s is %s: %s", a.Source, a.State, a.Why)
		}
	}
}
