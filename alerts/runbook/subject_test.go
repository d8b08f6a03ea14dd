package runbook

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

func TestSubjectOfAlert(t *testing.T) {
	one := &alerts.Alert{Source: "helix-eu", SubjectCount: 1, Subjects: []alerts.Subject{{Key: wsKey("s1", "box")}}}
	if got := SubjectOfAlert(one); got != wsKey("s1", "box") {
		t.Errorf("one subject: %v", got)
	}
	many := &alerts.Alert{Source: "helix-eu", SubjectCount: 5000, Subjects: []alerts.Subject{{Key: wsKey("s1", "box")}}}
	if got := SubjectOfAlert(many); got.Kind != backend.KindSource || got.Source != "helix-eu" {
		t.Errorf("many subjects: %v", got)
	}
}

// TestOldReadingsRuleNothingOut: what a source said before it went down proves nothing about now.
func TestOldReadingsRuleNothingOut(t *testing.T) {
	w := world{workspaces: evicted("gone"), sandboxes: []*backend.Sandbox{box("b", "s1")}, hosts: []*backend.Host{host()}}
	k := backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu")}
	want(t, w.diagnose("7", k), map[string]Mark{"sandbox-oom": RuledOut, "host-memory": RuledOut, "full": RuledOut})
	w.down = []string{"docker", "host-a"}
	want(t, w.diagnose("7", k), map[string]Mark{"sandbox-oom": CannotTell, "host-memory": CannotTell, "full": CannotTell})
}

func TestNoResetDuringAStorm(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s1", "box", "boom")}}
	if d := w.diagnose("1", wsKey("s1", "box")); !d.NoReset.IsEmpty() {
		t.Errorf("without a storm: %s", d.NoReset)
	}
	source := backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu")}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", State: alerts.StateFiring,
		Subjects: []alerts.Subject{{Key: source, State: alerts.StateFiring}}, SubjectCount: 1}}}
	if d := w.diagnose("1", wsKey("s1", "box")); d.NoReset.IsEmpty() || !anyHas(d.Dont, "adds opens") {
		t.Errorf("in a storm: %q %v", d.NoReset, d.Dont)
	}
}
