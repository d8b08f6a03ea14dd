package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

func sourceKeyOf(id string) backend.Key {
	return backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}
}

// TestOthersThatFailForOtherReasonsAreNoSharedCause: neighbours that fail are evidence only when they fail alike.
func TestOthersThatFailForOtherReasonsAreNoSharedCause(t *testing.T) {
	alike := []*backend.Workspace{failed("s1", "box", "r2 unreachable (request 11aa22bb)"), failed("s2", "box", "r2 unreachable (request 33cc44dd)")}
	unlike := []*backend.Workspace{failed("s1", "box", "r2 unreachable"), failed("s2", "box", "capability snapshot is declared but not there"), healthy("s3", "box")}
	mute := []*backend.Workspace{failed("s1", "box", ""), failed("s2", "box", "boom")}
	for _, c := range []story{
		{"alike", "1", world{workspaces: alike}, wsKey("s1", "box"), map[string]Mark{"shared": Confirmed}, "", "one outage", "", true},
		{"unlike", "1", world{workspaces: unlike}, wsKey("s1", "box"), map[string]Mark{"shared": RuledOut}, "", "", "", true},
		{"all of a source, alike", "1", world{workspaces: alike}, sourceKeyOf("helix-eu"), map[string]Mark{"shared": Confirmed}, "", "one outage", "", true},
		{"all of a source, unlike", "1", world{workspaces: unlike}, sourceKeyOf("helix-eu"), map[string]Mark{"shared": RuledOut}, "", "", "", true},
		{"no error to compare", "1", world{workspaces: mute}, wsKey("s1", "box"), map[string]Mark{"shared": CannotTell}, "", "", "", false},
	} {
		t.Run(c.name, c.run)
	}
	if d := (world{workspaces: unlike}).diagnose("1", wsKey("s1", "box")); anyHas(d.Do, "one outage") {
		t.Errorf("different failures are called one outage: %v", d.Do)
	}
}

// TestASandboxKilledForMemoryIsNotTheAgent: an alert about containers says nothing of the agent's own memory.
func TestASandboxKilledForMemoryIsNotTheAgent(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box")},
		events: []backend.Event{event(backend.EventTransition, "firing", sourceKeyOf("docker"), time.Minute, "sandbox-oom firing: killed at its memory limit (2 subjects)")}}
	d := w.diagnose("3", sessionKey("s1"))
	want(t, d, map[string]Mark{"agent-oom": CannotTell})
	w.counts = lines("app-log", backend.MetricEvictionExhausted, "s1", 30)
	if d = w.diagnose("3", sessionKey("s1")); !strings.Contains(d.Conclusion.String(), "The data does not show") {
		t.Errorf("a storm alone fills no memory that anybody read: %s", d.Conclusion)
	}
	told := alerts.Subject{Key: backend.Key{Kind: backend.KindSession, Source: "app-log", ID: backend.MustID("s1")}}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{{Rule: "agent-oom", Source: "helix-eu", State: alerts.StateFiring, Confirmed: now, Cause: backend.Text("the agent ran out of memory"), Subjects: []alerts.Subject{told}}}}
	want(t, w.diagnose("3", sessionKey("s1")), map[string]Mark{"agent-oom": Confirmed})
	want(t, w.diagnose("3", sessionKey("s2")), map[string]Mark{"agent-oom": CannotTell})
}

