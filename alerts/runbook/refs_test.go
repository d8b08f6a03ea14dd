package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestStoredReferencesAreReadFromTheState asks diagnosis 6 of a State that a refs source contributed to.
func TestStoredReferencesAreReadFromTheState(t *testing.T) {
	st := world{workspaces: []*backend.Workspace{failed("s1", "box", "ref schemaVersion 4 is outside the supported range 1-3")}}.state()
	ref := func(session string, version int) *backend.Ref {
		return &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "helix-eu", Parent: backend.MustID(session), ID: backend.MustID("box")}),
			Session: backend.MustID(session), SchemaVersion: backend.Known(version)}
	}
	st.Refs = fleet.NewTable(ref("s1", 4), ref("s2", 3))
	d := Diagnose("6", st, nil, wsKey("s1", "box"))
	want(t, d, map[string]Mark{"versions": Confirmed, "stored": Confirmed})
	if d := Diagnose("6", st, nil, st.Refs.At(1).Key); d.Mark("schema") == Confirmed || d.Mark("stored") != Confirmed {
		t.Errorf("asked about the reference of s2, it speaks of s1: %s", d.Conclusion)
	}
	if d.Release.AtLeast < 4 {
		t.Errorf("the release is taken for one before round 4: %+v", d.Release)
	}
}

// TestCountedLinesNameTheAgentsMemory asks diagnosis 3 where the event of the line is not in the timeline any more.
func TestCountedLinesNameTheAgentsMemory(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: []backend.Count{{
		Series: backend.Series{Source: "app-log", Name: backend.MetricAgentOOM, Session: backend.MustID("s1")}, At: before(20 * time.Minute), N: 3, Sample: backend.Text("isolate exceeded its memory limit"),
	}}}
	want(t, w.diagnose("3", sessionKey("s1")), map[string]Mark{"agent-oom": Confirmed})
}

// TestASandboxIsKeptByWhatTheAlertTakesForIt holds that diagnosis 4 reads the same words as the rule wont-terminate.
func TestASandboxIsKeptByWhatTheAlertTakesForIt(t *testing.T) {
	field := func(name, value string) []backend.Field {
		return []backend.Field{{Name: backend.Clean(name, 80), Value: backend.Clean(value, 80)}}
	}
	ref := func(session, name, value string) *backend.Ref {
		return &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "helix-eu", Parent: backend.MustID(session), ID: backend.MustID("box")}),
			Session: backend.MustID(session), Workspace: backend.MustID("box"), Extra: field(name, value)}
	}
	for _, c := range []struct {
		name   string
		labels []backend.Field
		ref    *backend.Ref
		want   Mark
	}{
		{name: "nothing", want: CannotTell},
		{name: "keepAlive", labels: field("keepAlive", "true"), want: Confirmed},
		{name: "keep_alive", labels: field("keep_alive", "1"), want: Confirmed},
		{name: "our own label", labels: field("sandglass.keep-alive", "yes"), want: Confirmed},
		{name: "it says no", labels: field("keep-alive", "False"), want: CannotTell},
		{name: "paused on exit", ref: ref("s1", "pause_on_exit", "true"), want: Confirmed},
		{name: "kept alive", ref: ref("s1", "keepAlive", "true"), want: Confirmed},
		{name: "not kept alive", ref: ref("s1", "keepAlive", "false"), want: CannotTell},
		{name: "of another session", ref: ref("s2", "keepAlive", "true"), want: CannotTell},
	} {
		st := world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Labels = c.labels })},
			workspaces: []*backend.Workspace{healthy("s1", "box")}, sessions: []*backend.Session{session("s1", false)}}.state()
		if c.ref != nil {
			st.Refs = fleet.NewTable(c.ref)
		}
		d := Diagnose("4", st, nil, sbKey("b"))
		if d.Mark("kept") != c.want {
			t.Errorf("%s: %s, want %s", c.name, d.Mark("kept"), c.want)
		}
		if by, _ := alerts.KeptOnPurpose(st, st.Sandbox(sbKey("b"))); (by != nil) != (c.want == Confirmed) {
			t.Errorf("%s: the rule and the diagnosis differ", c.name)
		}
	}
}

// TestOnlyMissingSandboxesDisagree: a reference whose sandbox is listed is never named, whoever the sandbox belongs to; the page
// of an alert names references of its subjects only.
func TestOnlyMissingSandboxesDisagree(t *testing.T) {
	var w world
	about := &alerts.Alert{ID: "x", Rule: "ref-mismatch", Source: "helix-eu", Runbook: "6", State: alerts.StateFiring, Confirmed: now, SubjectCount: 1,
		Subjects: []alerts.Subject{{Key: wsKey("s3", "box"), State: alerts.StateFiring}}}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{about}}
	for _, id := range []string{"s1", "s2", "s3"} {
		w.workspaces = append(w.workspaces, broken(id, "box", backend.ClassFailed, "no such thing"))
		w.saved = append(w.saved, &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "helix-eu", Parent: backend.MustID(id), ID: backend.MustID("box")}),
			Session: backend.MustID(id), Workspace: backend.MustID("box"), Provider: backend.Text("docker"), Sandbox: backend.MustID("c-" + id)})
	}
	w.sandboxes = []*backend.Sandbox{box("c-s1", "other")}
	for _, c := range []struct{ alert, names, not string }{{"", "s2", "s1"}, {"x", "s3", "s2"}} {
		k := w.about(sourceKeyOf("helix-eu"))
		k.Alert = c.alert
		for _, x := range k.Diagnose("6").Checks {
			if x.Name == "disagree" && (!strings.Contains(x.Fact.String(), c.names+" names") || strings.Contains(x.Fact.String(), c.not+" names")) {
				t.Errorf("alert %q: %s", c.alert, x.Fact)
			}
		}
	}
}
