package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
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
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box"), healthy("s2", "box"), healthy("s3", "box")}, sandboxes: []*backend.Sandbox{box("crash", "s1", loop(11, 3, "config broken")), box("oomloop", "s2", loop(9, 3, "go")),
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

// TestAPageIsAboutItsAlert: what another rule finds in one of the containers is neither its headline nor its first step.
func TestAPageIsAboutItsAlert(t *testing.T) {
	sick := func(b *backend.Sandbox) {
		b.Health, b.HealthOutput = backend.Known(backend.Text("unhealthy")), backend.Text("connection refused")
		b.HealthChecks = backend.Known(backend.HealthChecks{Checked: now, ExitCode: 1, Failed: 7, FailingBy: before(time.Hour)})
	}
	w := world{sandboxes: []*backend.Sandbox{box("api", "s1", sick), box("web", "s2", sick),
		box("full", "s3", func(b *backend.Sandbox) {
			b.MemLimit = backend.Known[int64](64 << 20)
			b.Usage = backend.Known(backend.Usage{At: before(time.Second), Mem: backend.Known[int64](66e6), MemLimit: backend.Known[int64](64 << 20)})
		}),
		box("broken", "s4", func(b *backend.Sandbox) {
			b.Class, b.RestartCount, b.ExitCode = backend.SandboxRestarting, backend.Known(9), backend.Known(3)
			b.CreatedAt, b.StartedAt, b.FinishedAt = at(9*time.Minute), at(time.Minute), at(time.Minute)
		}),
		box("greedy", "s5", func(b *backend.Sandbox) {
			b.Class, b.RestartCount, b.ExitCode, b.OOMKilled = backend.SandboxRestarting, backend.Known(9), backend.Known(137), backend.Known(true)
			b.CreatedAt, b.StartedAt, b.FinishedAt = at(9*time.Minute), at(time.Minute), at(time.Minute)
			b.MemLimit = backend.Known[int64](20 << 20)
		}),
	}}
	w.events = []backend.Event{event(backend.EventPlatform, "oom", sbKey("web"), 10*time.Minute, "killed")}
	rule := func(name string) alerts.Rule {
		for _, r := range rules.Defaults() {
			if r.Meta().Name == name {
				return r
			}
		}
		t.Fatalf("no rule %s", name)
		return nil
	}
	for _, name := range []string{"sandbox-unhealthy", "sandbox-oom", "sandbox-crash-loop"} {
		w.rules = append(w.rules, rule(name))
	}
	c := w.about(backend.Key{})
	for _, a := range c.Board.Alerts {
		if isNear(a) { // as two minutes later
			a.State, a.Subjects[0].State = alerts.StateFiring, alerts.StateFiring
		}
	}
	page := map[string]string{}
	for _, a := range c.Board.Alerts {
		c.Subject, c.Alert = SubjectOfAlert(a), a.ID
		d := c.Diagnose("container")
		page[a.Rule+": "+a.Cause.String()] = strings.Join([]string{d.Conclusion.String(), d.Do[0].String(), d.Do[len(d.Do)-1].String()}, " / ")
	}
	for cause, has := range map[string][]string{
		"sandbox-unhealthy: its health check fails: connection refused":              {"It runs and its health check fails: 2 of 2 containers", "Run its health check by hand: docker exec -it"},
		"sandbox-oom: killed at its memory limit":                                    {"It was killed at its memory limit: ", "See what ran in it"},
		"sandbox-oom: near its memory limit":                                         {"Its memory is near its limit: full uses 66 MB of its limit", "See what uses it: docker top full.", "docker update --memory 128m --memory-swap 128m full"},
		"sandbox-crash-loop: ends with exit code 3 and is started again and again":   {"It ends by itself", ": broken restarted 9 times", "docker logs --tail 50 broken"},
		"sandbox-crash-loop: killed at its memory limit and started again and again": {"It was killed at its memory limit: greedy", "docker update --memory 40m --memory-swap 40m greedy"},
	} {
		for _, text := range has {
			if !strings.Contains(page[cause], text) {
				t.Errorf("the page of %q lacks %q: %q\nall: %q", cause, text, page[cause], page)
			}
		}
	}
}
