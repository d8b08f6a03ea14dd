package runbook

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

func TestSubjectOf(t *testing.T) {
	d := dir("/tmp/helix-ws-a", time.Hour, nil)
	st := world{sessions: []*backend.Session{session("s1", true)}, workspaces: []*backend.Workspace{healthy("s1", "box")}, hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{d},
		sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Name = backend.Text("web-eval-12") })}}.state()
	for id, want := range map[string]backend.Key{
		"s1": sessionKey("s1"), "s1/box": wsKey("s1", "box"), "b": sbKey("b"), "web-eval-12": sbKey("b"), "/tmp/helix-ws-a": d.Key, "build-3": hostKey(),
		"docker": {Kind: backend.KindSource, Source: "docker", ID: backend.MustID("docker")}, "gone": {Kind: backend.KindSession, ID: backend.MustID("gone")},
	} {
		if got := SubjectsOf(st, nil, backend.MustID(id)); len(got) != 1 || got[0] != want {
			t.Errorf("%s is %v, want %v", id, got, want)
		}
	}
}

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
