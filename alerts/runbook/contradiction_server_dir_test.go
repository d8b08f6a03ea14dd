package runbook

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestCommandsThatRunDoNotRuleOutTheDirectoryOfTheServer: those of a probe run also where it is gone.
func TestCommandsThatRunDoNotRuleOutTheDirectoryOfTheServer(t *testing.T) {
	t.Parallel()
	b := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now}, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, At: now, What: backend.Text("/workspace cannot be listed")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "reported running, but filesystem list fails: /workspace cannot be listed", "probe: /workspace cannot be listed")}
	d := w.diagnose("contradiction", b.Key)
	asked := false
	for _, c := range d.Checks {
		if c.Name == "server-dir" {
			asked = true
			if c.Mark != CannotTell || c.Fact.String() != "a probe's commands begin also where it is gone" || c.WouldTell.String() != string(applicationTells) {
				t.Errorf("%s: %s, would tell: %s", c.Mark, c.Fact, c.WouldTell)
			}
		}
	}
	if !asked {
		t.Error("the question is not asked")
	}
}
