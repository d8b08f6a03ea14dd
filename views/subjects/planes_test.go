package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// TestASleeperIsNotCalledHealthy: what a sandbox was while awake is told as past once it sleeps; that it failed stays as it is.
func TestASleeperIsNotCalledHealthy(t *testing.T) {
	look := func(class backend.SandboxClass, outcome backend.Outcome) Cell {
		o := backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneExec, Outcome: outcome, At: noon.Add(-time.Minute), What: backend.Text("commands are refused")}}}
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("s")}, ReadAt: noon}, Class: class, Observed: backend.Known(o)}
		return observedCell(b, views.NewSnapshot(noon, &fleet.State{Wall: noon}, &alerts.Board{}))
	}
	if c := look(backend.SandboxRunning, backend.OutcomeOK); !strings.HasPrefix(c.Text.String(), "healthy") {
		t.Errorf("awake: %q", c.Text)
	}
	if c := look(backend.SandboxAsleep, backend.OutcomeOK); !strings.HasPrefix(c.Text.String(), "60s ago, awake: healthy") && !strings.HasPrefix(c.Text.String(), "1m ago, awake: healthy") || c.Short.String() != "before it slept" {
		t.Errorf("asleep: %q, short %q", c.Text, c.Short)
	}
	if c := look(backend.SandboxAsleep, backend.OutcomeFailed); c.Text.String() != "commands are refused" {
		t.Errorf("asleep and broken: %q", c.Text)
	}
}
