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

// TestASavedStateBesideARegistry: a session with a workspace in a registry, and a saved state, gets the steps of its platform on page 6, and
// no setting of another framework on page 3.
func TestASavedStateBesideARegistry(t *testing.T) {
	const id, name = "a0000000-0009-4000-8000-000000000000", "agents-a00000000009"
	beside := func(agent *backend.AgentState, class backend.SandboxClass) world {
		provider := "blaxel"
		if agent == nil {
			provider = "cloudflare-sandbox"
		}
		return world{sessions: []*backend.Session{session(id, true)},
			workspaces: []*backend.Workspace{healthy(id, "box", func(w *backend.Workspace) { w.Provider = backend.Clean(provider, 40) })},
			sandboxes: []*backend.Sandbox{box(name, "", func(b *backend.Sandbox) {
				b.Provider, b.Class, b.Reported, b.CreatedAt = backend.Clean(provider, 40), class, backend.Text("DEPLOYED RUNNING"), at(10*time.Minute)
			})},
			saved: []*backend.Ref{savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
				r.Sandbox, r.SavedAt, r.Provider, r.Agent = backend.MustID(name), at(time.Hour), backend.Clean(provider, 40), agent
			})}}
	}
	noop := &backend.AgentState{Snapshot: backend.Text("noop"), PauseOnExit: backend.Known(true)}
	w := beside(noop, backend.SandboxRunning)
	for _, about := range []backend.Key{sbKey(name), wsKey(id, "box"), sessionKey(id)} {
		d := w.diagnose("6", about)
		want(t, d, map[string]Mark{"newer": Confirmed})
		all := backend.Join(append(append(d.Do, d.Dont...), d.Conclusion), "\n").String()
		if !strings.HasPrefix(d.Do[0].String(), "Tell the owner: the files of before are lost. Only mounts keep them; no snapshot does.") || d.NoReset.IsEmpty() {
			t.Errorf("%s: %v; no reset: %s", about, d.Do, d.NoReset)
		}
		for _, c := range d.Checks {
			all += "\n" + c.Question.String() + c.Fact.String()
		}
		for _, word := range []string{"container", "engine", "checkpoint", "no stored reference"} {
			if strings.Contains(all, word) {
				t.Errorf("%s says %q:\n%s", about, word, all)
			}
		}
	}
	d := w.diagnose("3", wsKey(id, "box"))
	all := backend.Join(d.Do, "\n").String()
	for _, k := range d.Knobs {
		all += "\n" + k.Knob.Name.String()
	}
	if strings.Contains(all, "axFileSizeMb") || strings.Contains(all, "axGrep") || strings.Contains(all, "orkspaceMax") || !strings.Contains(all, "Let the agent write large files in chunks.") {
		t.Errorf("page 3: %s", all)
	}
	if c := factOf(t, w.diagnose("2", wsKey(id, "box")), "durability"); !strings.Contains(c, "its snapshot, noop, keeps none elsewhere") {
		t.Errorf("page 2: %s", c)
	}
	if d = beside(nil, backend.SandboxRunning).diagnose("3", wsKey(id, "box")); !anyHas(d.Do, "capabilities.fs.maxFileSizeMb") {
		t.Errorf("page 3 of another framework: %v", d.Do)
	}
}
