package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestNoOnsetBeforeItsContainer: what ran in the container before tells nothing of when the trouble of this one began.
func TestNoOnsetBeforeItsContainer(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	started := s.wall.Add(-8 * time.Second)
	s.workersBox(func(b *backend.Sandbox) { b.StartedAt = backend.Known(started) })
	r := notStarted("sandbox-demo", "ls")
	r.GoodAt = s.wall.Add(-time.Minute)
	s.agentSays(r)
	a := s.look().want(contradictionRule, alerts.StatePending)
	if said := told(a); !a.Bounds.Earliest.Equal(started) || strings.Contains(said, "ran in it before") {
		t.Errorf("it began after %s, want %s: %s", a.Bounds.Earliest, started, said)
	}
}

// TestAnOlderLineDropsNoSuccess: an older line that another run reads tells itself what ran before it.
func TestAnOlderLineDropsNoSuccess(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 28, 15, 0, 0, 0, time.UTC)
	a := agentOnset{First: at, Good: at.Add(-10 * time.Second)}
	a.join(&backend.Report{At: at.Add(-20 * time.Second), GoodAt: at.Add(-40 * time.Second)}, time.Time{})
	if want := at.Add(-40 * time.Second); !a.Good.Equal(want) {
		t.Errorf("good until %s, want %s", a.Good, want)
	}
}
