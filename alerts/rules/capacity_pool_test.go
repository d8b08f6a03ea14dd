package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// runsOf has the source report an application of a cloud platform.
func (s *story) runsOf(edit func(*backend.Pool)) {
	s.health("cf", func(h *fleet.SourceHealth) {
		x := backend.Pool{ID: backend.MustID("app-1"), Name: backend.Text("agents"), Used: backend.Known(4), Limit: backend.Known(10), At: s.wall}
		edit(&x)
		h.Kind, h.Pools = "cloudflare", []backend.Pool{x}
	})
}

func TestCapacityOfAnApplicationOfAPlatform(t *testing.T) {
	s := begin(t, capacityRule)
	s.source("cf", backend.InputContainers, backend.InputCapacity)
	for _, ordinary := range []func(*backend.Pool){
		func(*backend.Pool) {},
		func(x *backend.Pool) { x.Used, x.Limit = backend.Known(500), backend.NotApplicable[int]() }, // an object manages it
		func(x *backend.Pool) { x.Used = backend.Unknown[int]() },
		func(x *backend.Pool) { x.Used, x.Limit = backend.Known(3), backend.Unknown[int]() },
	} {
		s.runsOf(ordinary)
		s.after(10 * time.Second).quiet(capacityRule)
	}
	s.runsOf(func(x *backend.Pool) { x.Used = backend.Known(8) })
	if a := s.after(10*time.Second).want(capacityRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Cause.String() != "agents is nearly full" || a.Source != "cf" {
		t.Errorf("alert %+v", a)
	}
	s.runsOf(func(x *backend.Pool) {
		x.Used, x.Starting, x.Rollout = backend.Known(10), backend.Known(2), backend.Text("ro-1")
	})
	s.after(10 * time.Second)
	a := s.want(capacityRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Cause.String() != "agents has no instance left" || a.Runbook != "7" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "10 of 10 instances of agents run, as the platform counts (warning from 80 %)", "2 instances of agents: starting, as the platform counts",
		"rollout ro-1 goes on: old and new instances run side by side")
	s.down("cf", "answered 500 Internal Server Error")
	s.after(10 * time.Second)
	s.down("cf", "answered 500 Internal Server Error")
	if a := s.after(10 * time.Second).alerts(capacityRule)[0]; a.State != alerts.StateHeld && !strings.Contains(string(a.State), "held") {
		t.Errorf("while the platform does not answer it is %s", a.State)
	}
	s.up("cf")
	s.runsOf(func(*backend.Pool) {})
	s.after(10 * time.Second).quiet(capacityRule)
}

// TestCapacityCountsWhatIsKeptAlive: a sandbox that never sleeps holds its place until it is destroyed.
func TestCapacityCountsWhatIsKeptAlive(t *testing.T) {
	s := begin(t, capacityRule)
	s.source("docker", backend.InputContainers, backend.InputCapacity)
	s.source("h", backend.InputRegistry)
	s.health("docker", func(h *fleet.SourceHealth) {
		h.Kind, h.Pools = "cloudflare", []backend.Pool{{ID: backend.MustID("app-1"), Name: backend.Text("agents"), Used: backend.Known(3), Limit: backend.Known(3), At: s.wall}}
	})
	for _, session := range []string{"a", "b", "c"} {
		s.reads(session+"/box", reading{state: "open", provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
			w.Extra = []backend.Field{{Name: backend.Text("keepAlive"), Value: backend.Clean(map[string]string{"a": "true", "b": "false"}[session], 10)}}
		}})
		s.box(session, session, func(b *backend.Sandbox) {
			b.Provider, b.Application = backend.Text("cloudflare"), backend.Text("agents")
		})
	}
	wantEvidence(t, s.look().want(capacityRule, alerts.StateFiring), "1 instance of agents: kept alive on purpose, never asleep until they are destroyed")
}
