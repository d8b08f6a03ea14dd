package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestVersionsThatDoNotFitWithoutARollout: where the list that was read after the probe shows that no rollout goes on, nothing ends it by
// itself. A rollout that went on then, or an application that lists none, explains it for a while, also once it is over.
func TestVersionsThatDoNotFitWithoutARollout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pool  backend.Pool
		read  time.Duration // after the probe
		fires bool
	}{
		"no rollout":      {backend.Pool{Policy: backend.Text("default")}, 10 * time.Second, true},
		"read before":     {backend.Pool{Policy: backend.Text("default")}, 0, false},
		"read much later": {backend.Pool{Policy: backend.Text("default")}, 10 * time.Minute, false},
		"a rollout":       {backend.Pool{Policy: backend.Text("default"), Rollout: backend.Text("r9")}, 10 * time.Second, false},
		"lists none":      {backend.Pool{Policy: backend.Text("durable_object")}, 10 * time.Second, false},
	} {
		s := beginWorkers(t)
		pool := func(p backend.Pool) {
			p.ID, p.Name = backend.MustID("p"), backend.Text("agents")
			s.health("workers", func(h *fleet.SourceHealth) { h.Kind, h.Pools = "cloudflare", []backend.Pool{p} })
		}
		pool(c.pool)
		probed := s.wall
		s.workersBox(func(b *backend.Sandbox) {
			b.Application = backend.Text("agents")
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailProtocol, At: probed, What: backend.Text("as it was answered")}})
		})
		s.look().quiet(contradictionRule)
		s.pass(max(c.read, time.Second))
		if c.read > 0 {
			s.workersBox(nil)
		}
		s.look()
		if c.pool.Rollout.String() != "" { // it is over, long after the probe
			s.pass(5 * time.Minute)
			pool(backend.Pool{Policy: backend.Text("default")})
			s.workersBox(nil)
			s.look()
		}
		if !c.fires {
			s.quiet(contradictionRule)
			continue
		}
		s.pass(time.Hour) // what is listed later changes nothing
		pool(backend.Pool{Policy: backend.Text("default"), Rollout: backend.Text("r10")})
		s.workersBox(nil)
		s.look()
		if a := s.want(contradictionRule, alerts.StateFiring); !strings.HasPrefix(a.Cause.String(), "reported running, but it and its Worker have versions that do not understand each other") || !a.Bounds.Latest.Equal(probed) {
			t.Errorf("%s: %s since %s", name, a.Cause, a.Bounds.Latest)
		}
		s.workersBox(func(b *backend.Sandbox) {
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall}})
		})
		s.look().quiet(contradictionRule)
	}
}

// TestABridgeThatRefusesEachCommandForGood contradicts what is reported, in the words of the bridge.
func TestABridgeThatRefusesEachCommandForGood(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	s.workersBox(func(b *backend.Sandbox) {
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailControl5xx, At: s.wall, What: backend.Text("the bridge answered 500: startup failed")}})
	})
	if a := s.look().want(contradictionRule, alerts.StateFiring); a.Cause.String() != "reported running, but its bridge refuses each command: the bridge answered 500: startup failed" {
		t.Error(a.Cause)
	}
	s.pass(time.Minute)
	s.workersBox(func(b *backend.Sandbox) {
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall}})
	})
	s.look().quiet(contradictionRule)
}
