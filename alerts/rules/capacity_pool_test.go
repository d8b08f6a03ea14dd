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
	s.runsOf(func(x *backend.Pool) { x.Used, x.Starting = backend.Known(5), backend.Known(3) }) // each has its place already
	wantEvidence(t, s.after(10*time.Second).want(capacityRule, alerts.StateFiring), "5 of 10 instances of agents run, as the platform counts (warning from 80 %)",
		"3 instances of agents: starting, as the platform counts; each has its place already")
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

// TestARefusedCommandIsToldAsShortage: beside a full application it is its evidence; where none is known to be full it is an alert
// of its own for as long as errors count. A command that was refused for its key tells nothing of room.
func TestARefusedCommandIsToldAsShortage(t *testing.T) {
	t.Parallel()
	s := begin(t, capacityRule)
	s.source("cf", backend.InputContainers, backend.InputCapacity)
	said := backend.Literal("the bridge answered 503: Instance limit reached (3/3)")
	refuse := func(kind backend.FailureKind) {
		k := backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("demo")}
		b := &backend.Sandbox{Meta: backend.Meta{Key: k, ReadAt: s.wall}, IsSandbox: true, Name: backend.Text("demo"), Provider: backend.Text("cloudflare"), Class: backend.SandboxUnknown}
		b.BridgeID = k.ID
		s.sandboxes[k] = b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: kind, At: s.wall, What: backend.Text(said)}})
		s.delta.Changed = append(s.delta.Changed, k)
	}
	s.runsOf(func(*backend.Pool) {})
	refuse(backend.FailUnauthorised)
	s.after(10 * time.Second).quiet(capacityRule)
	refuse(backend.FailThrottled)
	a := s.after(10*time.Second).want(capacityRule, alerts.StateFiring)
	if a.Cause.String() != "cf has no instance left for a command" || a.Severity != alerts.SeverityCritical || !a.Bounds.Latest.Equal(s.wall.Add(-10*time.Second)) {
		t.Errorf("%s since %v: %s", a.Severity, a.Bounds.Latest, a.Cause)
	}
	wantEvidence(t, a, "a command in demo was refused: the bridge answered 503: Instance limit reached (3/3)")
	s.after(11 * time.Minute).quiet(capacityRule)
	said = "the bridge answered 503: There is no container instance; the platform has no container to give now: that is not your limit; wait"
	refuse(backend.FailThrottled)
	if a = s.after(10*time.Second).want(capacityRule, alerts.StateFiring); a.Cause.String() != "the platform of cf has no container to give now: that is not your limit" {
		t.Errorf("%s", a.Cause)
	}
	s.after(11 * time.Minute).quiet(capacityRule)
	s.runsOf(func(x *backend.Pool) { x.Used = backend.Known(10) })
	refuse(backend.FailThrottled)
	wantEvidence(t, s.after(10*time.Second).want(capacityRule, alerts.StateFiring), "10 of 10 instances of agents run", "a command in demo was refused")
}

// TestWhatAWorkersPlatformCallsFailed: an instance that failed is told with what its exit code means, and an unhealthy one fires
// when it stays so; neither has a session.
func TestWhatAWorkersPlatformCallsFailed(t *testing.T) {
	t.Parallel()
	s := begin(t, exitedRule, unhealthyRule)
	s.source("workers", backend.InputContainers)
	s.workersBox(func(b *backend.Sandbox) {
		b.Class, b.Reported, b.ExitCode, b.FinishedAt = backend.SandboxDead, backend.Text("failed"), backend.Known(137), backend.Known(s.wall.Add(-time.Minute))
		b.Health, b.HealthChecks = backend.NotApplicable[backend.Safe](), backend.NotApplicable[backend.HealthChecks]()
	})
	if a := s.after(10*time.Second).want(exitedRule, alerts.StateFiring); !strings.Contains(a.Cause.String(), "exit code 137 (killed, perhaps for memory)") {
		t.Errorf("%s", a.Cause)
	}
	s.workersBox(func(b *backend.Sandbox) { b.ExitCode = backend.NotApplicable[int]() })
	if a := s.after(10*time.Second).want(exitedRule, alerts.StateFiring); a.Cause.String() != "its platform reports that it failed" {
		t.Errorf("%s", a.Cause)
	}
	s.workersBox(func(b *backend.Sandbox) {
		b.Class, b.Reported, b.ExitCode = backend.SandboxExited, backend.Text("stopped"), backend.Known(143)
	})
	s.after(10 * time.Second).quiet(exitedRule)
	since := s.wall
	ill := func() {
		s.workersBox(func(b *backend.Sandbox) {
			b.Class, b.Reported, b.Health, b.KnownSince = backend.SandboxRunning, backend.Text("unhealthy"), backend.Known(backend.Text("unhealthy")), since
			b.ExitCode, b.FinishedAt = backend.NotApplicable[int](), backend.Unknown[time.Time]()
		})
	}
	ill()
	s.after(10*time.Second).want(unhealthyRule, alerts.StatePending)
	ill()
	if a := s.after(40*time.Second).want(unhealthyRule, alerts.StateFiring); a.Cause.String() != "its platform reports it unhealthy" || strings.Contains(told(a), "in a row") {
		t.Errorf("%s%s", a.Cause, told(a))
	}
	s.workersBox(func(b *backend.Sandbox) {
		b.Reported, b.Health = backend.Text("running"), backend.NotApplicable[backend.Safe]()
	})
	s.after(10 * time.Second).quiet(unhealthyRule)
}
