package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestPage6OfASavedState: what the page says of lost files goes by the snapshot of the saved state, and nothing of a framework's releases
// concerns it.
func TestPage6OfASavedState(t *testing.T) {
	const id, name = "a0000000-0009-4000-8000-000000000000", "agents-a00000000009"
	for _, c := range []struct {
		snapshot backend.Literal
		status   backend.SandboxClass
		made     time.Duration
		page     string // of the alert, the session or the sandbox
		check    string
		first    string
	}{
		{"noop", backend.SandboxRunning, 10 * time.Minute, "sandbox", "newer", "Tell the owner: the files of before are lost. Only mounts keep them; no snapshot does."},
		{"remote", backend.SandboxRunning, 10 * time.Minute, "alert", "newer", "Restore the last snapshot (remote) if the agent did not."},
		{"noop", backend.SandboxExited, 3 * time.Hour, "alert", "disagree", "Stop the agent's run before it works on."},
	} {
		w := world{sessions: []*backend.Session{session(id, true)},
			sandboxes: []*backend.Sandbox{box(name, "", func(b *backend.Sandbox) {
				b.Provider, b.Class, b.Power, b.Reported, b.CreatedAt = backend.Text("blaxel"), c.status, backend.Text("RUNNING"), backend.Text("DEPLOYED RUNNING"), at(c.made)
				if c.status == backend.SandboxExited {
					b.Reported = backend.Text("TERMINATED")
				}
			})},
			saved: []*backend.Ref{savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
				r.Sandbox, r.SavedAt, r.Provider = backend.MustID(name), at(time.Hour), backend.Text("blaxel")
				r.Agent = &backend.AgentState{Snapshot: backend.Text(c.snapshot), PauseOnExit: backend.Known(true)}
			})}}
		about := w.about(sbKey(name))
		for _, a := range about.Board.Alerts {
			if c.page == "alert" && a.Rule == "ref-mismatch" && a.State == alerts.StateFiring {
				about.Alert, about.Subject = a.ID, SubjectOfAlert(a)
			}
		}
		d := about.Diagnose("6")
		want(t, d, map[string]Mark{c.check: Confirmed})
		if len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), c.first) || !d.NoReset.IsEmpty() {
			t.Errorf("%s, %s: %v; no reset: %s", c.snapshot, c.page, d.Do, d.NoReset)
		}
		for _, x := range d.Checks {
			if x.Name == "schema" || x.Name == "rollback" || x.Name == "versions" || x.Name == "unversioned" || x.Name == "mixed" || x.Name == "strict" {
				t.Errorf("%s asks: %s", c.page, x.Question)
			}
		}
		if anyHas(d.Do, "refs check") || anyHas(d.Do, "engine") || len(d.Knobs) != 1 || d.Knobs[0].Knob.Name.String() != "pause_on_exit" || !strings.HasPrefix(d.Knobs[0].Current.String(), "true") {
			t.Errorf("%s: %v, settings %v", c.page, d.Do, d.Knobs)
		}
	}
}
