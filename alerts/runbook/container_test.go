package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestEachContainerHasItsOwnFigures: neither the log, nor the exit code, nor the restarts of one are those of another.
func TestEachContainerHasItsOwnFigures(t *testing.T) {
	loop := func(n int, code int, log backend.Literal) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) {
			b.Class, b.RestartCount, b.ExitCode = backend.SandboxRestarting, backend.Known(n), backend.Known(code)
			b.CreatedAt, b.StartedAt, b.FinishedAt = at(9*time.Minute), at(time.Minute), at(time.Minute)
			b.Log = backend.Known(backend.LogTail{Lines: []backend.Safe{backend.Text(log)}})
			b.Health = backend.NotApplicable[backend.Safe]()
		}
	}
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box"), healthy("s2", "box"), healthy("s3", "box")}, sandboxes: []*backend.Sandbox{box("crash", "s1", loop(11, 3, "config broken")), box("oomloop", "s2", loop(9, 137, "go")),
		box("nostart", "s3", func(b *backend.Sandbox) {
			b.Class, b.StartError, b.StartedAt, b.Health = backend.SandboxCreated, backend.Text("no such file"), backend.Unknown[time.Time](), backend.NotApplicable[backend.Safe]()
		})}}
	for id, c := range map[string]struct{ has, not []string }{
		"crash":   {[]string{"restarted 11 times", "config broken", "has no health check", "sandbox-crash-loop fires for 2 sandboxes"}, []string{"oomloop", "restarted 9 times", "listed"}},
		"oomloop": {[]string{"restarted 9 times", "its log ends: go"}, []string{"crash ", "restarted 11 times", "config broken"}},
		"nostart": {[]string{"nostart cannot start: no such file", "nostart never ran", "fires for nostart: "}, []string{"its log ends", "listed"}},
	} {
		d := w.diagnose("container", sbKey(id))
		all := d.Conclusion.String()
		for _, x := range d.Checks {
			all += "\n" + x.Fact.String()
		}
		for _, x := range d.Do {
			all += "\n" + x.String()
		}
		for _, text := range c.has {
			if !strings.Contains(all, text) {
				t.Errorf("page of %s lacks %q: %s", id, text, all)
			}
		}
		for _, text := range c.not {
			if strings.Contains(all, text) {
				t.Errorf("page of %s says %q: %s", id, text, all)
			}
		}
	}
	fleet := w.diagnose("container", backend.Key{})
	if anyHas(fleet.Do, "config broken") || !anyHas(fleet.Do, "2 others in trouble too") || !strings.Contains(factOf(t, fleet, "loop"), "2 of 3 containers, crash for one") {
		t.Errorf("%s; %v; %s", fleet.Conclusion, fleet.Do, factOf(t, fleet, "loop"))
	}
}

// TestTheContainersOfAnotherSessionAreNoParent of a workspace that no storm touches.
func TestTheContainersOfAnotherSessionAreNoParent(t *testing.T) {
	w := world{board: &alerts.Board{}, workspaces: []*backend.Workspace{healthy("s1", "box"), healthy("s2", "box")}, sandboxes: []*backend.Sandbox{box("a", "s1", func(b *backend.Sandbox) { b.RestartCount, b.StartedAt = backend.Known(9), at(time.Minute) }), box("b", "s2")}}
	want(t, w.diagnose("7", wsKey("s1", "box")), map[string]Mark{"parent-restarts": Confirmed})
	want(t, w.diagnose("7", wsKey("s2", "box")), map[string]Mark{"parent-restarts": RuledOut, "sandbox-oom": RuledOut})
}