// TestManySandboxesAreNotOne: asked about a whole source, what is true of one of its sandboxes is no conclusion.
func TestManySandboxesAreNotOne(t *testing.T) {
	shared := func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx") }
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box", shared), healthy("s2", "box", shared), healthy("s3", "box")},
		sandboxes: []*backend.Sandbox{box("a", "s1"), box("b", "s2"), box("c", "s3", func(b *backend.Sandbox) { b.Class = backend.SandboxPaused })},
		sessions:  []*backend.Session{session("s1", true), session("s2", true), session("s3", false)}}
	d := w.diagnose("4", sourceKeyOf("docker"))
	want(t, d, map[string]Mark{"other-users": CannotTell, "kept": CannotTell, "over": CannotTell})
	if !strings.Contains(d.Conclusion.String(), "No sandbox is known to run on") {
		t.Errorf("nothing is known of any: %s", d.Conclusion)
	}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{{Rule: "wont-terminate", Source: "docker", State: alerts.StateFiring, Severity: alerts.SeverityWarning, Confirmed: now,
		SubjectCount: 2, Cause: backend.Text("closing it ran into its deadline and was abandoned")}}}
	d = w.diagnose("4", sourceKeyOf("docker"))
	want(t, d, map[string]Mark{"over": Confirmed})
	if !strings.Contains(d.Conclusion.String(), "2 sandboxes, on which no session is listed as running: ") || !strings.Contains(d.Conclusion.String(), "deadline") {
		t.Errorf("the alert is not told: %s", d.Conclusion)
	}
}

// TestAPermanentErrorThatIsNotRetriedIsClassedRightly: failed is what a permanent error should lead to.
func TestAPermanentErrorThatIsNotRetriedIsClassedRightly(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s1", "box", "capability snapshot is declared but backupR2Binding is not bound"), broken("s2", "box", backend.ClassEvicted, "gone")},
		counts: lines("app-log", backend.MetricEvictionExhausted, "", 30)}
	d := w.diagnose("7", sourceKeyOf("helix-eu"))
	want(t, d, map[string]Mark{"permanent": CannotTell}) // the alert is about s2 alone, and "gone" names no reason
	if strings.Contains(d.Conclusion.String(), "retried") {
		t.Errorf("retries of others are blamed on it: %s", d.Conclusion)
	}
}

// TestAPermanentErrorThatIsTriedAgain: also while the newest attempt is too young to be called failed.
func TestAPermanentErrorThatIsTriedAgain(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassUnknown, "capability snapshot is declared but backupR2Binding is not bound")}}
	want(t, w.diagnose("7", sourceKeyOf("helix-eu")), map[string]Mark{"permanent": Confirmed})
}

// TestNoStormIsSaidFirst: a cause of storms without a storm is a cause of something else.
func TestNoStormIsSaidFirst(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: lines("prom", backend.MetricEvictions, "", 0),
		sandboxes: []*backend.Sandbox{box("a", "s1", func(b *backend.Sandbox) { b.RestartCount, b.StartedAt = backend.Known(9), at(time.Minute) })}}
	d := w.diagnose("7", sourceKeyOf("helix-eu"))
	want(t, d, map[string]Mark{"storm": RuledOut, "parent-restarts": Confirmed})
	if !strings.HasPrefix(d.Conclusion.String(), "No storm now") || !strings.Contains(d.Conclusion.String(), "restarts repeatedly") {
		t.Errorf("%s", d.Conclusion)
	}
}

// TestWorkIsNoRecovery: workspaces that never failed do not outnumber attempts that fail.
func TestWorkIsNoRecovery(t *testing.T) {
	w := world{workspaces: evicted("gone")}
	recovered := func(w *backend.Workspace) {
		w.History = []backend.StatusChange{{Status: backend.Text("evicted"), At: before(2 * time.Minute)}, {Status: backend.Text("open"), At: before(30 * time.Second)}}
	}
	for _, s := range []string{"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9"} {
		w.workspaces = append(w.workspaces, healthy(s, "box"))
	}
	want(t, w.diagnose("7", sourceKeyOf("helix-eu")), map[string]Mark{"retries": Confirmed})
	for _, x := range w.workspaces[6:] {
		recovered(x)
	}
	want(t, w.diagnose("7", sourceKeyOf("helix-eu")), map[string]Mark{"retries": RuledOut})
}

// TestOneReadingOfACounterIsNotZero: a counter that was read once has counted nothing yet.
func TestOneReadingOfACounterIsNotZero(t *testing.T) {
	w := world{workspaces: evicted("gone"), board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", State: alerts.StateFiring, Confirmed: now}}},
		counts: []backend.Count{{Series: backend.Series{Source: "prom", Name: backend.MetricEvictions}, At: before(time.Second)}}}
	d := w.diagnose("7", sourceKeyOf("helix-eu"))
	for _, c := range d.Checks {
		if c.Name == "storm" && !strings.Contains(c.Fact.String(), "evictions in 5m: read once, so not known yet") {
			t.Errorf("%s", c.Fact)
		}
	}
}

