package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAProbeThatMeetsARollout: the page names the versions as what the probe met, and the rollout; it sends to no probe before that is over.
func TestAProbeThatMeetsARollout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pool        backend.Pool
		first       string
		ends, tells string
	}{
		"in a rollout":     {backend.Pool{Policy: backend.Text("default"), Rollout: backend.Text("r9")}, "Wait until rollout r9 of agents is over", "Meanwhile rollout r9 of agents goes on", "a probe, once rollout r9 of agents is over"},
		"after a rollout":  {backend.Pool{Policy: backend.Text("default")}, "Probe it: sandglass probe b", "No rollout of agents goes on now", "a probe, once they fit"},
		"nothing lists it": {backend.Pool{Policy: backend.Text("durable_object")}, "Wait for the end of any deployment of its Worker", "Nothing that is read tells", "a probe, once they fit"},
	} {
		b := workersBox(func(b *backend.Sandbox) { b.Key.Source, b.Application = "cf", backend.Text("agents") },
			backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailProtocol, At: now, What: backend.Text("the bridge answered 503: not compatible; Worker and container have versions")})
		c.pool.ID, c.pool.Name = backend.MustID("p"), backend.Text("agents")
		w := world{sandboxes: []*backend.Sandbox{b}, pools: []backend.Pool{c.pool},
			board: saidOf(b, alerts.StatePending, "reported running, but no command begins in it, its agent's log says", "log: 1 command in session sandbox-b could not begin since 12:00:00Z")}
		d := w.diagnose("contradiction", b.Key)
		if !strings.HasPrefix(d.Do[0].String(), c.first) || !strings.Contains(d.Conclusion.String(), c.ends) || !anyHas(d.Do, "one version of the SDK") || anyHas(d.Do, "destroy") || anyHas(d.Do, "repair") {
			t.Errorf("%s: %s\n%s", name, d.Conclusion, steps(&d))
		}
		asked := 0
		for _, k := range d.Checks {
			switch {
			case k.Name == "versions":
				if asked++; k.Mark != Confirmed || !strings.HasPrefix(k.Fact.String(), "the bridge answered 503: not compatible") || strings.Contains(k.Fact.String(), "; Worker") || strings.Contains(k.Fact.String(), "r9 of agents goes on") != !c.pool.Rollout.IsEmpty() {
					t.Errorf("%s: %s %s", name, k.Mark, k.Fact)
				}
			case k.Mark == CannotTell && k.Name != "many" && k.Name != AlertCheck && (k.WouldTell.String() != c.tells || k.Fact.String() == nothingTells):
				t.Errorf("%s: %s %s, would tell: %s", name, k.Question, k.Fact, k.WouldTell)
			}
		}
		if asked != 1 {
			t.Errorf("%s: the question is asked %d times", name, asked)
		}
	}
}

// TestVersionsThatDoNotFitWithoutARollout: the page does not say that they last longer than a rollout, of one that was just found.
func TestVersionsThatDoNotFitWithoutARollout(t *testing.T) {
	t.Parallel()
	for policy, want := range map[backend.Literal]string{"default": "no rollout of agents goes on", "durable_object": "it lasts longer than a rollout"} {
		b := workersBox(func(b *backend.Sandbox) { b.Key.Source, b.Application = "cf", backend.Text("agents") },
			backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailProtocol, At: now, What: backend.Text("the bridge answered 503: not compatible")})
		w := world{sandboxes: []*backend.Sandbox{b}, pools: []backend.Pool{{ID: backend.MustID("p"), Name: backend.Text("agents"), Policy: backend.Text(policy)}},
			board: saidOf(b, alerts.StateFiring, "reported running, but it and its Worker have versions that do not understand each other", "probe: as it was answered")}
		if d := w.diagnose("contradiction", b.Key); !anyHas(d.Dont, want) || !anyHas(d.Do, "one version of the SDK") {
			t.Errorf("%s: %s\n%s", policy, d.Conclusion, steps(&d))
		}
	}
}

// TestABridgeThatRefusesEachCommand: the page says that no wait helps, and sends to what was deployed before a destroy.
func TestABridgeThatRefusesEachCommand(t *testing.T) {
	t.Parallel()
	b := workersBox(nil,
		backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailControl5xx, At: now, What: backend.Text("the bridge answered 500: startup failed")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "reported running, but its bridge refuses each command: the bridge answered 500: startup failed", "probe: as it was answered")}
	d := w.diagnose("contradiction", b.Key)
	if said := d.Conclusion.String(); !strings.HasPrefix(said, "Its bridge refuses each command. ") || !strings.Contains(said, "the bridge answered 500: startup failed") || !anyHas(d.Dont, "waiting does not help") || !strings.HasPrefix(d.Do[0].String(), "Look at the last deployment") {
		t.Errorf("%s\n%s", d.Conclusion, steps(&d))
	}
}
