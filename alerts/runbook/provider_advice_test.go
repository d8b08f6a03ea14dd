package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

func notTold() backend.Value[time.Time] { return backend.NotApplicable[time.Time]() }

// TestAFullFilestore is full in its Durable Object, not on a host.
func TestAFullFilestore(t *testing.T) {
	on := func(provider string) Diagnosis {
		x := failed("s1", "box", "WorkspaceFailedError: SQLITE_FULL: database or disk is full")
		x.Provider = backend.Clean(provider, 60)
		return world{workspaces: []*backend.Workspace{x}}.diagnose("1", x.Key)
	}
	d := on("cloudflare-filestore")
	want(t, d, map[string]Mark{"full": Confirmed})
	if !strings.Contains(d.Conclusion.String(), "Durable Object is full") || anyHas(d.Do, "runbook 5") {
		t.Errorf("%s %v", d.Conclusion, d.Do)
	}
	if d = on("local-bash"); !anyHas(d.Do, "runbook 5") {
		t.Errorf("%s %v", d.Conclusion, d.Do)
	}
}

// TestWhatDockerKeeps: a provider that is declared is not asked for.
func TestWhatDockerKeeps(t *testing.T) {
	x := healthy("s1", "box")
	x.Provider = backend.Text("docker")
	d := world{workspaces: []*backend.Workspace{x}}.diagnose("2", x.Key)
	want(t, d, map[string]Mark{"durability": RuledOut})
	if fact := factOf(t, d, "durability"); !strings.Contains(fact, "directory of the host") {
		t.Error(fact)
	}
	x.Provider = backend.Text("of-our-own")
	for _, c := range (world{workspaces: []*backend.Workspace{x}}).diagnose("2", x.Key).Checks {
		if c.Name == "durability" && strings.Contains(c.WouldTell.String(), "declaration") {
			t.Error(c.WouldTell)
		}
	}
}

// TestClosesWithoutACause: the page does not say that a line names what it does not, and counts as the alert does.
func TestClosesWithoutACause(t *testing.T) {
	count := lines("app-log", backend.MetricTmpdirCloseFailed, "s1", 4)
	for i := range count {
		count[i].Sample = backend.Text("tmpdir close failed")
	}
	w := world{counts: count}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{{Rule: "tmpdir-close-failed", Source: "helix-eu", Runbook: "5", State: alerts.StateFiring, Confirmed: now, SubjectCount: 1,
		Cause: backend.Text("tmpdir close failed"), Subjects: []alerts.Subject{{Key: sessionKey("s1"), State: alerts.StateFiring}},
		Evidence: []alerts.Evidence{{Text: backend.Text("session s1: 4 such lines in 30m"), Value: backend.Known(4.0), Unit: "lines", Source: "app-log", At: now}}}}}
	d := w.diagnose("5", sessionKey("s1"))
	want(t, d, map[string]Mark{"close-failed": Confirmed, "before-3": Confirmed})
	if !strings.Contains(d.Conclusion.String(), "does not say why") || anyHas(d.Do, "line names") {
		t.Errorf("%s %v", d.Conclusion, d.Do)
	}
	if fact := factOf(t, d, "close-failed"); !strings.Contains(fact, "4 such lines in 30m") || strings.Contains(fact, "watched") {
		t.Error(fact)
	}
}