// TestAVersionThatAnErrorNamesIsAVersion: references of which only the error is read are stored as well.
func TestAVersionThatAnErrorNamesIsAVersion(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s1", "box", "ref schemaVersion 4 is outside the supported range 1-3")},
		refs: []Ref{{Session: backend.MustID("s3"), SchemaVersion: backend.Known(2), Source: "helix-eu", At: now}}}
	want(t, w.diagnose("6", wsKey("s1", "box")), map[string]Mark{"versions": Confirmed})
}

// TestAKillIsNotAlwaysMemory: exit code 137 is a kill; where the engine says that memory was not it, memory was not it.
func TestAKillIsNotAlwaysMemory(t *testing.T) {
	killed := func(flag backend.Value[bool]) world {
		return world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
			b.ExitCode, b.OOMKilled, b.Class = backend.Known(137), flag, backend.SandboxExited
		})}}
	}
	want(t, killed(backend.Known(false)).diagnose("3", sbKey("b")), map[string]Mark{"sandbox-oom": RuledOut})
	want(t, killed(backend.Unknown[bool]()).diagnose("3", sbKey("b")), map[string]Mark{"sandbox-oom": CannotTell})
	want(t, killed(backend.Known(true)).diagnose("3", sbKey("b")), map[string]Mark{"sandbox-oom": Confirmed})
}

// TestAContainerOutOfMemoryIsNoHost: a container reaches its own limit on a host with plenty left.
func TestAContainerOutOfMemoryIsNoHost(t *testing.T) {
	w := world{workspaces: evicted("gone"), hosts: []*backend.Host{host()}, events: []backend.Event{event(backend.EventPlatform, "oom", sbKey("b"), time.Minute, "container b ran out of memory")}}
	want(t, w.diagnose("7", sourceKeyOf("helix-eu")), map[string]Mark{"host-memory": RuledOut})
}

// TestFreshDirectoriesPileUpToo: what the alert says about their number outweighs that each of them is young.
func TestFreshDirectoriesPileUpToo(t *testing.T) {
	w := world{hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", time.Hour, []backend.Holder{}), dir("/tmp/helix-ws-b", time.Hour, []backend.Holder{})}}
	want(t, w.diagnose("5", hostKey()), map[string]Mark{"pile": RuledOut})
	w.board = &alerts.Board{Alerts: []*alerts.Alert{{Rule: "tmpdir-pileup", Source: "host-a", State: alerts.StateFiring, Confirmed: now, Cause: backend.Text("scratch directories pile up"),
		Subjects: []alerts.Subject{{Key: hostKey(), State: alerts.StateFiring}}, SubjectCount: 1}}}
	d := w.diagnose("5", hostKey())
	want(t, d, map[string]Mark{"pile": Confirmed})
	if strings.Contains(d.Conclusion.String(), "Nothing is left behind") {
		t.Errorf("%s", d.Conclusion)
	}
}

// TestProbingIsNotALoop: rollups show that some commands repeat; how many different ones there are is counted.
func TestProbingIsNotALoop(t *testing.T) {
	counts := append(lines("app-log", backend.MetricRollups, "s1", 12), lines("app-log", backend.MetricRejections, "s1", 6000)...)
	words := func(n float64) []backend.Count {
		return append(lines("app-log", backend.MetricRejectedWords, "s1", n), counts...)
	}
	for _, c := range []story{
		{"many commands", "9", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: words(12)}, sessionKey("s1"), map[string]Mark{"loop": RuledOut}, "looks like probing", "security", "", true},
		{"one command", "9", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: words(1)}, sessionKey("s1"), map[string]Mark{"loop": Confirmed}, "a loop", "", "", true},
		{"one command, before round 5", "9", world{workspaces: []*backend.Workspace{healthy("s1", "box", func(w *backend.Workspace) {
			w.LastAttemptAt, w.LastSuccessAt, w.LastOpAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time](), at(time.Minute)
		})}, counts: words(1)[:12]}, sessionKey("s1"), map[string]Mark{"loop": Confirmed}, "", "", "", true},
	} {
		t.Run(c.name, c.run)
	}
}

