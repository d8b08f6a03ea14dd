package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

func TestRelease(t *testing.T) {
	old := healthy("s1", "box", func(w *backend.Workspace) {
		w.LastAttemptAt, w.LastSuccessAt, w.LastOpAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time](), at(time.Minute)
	})
	silent := healthy("s1", "box", func(w *backend.Workspace) {
		w.LastAttemptAt, w.LastSuccessAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time]()
		w.LastError = backend.Text("schemaVersion 4 outside 1-3")
	})
	for _, c := range []struct {
		name        string
		world       world
		atLeast     int
		below       int
		unmitigated bool
		proof       string
	}{
		{"nothing", world{}, 0, 0, false, ""},
		{"times", world{workspaces: []*backend.Workspace{healthy("s1", "box")}}, 5, 0, false, "lastAttemptAt"},
		{"legacy times", world{workspaces: []*backend.Workspace{old}}, 0, 5, false, "lastOpAt"},
		{"schema in an error", world{workspaces: []*backend.Workspace{silent}}, 4, 0, false, "schemaVersion"},
		{"schema in a ref", world{refs: []Ref{{Session: backend.MustID("s1"), SchemaVersion: backend.Known(2), Source: "helix-eu"}}}, 4, 0, false, "schemaVersion 2"},
		{"schema in the list", world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.WorkspaceRefs = []backend.Safe{backend.Text("box sbx schemaVersion=3")} })}}, 4, 0, false, "s1 carries"},
		{"rollups", world{counts: lines("app-log", backend.MetricRollups, "s1", 6)}, 5, 0, false, "rollup"},
		{"flood without rollups", world{counts: lines("app-log", backend.MetricRejections, "s1", 6000)}, 0, 0, true, "unmitigated"},
		{"a flood of one command", world{counts: append(lines("app-log", backend.MetricRejections, "s1", 6000), lines("app-log", backend.MetricRejectedWords, "s1", 1)...)}, 0, 0, true, "rejections a second, identical, and not one rollup"},
		{"a flood of many commands", world{counts: append(lines("app-log", backend.MetricRejections, "s1", 6000), lines("app-log", backend.MetricRejectedWords, "s1", 60)...)}, 0, 0, false, "of 60 different commands"},
		{"few rejections", world{counts: lines("app-log", backend.MetricRejections, "s1", 6)}, 0, 0, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newSubjectView(c.world.about(sessionKey("s1"))).lead(nil).release()
			if r.AtLeast != c.atLeast || r.Below != c.below || r.Unmitigated != c.unmitigated {
				t.Errorf("%+v", r)
			}
			if !anyHas(r.Proof, c.proof) || c.proof == "" && len(r.Proof) > 0 {
				t.Errorf("proof %v", r.Proof)
			}
		})
	}
}

// TestEverySubject asks every incident about subjects of every kind, known and unknown, on an empty and a full State:
// it must answer each question, say what would tell, and never invent certainty from nothing.
func TestEverySubject(t *testing.T) {
	full := world{sessions: []*backend.Session{session("s1", true)}, workspaces: []*backend.Workspace{failed("s1", "box", "boom")}, sandboxes: []*backend.Sandbox{box("b", "s1")},
		hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", time.Hour, nil)}}
	nothing := world{without: []string{"helix-eu", "docker", "host-a", "app-log", "prom"}}
	other := backend.MustID("nobody-knows-me")
	for _, w := range []world{full, nothing} {
		for _, k := range []backend.Key{{}, sessionKey("s1"), wsKey("s1", "box"), sbKey("b"), hostKey(), dir("/tmp/helix-ws-a", 0, nil).Key,
			{Kind: backend.KindSession, ID: other}, {Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu/docker")}, {Kind: backend.KindJob, ID: other}} {
			for _, p := range All() {
				d := w.diagnose(p.Number, k)
				if len(d.Checks) < 6 || d.Conclusion.IsEmpty() || len(d.Dont) == 0 || d.Incident != p.Number || len(d.Knobs) != len(p.Knobs) {
					t.Errorf("incident %s of %v is not whole: %+v", p.Number, k, d)
				}
				for _, c := range d.Checks {
					if c.Question.IsEmpty() || c.Fact.IsEmpty() || (c.Mark == CannotTell) == c.WouldTell.IsEmpty() {
						t.Errorf("incident %s of %v, check %s: %+v", p.Number, k, c.Name, c)
					}
					if c.Mark != CannotTell && (c.Source == "" || c.At.IsZero()) {
						t.Errorf("incident %s of %v, check %s is %s by nobody: %s", p.Number, k, c.Name, c.Mark, c.Fact)
					}
					if len(nothing.without) > 0 && len(w.without) > 0 && c.Mark != CannotTell {
						t.Errorf("incident %s of %v, check %s is %s though nothing is read: %s", p.Number, k, c.Name, c.Mark, c.Fact)
					}
				}
			}
		}
	}
	if d := full.diagnose("12", sessionKey("s1")); !strings.Contains(d.Conclusion.String(), "no page 12") {
		t.Errorf("incident 12: %s", d.Conclusion)
	}
}

func TestKnobValues(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "a", func(w *backend.Workspace) {
		w.RetryAttempts, w.ResetAfter = backend.Known(5), backend.Known(5*time.Minute)
	}), healthy("s1", "b")}}
	got := map[string]string{}
	for _, k := range w.diagnose("7", sessionKey("s1")).Knobs {
		got[k.Knob.Name.String()] = k.Current.String()
	}
	if got["transientRetryAttempts"] != "5 (1 not declared)" || got["resetAfterMs"] != "5m (1 not declared)" || got["maxGlobalConcurrentOpens"] != "not declared" {
		t.Errorf("%v", got)
	}
}

func TestWholeWordsOnly(t *testing.T) {
	for text, want := range map[string]alerts.Naming{
		"the room is full": 0, "OOM": alerts.NamesMemory, "ir2x": 0, "R2 bucket unreachable": alerts.NamesStorage, "max_instances reached": alerts.NamesQuota,
		"port 4040": 0, "schemaVersion 4": alerts.NamesSchema, "ENOSPC: no space left": alerts.NamesSpace, "": 0,
	} {
		if got := alerts.NamesIn(text); got != want {
			t.Errorf("%q names %b, want %b", text, got, want)
		}
	}
}

func TestVersionGap(t *testing.T) {
	for _, text := range []string{"ref schemaVersion 4 is outside the supported range 1-3", "schemaVersion 4 outside supported 1-3", "schemaVersion: 4 not in 1 to 3"} {
		if have, low, high, ok := versionGap(text); !ok || have != 4 || low != 1 || high != 3 {
			t.Errorf("%q: %d %d %d %v", text, have, low, high, ok)
		}
	}
	if _, _, _, ok := versionGap("schemaVersion mismatch"); ok {
		t.Error("a text without numbers has a gap")
	}
}