// TestLeakDiagnosisSeesWhatItsAlertSees: references and log lines count as they do for possible-leak.
func TestLeakDiagnosisSeesWhatItsAlertSees(t *testing.T) {
	tenants := []*backend.Session{session("s1", true, func(s *backend.Session) { s.Tenant = backend.Text("acme") }), session("s2", true, func(s *backend.Session) { s.Tenant = backend.Text("umbrella") })}
	id := func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx") }
	both := []*backend.Workspace{healthy("s1", "box", id), healthy("s2", "box", id)}
	saved := func(session string) *backend.Ref {
		return &backend.Ref{Meta: meta(backend.Key{Kind: backend.KindRef, Source: "helix-eu", Parent: backend.MustID(session), ID: backend.MustID("box")}),
			Session: backend.MustID(session), Workspace: backend.MustID("box"), Sandbox: backend.MustID("sbx")}
	}
	mount := func(b *backend.Sandbox) {
		b.Mounts = []backend.Mount{{RawSource: backend.MustID("/srv/data"), Source: backend.Text("/srv/data")}}
	}
	for _, c := range []story{
		{"references name one sandbox", "8", world{sessions: tenants, workspaces: []*backend.Workspace{healthy("s1", "box"), healthy("s2", "box")}, saved: []*backend.Ref{saved("s1"), saved("s2")}},
			wsKey("s1", "box"), map[string]Mark{"shared-id": Confirmed, "tenants": Confirmed}, "Different tenants", "", "", true},
		{"the child got its own", "8", world{sessions: tenants, workspaces: both, counts: lines("app-log", backend.MetricNameCollision, "s2", 6)},
			wsKey("s1", "box"), map[string]Mark{"shared-id": RuledOut, "collision": RuledOut, "tenants": CannotTell}, "The data does not show", "", "", false},
		{"another pair is none of this one's business", "8", world{sessions: tenants, workspaces: append([]*backend.Workspace{healthy("s3", "box", func(w *backend.Workspace) { w.ProviderID = backend.MustID("own") })}, both...)},
			wsKey("s3", "box"), map[string]Mark{"shared-id": RuledOut, "tenants": CannotTell}, "The data does not show", "", "", false},
		{"mounts across tenants", "8", world{sessions: tenants, sandboxes: []*backend.Sandbox{box("a", "s1", mount), box("b", "s2", mount)}},
			sessionKey("s1"), map[string]Mark{"mount": Confirmed, "tenants": Confirmed}, "Different tenants", "", "", true},
		{"written on one side and read on the other", "8", world{sessions: tenants, workspaces: both,
			counts: append(lines("app-log", backend.MetricWrites, "s1", 6), lines("app-log", backend.MetricReads, "s2", 12)...)},
			wsKey("s1", "box"), map[string]Mark{"shared-id": Confirmed, "reads": Confirmed}, "Different tenants", "", "", true},
		{"only one side was at work", "8", world{sessions: tenants, workspaces: both, counts: lines("app-log", backend.MetricWrites, "s1", 6)},
			wsKey("s1", "box"), map[string]Mark{"shared-id": Confirmed, "reads": CannotTell}, "Different tenants", "", "", true},
	} {
		t.Run(c.name, c.run)
	}
}

// TestWhatAFreshRegistryTells: a registry that forgot its last success was opened anew, and a session that began since
// was closed before.
func TestWhatAFreshRegistryTells(t *testing.T) {
	fresh := func(w *backend.Workspace) { w.LostSuccess = before(time.Hour) }
	began := func(d time.Duration) []*backend.Session {
		return []*backend.Session{session("s1", true, func(s *backend.Session) { s.StartedAt = at(d) })}
	}
	key := wsKey("s1", "box")
	for _, c := range []struct {
		name  string
		world world
		end   Ending
		mark  Mark
	}{
		{"closed between two runs", world{sessions: began(10 * time.Minute), workspaces: []*backend.Workspace{healthy("s1", "box", provider("local-bash"), fresh)}}, EndClosed, Confirmed},
		{"opened anew within one run", world{sessions: began(3 * time.Hour), workspaces: []*backend.Workspace{healthy("s1", "box", provider("local-bash"), fresh)}}, EndCannotTell, CannotTell},
		{"a run says nothing of the one before", world{sessions: began(3 * time.Hour), workspaces: []*backend.Workspace{healthy("s1", "box", provider("local-bash"))}}, EndCannotTell, CannotTell},
		{"closed, and it keeps files", world{sessions: began(10 * time.Minute), workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-filestore"), fresh)}}, EndCannotTell, RuledOut},
	} {
		d := c.world.diagnose("2", key)
		want(t, d, map[string]Mark{"closed": c.mark})
		if d.Ending != c.end {
			t.Errorf("%s: ends in %q: %s", c.name, d.Ending, d.Conclusion)
		}
	}
}

// TestWhoCleaned: what we set aside ourselves is not blamed on the host, and can be had back; what came to nothing
// removed nothing.
func TestWhoCleaned(t *testing.T) {
	lost := []*backend.Workspace{failed("s1", "box", "ENOENT: no such file, open '/tmp/helix-ws-Ab12cd/x'")}
	tmp := backend.Key{Kind: backend.KindTmpdir, Source: "host-a", Parent: backend.MustID("build-3"), ID: backend.MustID("8:1:/tmp/helix-ws-Ab12cd")}
	other := tmp
	other.ID = backend.MustID("8:2:/tmp/helix-ws-Zz99zz")
	cases := map[string]struct {
		world world
		says  string
	}{
		"we did":         {world{workspaces: lost, events: []backend.Event{event(backend.EventAction, "clean", tmp, time.Hour, "clean verified: set aside: 2 MB moved")}}, "through Sandglass: clean verified"},
		"the keeper did": {world{workspaces: lost, events: []backend.Event{event(backend.EventAction, "purge", tmp, time.Hour, "/tmp/helix-ws-Ab12cd: its grace period is over")}}, "through Sandglass"},
		"it waits": {world{workspaces: lost, hosts: []*backend.Host{host(func(h *backend.Host) {
			h.Roots[0].Waiting = []backend.Waiting{{Key: tmp, Path: backend.Text("/tmp/helix-ws-Ab12cd"), Moved: before(time.Minute), Due: now.Add(14 * time.Minute)}}
		})}}, "can be put back until 12:14Z"},
		"another was cleaned": {world{workspaces: lost, events: []backend.Event{event(backend.EventAction, "clean", other, time.Hour, "clean verified: set aside")}}, "clean-up job of the host"},
		"it failed":           {world{workspaces: lost, events: []backend.Event{event(backend.EventAction, "clean", tmp, time.Hour, "clean failed: busy")}}, "clean-up job of the host"},
	}
	for name, c := range cases {
		d := c.world.diagnose("2", wsKey("s1", "box"))
		if d.Ending != EndCleaned || !strings.Contains(d.Conclusion.String(), c.says) {
			t.Errorf("%s: %q: %s", name, d.Ending, d.Conclusion)
		}
	}
}

// TestOurOwnConfigurationIsNoRollout: what changes Sandglass or what a site's check says changes nothing in the fleet.
func TestOurOwnConfigurationIsNoRollout(t *testing.T) {
	for name, mark := range map[string]Mark{backend.ChangeConfig: CannotTell, backend.ChangeCheck: CannotTell, "rollout": Confirmed} {
		w := world{workspaces: evicted("gone"), events: []backend.Event{{Kind: backend.EventChange, At: before(time.Minute), Name: name, Text: backend.Text("changed")}}}
		want(t, w.diagnose("7", sourceKeyOf("helix-eu")), map[string]Mark{"rollout": mark})
	}
}
