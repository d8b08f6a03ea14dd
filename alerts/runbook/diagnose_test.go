package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/backendtest"
)

type story struct {
	name     string
	incident string
	world    world
	subject  backend.Key
	marks    map[string]Mark
	says     string // part of the conclusion
	do, dont string // part of some line
	noReset  bool
}

func (c story) run(t *testing.T) {
	d := c.world.diagnose(c.incident, c.subject)
	want(t, d, c.marks)
	if !strings.Contains(d.Conclusion.String(), c.says) {
		t.Errorf("conclusion %q does not say %q", d.Conclusion, c.says)
	}
	if !anyHas(d.Do, c.do) || !anyHas(d.Dont, c.dont) {
		t.Errorf("advice lacks %q or %q:\ndo %v\ndon't %v", c.do, c.dont, d.Do, d.Dont)
	}
	if d.NoReset.IsEmpty() == c.noReset {
		t.Errorf("reason against a reset: %q", d.NoReset)
	}
}

func anyHas(list []backend.Safe, part string) bool {
	for _, x := range list {
		if strings.Contains(x.String(), part) {
			return true
		}
	}
	return part == ""
}

func TestFailed(t *testing.T) {
	for _, c := range []story{
		{"quota", "1", world{workspaces: []*backend.Workspace{failed("s1", "box", "WorkspaceFailedError: max_instances reached"), healthy("s2", "box")}}, wsKey("s1", "box"),
			map[string]Mark{"failed": Confirmed, "quota": Confirmed, "snapshot": RuledOut, "recovered": RuledOut, "root": CannotTell, "shared": RuledOut, "runtime": RuledOut},
			"no instance left", "Raise max_instances", "Don't reset before", true},
		{"works again", "1", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, sessions: []*backend.Session{session("s1", true)}}, sessionKey("s1"),
			map[string]Mark{"failed": RuledOut, "recovered": Confirmed, "quota": RuledOut}, "Nothing is failed now", "", "", true},
		{"schema", "1", world{workspaces: []*backend.Workspace{failed("s1", "box", "ref schemaVersion 4 is outside the supported range 1-3")}}, wsKey("s1", "box"),
			map[string]Mark{"schema": Confirmed}, "runbook 6", "runbook 6", "same reference", true},
		{"bucket missing", "1", world{workspaces: []*backend.Workspace{failed("s1", "box", "snapshot needs backupR2Binding"), failed("s2", "box", "snapshot needs backupR2Binding")}}, wsKey("s1", "box"),
			map[string]Mark{"snapshot": Confirmed, "shared": Confirmed}, "Snapshots are declared", "redeploy", "delay the failure", true},
		{"unwritable root", "1", world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "mkdtemp failed", provider("local-bash"))},
			hosts: []*backend.Host{host(func(h *backend.Host) { h.Roots[0].Writable = backend.Known(false) })}}, wsKey("s1", "box"),
			map[string]Mark{"root": Confirmed, "posix": RuledOut}, "cannot create", "writable", "", true},
		{"temporal", "1", world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.Runtime = backend.Text("Temporal") })}}, sessionKey("s1"),
			map[string]Mark{"runtime": Confirmed, "failed": CannotTell, "quota": CannotTell}, "refuses workspaces", "", "", true},
		{"unknown cause", "1", world{workspaces: []*backend.Workspace{failed("s1", "box", "boom")}}, wsKey("s1", "box"),
			map[string]Mark{"failed": Confirmed, "module": CannotTell}, "matches no known cause", "agents' log", "save it before a reset (sandglass bundle ", false},
		{"failing without an error", "1", world{workspaces: []*backend.Workspace{failed("s1", "box", "")}}, wsKey("s1", "box"),
			map[string]Mark{"failed": Confirmed, "quota": CannotTell}, "", "", "", false},
		{"old values rule nothing out", "1", world{workspaces: []*backend.Workspace{failed("s1", "box", "boom")}, down: []string{"helix-eu"}}, wsKey("s1", "box"),
			map[string]Mark{"failed": Confirmed, "quota": CannotTell}, "", "", "", false},
	} {
		t.Run(c.name, c.run)
	}
}

func TestVanishedFilesEndInOneWord(t *testing.T) {
	idle := session("s1", false)
	key := wsKey("s1", "box")
	mount := func(b *backend.Sandbox) {
		b.Mounts = []backend.Mount{{Type: backend.Text("bind"), RawSource: backend.MustID("/tmp/helix-ws-a"), Source: backend.Text("/tmp/helix-ws-a")}}
	}
	tmp := backend.Key{Kind: backend.KindTmpdir, Source: "host-a", Parent: backend.MustID("build-3"), ID: backend.MustID("8:1:/tmp/helix-ws-a")}
	for _, c := range []struct {
		name  string
		world world
		end   Ending
		says  string
		marks map[string]Mark
	}{
		{"branch", world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.BranchedFrom = backend.MustID("s0") })}, workspaces: []*backend.Workspace{healthy("s1", "box")}},
			EndByDesign, "branched from s0", map[string]Mark{"branch": Confirmed, "durability": CannotTell, "closed": CannotTell}},
		{"in memory", world{workspaces: []*backend.Workspace{healthy("s1", "box", provider("in-memory"))}}, EndByDesign, "in-memory", map[string]Mark{"durability": Confirmed, "branch": CannotTell, "asleep": RuledOut}},
		{"no branch", world{sessions: []*backend.Session{session("s1", true), session("s9", true, func(s *backend.Session) { s.BranchedFrom = backend.MustID("s8") })}}, EndCannotTell, "not known", map[string]Mark{"branch": RuledOut}},
		{"closed local-bash", world{sessions: []*backend.Session{idle}, workspaces: []*backend.Workspace{healthy("s1", "box", provider("local-bash"))}}, EndClosed, "local-bash", map[string]Mark{"closed": Confirmed}},
		{"closed but durable", world{sessions: []*backend.Session{idle}, workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-filestore"))}}, EndCannotTell, "", map[string]Mark{"closed": RuledOut, "durability": RuledOut}},
		{"destroyed on close", world{sessions: []*backend.Session{idle}, workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })}},
			EndClosed, "destroyOnClose", map[string]Mark{"closed": Confirmed}},
		{"session gone, provider unknown", world{}, EndCannotTell, "", map[string]Mark{"closed": CannotTell, "branch": CannotTell}},
		{"cleaned by us", world{sandboxes: []*backend.Sandbox{box("b", "s1", mount)}, events: []backend.Event{event(backend.EventAction, "clean", tmp, time.Hour, "mara removed /tmp/helix-ws-a")}},
			EndCleaned, "through Sandglass: mara", map[string]Mark{"cleaned": Confirmed}},
		{"destroyed on the platform", world{sandboxes: []*backend.Sandbox{box("b", "s1")}, events: []backend.Event{event(backend.EventPlatform, "destroy", sbKey("b"), time.Hour, "container b was removed")}},
			EndCleaned, "by the platform", map[string]Mark{"cleaned": Confirmed}},
		{"an acknowledgement removes nothing", world{events: []backend.Event{event(backend.EventAction, "acknowledge", key, time.Hour, "mara took it")}}, EndCannotTell, "", map[string]Mark{"cleaned": CannotTell}},
		{"cleaned by the host", world{workspaces: []*backend.Workspace{failed("s1", "box", "ENOENT: no such file, open '/tmp/helix-ws-Ab12cd/x'")}}, EndCleaned, "clean-up job of the host", map[string]Mark{"cleaned": Confirmed}},
		{"directory still there", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, sandboxes: []*backend.Sandbox{box("b", "s1", mount)}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", time.Hour, nil)}, hosts: []*backend.Host{host()}},
			EndCannotTell, "", map[string]Mark{"cleaned": RuledOut, "boot": RuledOut, "replaced": RuledOut}},
		{"boot", world{workspaces: []*backend.Workspace{failed("s1", "box", "gone")}, hosts: []*backend.Host{host(func(h *backend.Host) {
			h.BootedAt, h.Roots[0].FSType = at(5*time.Minute), backend.Text("tmpfs")
		})}}, EndCleaned, "booted 5m ago", map[string]Mark{"boot": Confirmed}},
		{"emptied by the health check", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
			b.HealthOutput = backend.Text("OCI runtime exec failed: exec failed: chdir to cwd (\"/workspace\") set in config.json failed: no such file or directory: unknown")
			b.HealthChecks = backend.Known(backend.HealthChecks{Checked: now, ExitCode: -1, Failed: 80, FailingBy: now.Add(-40 * time.Minute)})
		})}}, EndCleaned, "not even its health check begins", map[string]Mark{"emptied": Confirmed}},
		{"emptied", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
			b.Observed = backend.Known(backendtest.Ran(false, backend.Text("has no /workspace"), now))
		})}}, EndCleaned, "from inside", map[string]Mark{"emptied": Confirmed}},
		{"probe finds it in place", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
			b.Observed = backend.Known(backendtest.Ran(true, backend.Safe{}, now))
		})}}, EndCannotTell, "", map[string]Mark{"emptied": RuledOut}},
		{"replaced", world{workspaces: []*backend.Workspace{failed("s1", "box", "boom")}, sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.CreatedAt = at(10 * time.Minute) })}},
			EndReplaced, "created 10m ago", map[string]Mark{"replaced": Confirmed}},
		{"asleep", world{sessions: []*backend.Session{session("s1", true)}, workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"))},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Class = backend.SandboxAsleep })}}, EndAsleep, "not clear whether", map[string]Mark{"asleep": Confirmed}},
		{"idle beyond sleepAfter", world{workspaces: []*backend.Workspace{healthy("s1", "box", func(w *backend.Workspace) {
			w.SleepAfter, w.LastAttemptAt, w.LastSuccessAt = backend.Known(10*time.Minute), at(time.Hour), at(time.Hour)
		})}}, EndAsleep, "10m", map[string]Mark{"asleep": Confirmed}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.world.diagnose("2", key)
			want(t, d, c.marks)
			if d.Ending != c.end || !strings.Contains(d.Conclusion.String(), c.says) {
				t.Errorf("ends in %q: %s", d.Ending, d.Conclusion)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	many := []*backend.Workspace{}
	for _, n := range []string{"a", "b", "c", "d"} {
		many = append(many, healthy("s1", n))
	}
	for _, c := range []story{
		{"large files", "3", world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "isolate exceeded its memory limit", func(w *backend.Workspace) { w.MaxFileSize = backend.Known[int64](200e6) })}}, wsKey("s1", "box"),
			map[string]Mark{"agent-oom": Confirmed, "file-cap": Confirmed, "greps": CannotTell, "eager": RuledOut, "exhausted": RuledOut}, "Large writes", "maxFileSizeMb", "limit alone", false},
		{"eager", "3", world{workspaces: many}, sessionKey("s1"), map[string]Mark{"eager": Confirmed, "file-cap": CannotTell, "agent-oom": CannotTell}, "open at once", "workspaceMaxConcurrentOpens", "", false},
		{"the sandbox, not the agent", "3", world{workspaces: []*backend.Workspace{healthy("s1", "box", func(w *backend.Workspace) { w.MaxFileSize = backend.Known[int64](1e6) })}, hosts: []*backend.Host{host()},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.OOMKilled = backend.Known(true) })}}, wsKey("s1", "box"),
			map[string]Mark{"sandbox-oom": Confirmed, "agent-oom": CannotTell, "file-cap": RuledOut, "host-memory": RuledOut}, "not the agent", "container more memory", "", false},
		{"storm behind it", "3", world{workspaces: many, counts: lines("app-log", backend.MetricEvictionExhausted, "s1", 30)}, sessionKey("s1"),
			map[string]Mark{"exhausted": Confirmed, "storm": Confirmed}, "runbook 7", "runbook 7", "Don't reset or restart yet", true},
		{"restarted", "3", world{workspaces: many[:1], events: []backend.Event{event(backend.EventChange, "process-restarted", backend.Key{Kind: backend.KindSource, Source: "prom", ID: backend.MustID("prom")}, time.Minute, "process restarted")}}, sessionKey("s1"),
			map[string]Mark{"restarted": Confirmed}, "", "", "", false},
	} {
		t.Run(c.name, c.run)
	}
}

func TestSandboxWillNotEnd(t *testing.T) {
	gone := func(edit ...func(*backend.Workspace)) world {
		return world{sandboxes: []*backend.Sandbox{box("b", "s1")}, workspaces: []*backend.Workspace{healthy("s1", "box", edit...)}, sessions: []*backend.Session{session("s1", false)}}
	}
	timeout := gone()
	timeout.counts = lines("app-log", backend.MetricCloseTimeout, "s1", 6)
	noLogs := gone()
	noLogs.without = []string{"app-log"}
	shared := gone(func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx") })
	shared.workspaces = append(shared.workspaces, healthy("s2", "box", func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx") }))
	for _, c := range []story{
		{"in use", "4", world{sandboxes: []*backend.Sandbox{box("b", "s1")}, sessions: []*backend.Session{session("s1", true)}}, sbKey("b"), map[string]Mark{"over": RuledOut, "up": Confirmed}, "in use", "", "lose its files", false},
		{"close timed out", "4", timeout, sbKey("b"), map[string]Mark{"over": Confirmed, "close-timeout": Confirmed, "restarts": RuledOut}, "deadline is 30s", "who else uses it", "closeTimeoutMs", false},
		{"no log is read", "4", noLogs, sbKey("b"), map[string]Mark{"close-timeout": CannotTell}, "", "", "", false},
		{"should have ended", "4", gone(func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) }), sbKey("b"), map[string]Mark{"destroy-on-close": Confirmed, "close-timeout": RuledOut}, "leaked", "destroy it", "age", false},
		{"awaits sleep", "4", gone(func(w *backend.Workspace) { w.SleepAfter = backend.Known(10 * time.Minute) }), sbKey("b"), map[string]Mark{"awaiting-sleep": Confirmed, "destroy-on-close": CannotTell}, "fall asleep", "sleepAfter", "", false},
		{"kept", "4", gone(func(w *backend.Workspace) { w.ShareAcrossSessions = backend.Known(true) }), sbKey("b"), map[string]Mark{"kept": Confirmed}, "on purpose", "owner", "", false},
		{"other user", "4", shared, sbKey("b"), map[string]Mark{"other-users": Confirmed}, "shared", "", "one session", true},
		{"asleep", "4", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Class = backend.SandboxAsleep })}}, sbKey("b"), map[string]Mark{"up": RuledOut, "over": CannotTell}, "sleeps", "", "wakes it", false},
		{"cannot be removed", "4", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Class = backend.SandboxRemoving })}}, sbKey("b"), map[string]Mark{"destroy": Confirmed}, "Destroying it fails", "", "", false},
		{"may wait to sleep", "4", gone(provider("cloudflare-sandbox")), sbKey("b"), map[string]Mark{"over": Confirmed, "up": Confirmed, "awaiting-sleep": CannotTell}, "is not known", "idle time", "before that", false},
		{"an engine's container", "4", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Provider = backend.Text("docker") })}, sessions: []*backend.Session{session("s1", false)}}, sbKey("b"), map[string]Mark{"over": Confirmed, "awaiting-sleep": RuledOut, "destroy-on-close": CannotTell}, "is not declared", "owner", "may be needed", false},
		{"no list names its session", "4", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Provider = backend.Text("docker") })}}, sbKey("b"), map[string]Mark{"over": CannotTell, "up": Confirmed}, "No list ever named session s1", "Find the owner", "Don't destroy it", false},
		{"meant to stay", "4", gone(provider("docker"), func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(false) }, func(w *backend.Workspace) { w.LastAttemptAt = at(5 * time.Hour) }), sbKey("b"), map[string]Mark{"over": Confirmed}, "", "", "", false},
		{"idle for long", "4", gone(provider("cloudflare-sandbox"), func(w *backend.Workspace) { w.LastAttemptAt, w.LastSuccessAt = at(5*time.Hour), at(5*time.Hour) }), sbKey("b"), map[string]Mark{"awaiting-sleep": RuledOut}, "is not declared", "owner", "", false},
		{"joined to nothing", "4", world{sandboxes: []*backend.Sandbox{box("b", "")}}, sbKey("b"), map[string]Mark{"over": CannotTell}, "Cannot tell", "label", "", false},
		{"restart policy", "4", world{sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.RestartCount = backend.Known(4) })}, sessions: []*backend.Session{session("s1", false)}}, sbKey("b"), map[string]Mark{"restarts": Confirmed}, "restart policy", "", "", false},
	} {
		t.Run(c.name, c.run)
	}
}

func TestScratchDirectories(t *testing.T) {
	none := []backend.Holder{}
	busy := []backend.Holder{{PID: 7, Command: backend.Text("node"), How: backend.Text("cwd")}}
	for _, c := range []story{
		{"left behind", "5", world{hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", 30*time.Hour, none), dir("/tmp/helix-ws-b", time.Hour, busy)}}, hostKey(),
			map[string]Mark{"pile": Confirmed, "held": Confirmed, "crash": CannotTell, "network-fs": RuledOut, "full": RuledOut, "tmpfs": RuledOut, "close-failed": RuledOut}, "cause is not known yet", "clean --dry-run", "-mtime +1", false},
		{"before the boot", "5", world{hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", 200*time.Hour, none)}}, hostKey(),
			map[string]Mark{"crash": Confirmed, "held": RuledOut}, "without closing", "", "open file", false},
		{"close fails", "5", world{hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", 30*time.Hour, none)}, counts: lines("app-log", backend.MetricTmpdirCloseFailed, "", 6)}, hostKey(),
			map[string]Mark{"close-failed": Confirmed}, "log line says why", "subprocess", "", false},
		{"holders unknown", "5", world{hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", 30*time.Hour, nil)}}, hostKey(),
			map[string]Mark{"pile": CannotTell, "held": CannotTell}, "Cannot tell", "", "", false},
		{"full tmpfs", "5", world{hosts: []*backend.Host{host(func(h *backend.Host) {
			h.Roots[0].FSType, h.Roots[0].BytesFree = backend.Text("tmpfs"), backend.Known[int64](1e9)
		})}}, hostKey(),
			map[string]Mark{"full": Confirmed, "tmpfs": Confirmed, "pile": RuledOut}, "Nothing is left behind", "Make room", "memory before the disk", false},
		{"nfs", "5", world{hosts: []*backend.Host{host(func(h *backend.Host) { h.Roots[0].FSType = backend.Text("nfs4") })}}, hostKey(), map[string]Mark{"network-fs": Confirmed}, "", "", "", false},
		{"nothing read", "5", world{without: []string{"host-a", "app-log"}}, hostKey(), map[string]Mark{"pile": CannotTell, "full": CannotTell, "close-failed": CannotTell}, "Cannot tell", "", "", false},
	} {
		t.Run(c.name, c.run)
	}
}

func TestReferences(t *testing.T) {
	mismatch := world{workspaces: []*backend.Workspace{failed("s1", "box", "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3"), failed("s2", "box", "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3"), healthy("s3", "box")}}
	ahead := world{workspaces: []*backend.Workspace{failed("s1", "box", "schemaVersion 1 not in 3 to 5")}}
	histogram := mismatch
	histogram.refs = []Ref{{Session: backend.MustID("s1"), SchemaVersion: backend.Known(4), Source: "helix-eu", At: now}, {Session: backend.MustID("s3"), SchemaVersion: backend.Known(3), Source: "helix-eu", At: now}}
	for _, c := range []story{
		{"rolled back", "6", mismatch, wsKey("s1", "box"), map[string]Mark{"schema": Confirmed, "rollback": Confirmed, "versions": CannotTell, "mixed": CannotTell, "stored": CannotTell}, "stored references of 2 sessions", "a newer release of the agent that reads version 4. One that reads 2 to 4 reads all known references.", "Don't reset", true},
		{"too new", "6", ahead, wsKey("s1", "box"), map[string]Mark{"rollback": RuledOut}, "", "a release that reads version 1. One that reads 1 to 3 reads all known references.", "", true},
		{"histogram", "6", histogram, wsKey("s1", "box"), map[string]Mark{"versions": Confirmed, "stored": Confirmed}, "", "", "", true},
		{"deleted", "6", world{workspaces: []*backend.Workspace{failed("s1", "box", "sandbox not found")}}, wsKey("s1", "box"), map[string]Mark{"deleted": Confirmed, "schema": RuledOut}, "files are lost", "fresh session", "reset", true},
		{"nothing wrong", "6", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, sandboxes: []*backend.Sandbox{box("b", "s1")}}, wsKey("s1", "box"), map[string]Mark{"schema": RuledOut, "deleted": RuledOut, "rollback": CannotTell}, "No reference was found", "", "", false},
		{"mixed releases", "6", world{sessions: []*backend.Session{session("s1", true, version("1.4")), session("s2", true, version("1.5"))}}, sessionKey("s1"), map[string]Mark{"mixed": Confirmed, "schema": CannotTell}, "", "", "", false},
	} {
		t.Run(c.name, c.run)
	}
	d := mismatch.diagnose("6", wsKey("s1", "box"))
	if d.SessionCount != 2 || len(d.Sessions) != 2 || d.Sessions[1] != sessionKey("s2") {
		t.Errorf("sessions: %d %v", d.SessionCount, d.Sessions)
	}
}

func version(v backend.Literal) func(*backend.Session) {
	return func(s *backend.Session) { s.FrameworkVersion = backend.Text(v) }
}

func evicted(text string) []*backend.Workspace {
	var out []*backend.Workspace
	for _, s := range []string{"s1", "s2", "s3", "s4", "s5", "s6"} {
		out = append(out, broken(s, "box", backend.ClassEvicted, text))
	}
	return out
}

func TestStorm(t *testing.T) {
	source := backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu")}
	prom := backend.Key{Kind: backend.KindSource, Source: "prom", ID: backend.MustID("prom")}
	storm := append(lines("prom", backend.MetricEvictions, "", 300), lines("prom", backend.MetricEvictionRetries, "", 600)...)
	together := []*backend.Sandbox{}
	for _, id := range []string{"a", "b", "c"} {
		together = append(together, box(id, "s"+id, func(b *backend.Sandbox) { b.StartedAt = at(3 * time.Minute) }))
	}
	restarting := box("a", "s1", func(b *backend.Sandbox) { b.RestartCount, b.StartedAt = backend.Known(9), at(time.Minute) })
	quiet := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, hosts: []*backend.Host{host()}, sandboxes: []*backend.Sandbox{box("a", "s1"), box("b", "s2", func(b *backend.Sandbox) { b.StartedAt = at(9 * time.Hour) }), box("c", "s3", func(b *backend.Sandbox) { b.StartedAt = at(90 * time.Minute) })},
		counts: lines("prom", backend.MetricEvictions, "", 0)}
	firing := &alerts.Board{Alerts: []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", State: alerts.StateFiring, Confirmed: now}}}
	blind := &alerts.Board{Blind: []alerts.Blindness{{Rule: "eviction-storm", Source: "helix-eu", Why: backend.Text("no metrics source")}}}
	for _, c := range []story{
		{"quota", "7", world{workspaces: evicted("max_instances reached"), counts: storm[:6]}, wsKey("s1", "box"),
			map[string]Mark{"storm": Confirmed, "quota": Confirmed, "permanent": RuledOut, "storage": CannotTell, "retries": Confirmed, "full": CannotTell, "host-memory": CannotTell, "unbounded": CannotTell}, "limit refuses", "maxGlobalConcurrentOpens to it in the provider", "one more sandbox", true},
		{"retries on top", "7", world{workspaces: evicted("gone"), counts: storm, board: firing}, source, map[string]Mark{"storm": Confirmed, "retries": Confirmed}, "cause is not known yet", "transientRetryAttempts", "", true},
		{"storage", "7", world{workspaces: evicted("R2 bucket unreachable")}, source, map[string]Mark{"storage": Confirmed, "storm": CannotTell}, "Object storage", "", "", true},
		{"site's own check", "7", world{workspaces: evicted("gone"), site: []backend.Fact{{Name: "r2.reachable", Holds: true, Text: backend.Text("answered 200"), At: now}}}, source, map[string]Mark{"storage": RuledOut}, "", "", "", true},
		{"site's own check finds the cause", "7", world{workspaces: evicted("gone"), site: []backend.Fact{{Name: "r2.reachable", Text: backend.Text("answered 503"), At: now}}}, source, map[string]Mark{"storage": Confirmed}, "Object storage", "bucket", "", true},
		{"full tmpfs", "7", world{workspaces: evicted("gone"), hosts: []*backend.Host{host(func(h *backend.Host) {
			h.Roots[0].FSType, h.Roots[0].BytesFree = backend.Text("tmpfs"), backend.Known[int64](0)
		})}}, source, map[string]Mark{"full": Confirmed, "host-memory": RuledOut}, "full", "Make room", "", true},
		{"memory", "7", world{workspaces: evicted("gone"), hosts: []*backend.Host{host(func(h *backend.Host) { h.MemAvailable = backend.Known[int64](1e9) })}}, source, map[string]Mark{"host-memory": Confirmed}, "Memory runs out", "", "", true},
		{"parent restarts", "7", world{workspaces: evicted("gone"), sandboxes: []*backend.Sandbox{restarting}}, source, map[string]Mark{"parent-restarts": Confirmed}, "restarts repeatedly", "", "", true},
		{"process restarts", "7", world{workspaces: evicted("gone"), events: []backend.Event{event(backend.EventChange, "process-restarted", prom, 9*time.Minute, "one"), event(backend.EventChange, "process-restarted", prom, 5*time.Minute, "two"), event(backend.EventChange, "process-restarted", prom, time.Minute, "three")}}, source, map[string]Mark{"parent-restarts": Confirmed}, "", "", "", true},
		{"permanent", "7", world{workspaces: evicted("new_sqlite_classes is missing")}, source, map[string]Mark{"permanent": Confirmed}, "no retry cures", "as permanent", "transientRetryAttempts", true},
		{"rollout", "7", world{workspaces: evicted("gone"), sandboxes: together}, source, map[string]Mark{"rollout": Confirmed, "parent-restarts": RuledOut, "sandbox-oom": RuledOut}, "A change came first", "Halt", "", true},
		{"one start is no rollout", "7", world{workspaces: evicted("gone"), events: []backend.Event{event(backend.EventChange, "start", sbKey("z"), time.Minute, "container z started")}}, source, map[string]Mark{"rollout": CannotTell}, "", "", "", true},
		{"quiet", "7", quiet, source, map[string]Mark{"storm": RuledOut, "rollout": RuledOut, "retries": RuledOut, "full": RuledOut, "permanent": RuledOut}, "No storm now", "", "restart the agents", false},
		{"metrics are down", "7", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: lines("prom", backend.MetricEvictions, "", 0), down: []string{"prom"}}, source, map[string]Mark{"storm": CannotTell}, "not known", "", "", false},
		{"blind", "7", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, without: []string{"app-log", "prom"}, board: blind}, source, map[string]Mark{"storm": CannotTell}, "not known", "Logger", "", false},
	} {
		t.Run(c.name, c.run)
	}
}

func TestLeak(t *testing.T) {
	tenant := func(v backend.Literal) func(*backend.Session) {
		return func(s *backend.Session) { s.Tenant = backend.Text(v) }
	}
	id := func(w *backend.Workspace) { w.ProviderID = backend.MustID("sbx") }
	own := func(w *backend.Workspace) { w.ProviderID = backend.MustID("own-" + w.Key.Parent.Raw()) }
	pairOf := func(edit func(*backend.Workspace), a, b backend.Literal) world {
		return world{workspaces: []*backend.Workspace{healthy("s1", "box", edit), healthy("s2", "box", edit)}, sessions: []*backend.Session{session("s1", true, tenant(a)), session("s2", true, tenant(b))}}
	}
	collision := world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: lines("app-log", backend.MetricNameCollision, "s1", 6)}
	mount := func(b *backend.Sandbox) {
		b.Mounts = []backend.Mount{{RawSource: backend.MustID("/srv/data"), Source: backend.Text("/srv/data")}}
	}
	for _, c := range []story{
		{"across tenants", "8", pairOf(id, "acme", "umbrella"), sessionKey("s1"), map[string]Mark{"shared-id": Confirmed, "tenants": Confirmed, "reads": CannotTell, "before-4": RuledOut}, "Different tenants", "compliance", "evidence", true},
		{"within one tenant", "8", pairOf(id, "acme", "acme"), sessionKey("s1"), map[string]Mark{"shared-id": Confirmed, "tenants": RuledOut}, "within one tenant", "wanted", "", true},
		{"tenant unknown", "8", pairOf(id, "acme", ""), sessionKey("s1"), map[string]Mark{"tenants": CannotTell}, "not read", "", "", true},
		{"namespace", "8", pairOf(func(w *backend.Workspace) { w.Namespace = backend.MustID("shared") }, "acme", "umbrella"), sessionKey("s1"), map[string]Mark{"namespace": Confirmed, "shared-id": CannotTell, "tenants": Confirmed}, "Different tenants", "", "", true},
		{"own ids", "8", pairOf(own, "acme", "umbrella"), sessionKey("s1"), map[string]Mark{"shared-id": RuledOut, "namespace": CannotTell, "tenants": CannotTell}, "cannot be ruled out", "", "", false},
		{"a name collision rules out", "8", collision, sessionKey("s1"), map[string]Mark{"collision": RuledOut}, "", "", "its own workspace", false},
		{"no log", "8", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, without: []string{"app-log"}}, sessionKey("s1"), map[string]Mark{"collision": CannotTell, "mount": CannotTell}, "", "", "", false},
		{"inherits", "8", world{workspaces: []*backend.Workspace{healthy("s1", "box", func(w *backend.Workspace) { w.InheritWorkspaces = backend.Known(true) })}}, sessionKey("s1"), map[string]Mark{"inherit": Confirmed}, "inheritWorkspaces", "", "", false},
		{"mount", "8", world{sandboxes: []*backend.Sandbox{box("a", "s1", mount), box("b", "s2", mount)}}, sessionKey("s1"), map[string]Mark{"mount": Confirmed, "before-4": CannotTell}, "share one place", "tenants of both", "", true},
		{"other mounts", "8", world{sandboxes: []*backend.Sandbox{box("a", "s1", mount), box("b", "s2")}}, sessionKey("s1"), map[string]Mark{"mount": RuledOut}, "", "", "", false},
	} {
		t.Run(c.name, c.run)
	}
}

func TestFlood(t *testing.T) {
	legacy := healthy("s1", "box", func(w *backend.Workspace) {
		w.LastAttemptAt, w.LastSuccessAt, w.LastOpAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time](), at(time.Minute)
	})
	flood := lines("app-log", backend.MetricRejections, "s1", 6000)
	loop := append(lines("app-log", backend.MetricRollups, "s1", 12), flood...)
	loop = append(loop, lines("app-log", backend.MetricLogBytes, "s1", 6e7)...)
	for _, c := range []story{
		{"loop", "9", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: loop}, sessionKey("s1"),
			map[string]Mark{"flood": Confirmed, "one-session": Confirmed, "loop": Confirmed, "before-5": RuledOut, "volume": Confirmed, "works": Confirmed, "window": CannotTell}, "a loop", "prompt", "only trace", true},
		{"probing", "9", world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: flood}, sessionKey("s1"), map[string]Mark{"loop": RuledOut, "before-5": RuledOut}, "looks like probing", "security", "", true},
		{"unmitigated", "9", world{workspaces: []*backend.Workspace{legacy}, counts: flood}, sessionKey("s1"), map[string]Mark{"before-5": Confirmed, "loop": CannotTell, "volume": CannotTell}, "one line per rejection", "Upgrade", "", true},
		{"quiet", "9", world{workspaces: []*backend.Workspace{failed("s1", "box", "x")}, counts: lines("app-log", backend.MetricRejections, "s1", 6)}, sessionKey("s1"), map[string]Mark{"flood": RuledOut, "works": RuledOut}, "few", "", "", true},
		{"several sessions", "9", world{counts: append(lines("app-log", backend.MetricRejections, "s1", 1200), lines("app-log", backend.MetricRejections, "s2", 1200)...)}, backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu")}, map[string]Mark{"one-session": RuledOut, "before-5": Confirmed}, "", "", "", true},
		{"no log", "9", world{without: []string{"app-log"}}, sessionKey("s1"), map[string]Mark{"flood": CannotTell, "before-5": CannotTell, "one-session": CannotTell}, "no source reads rejection lines", "Logger", "", true},
	} {
		t.Run(c.name, c.run)
	}
}

// TestNoStepDestroysOnUnknownFacts: the first step is to find the owner or to wait; a destroy that is not known to be safe is refused.
func TestNoStepDestroysOnUnknownFacts(t *testing.T) {
	docker := func(b *backend.Sandbox) { b.Provider = backend.Text("docker") }
	for name, c := range map[string]struct {
		cause backend.Literal
		state alerts.AlertState
		over  []*backend.Session
	}{
		"no list":  {"no list names its session", alerts.StateFiring, nil},
		"resting":  {"its session is over, and nothing says whether it ends with it", alerts.StateFiring, []*backend.Session{session("s1", false)}},
		"pending":  {"its session is over, and nothing says whether it ends with it", alerts.StatePending, []*backend.Session{session("s1", false)}},
		"no list2": {"no list names its session", alerts.StatePending, nil},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "s1", docker)}, sessions: c.over, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "wont-terminate", Source: "docker", Runbook: "4", State: c.state,
			Confirmed: now, Cause: backend.Text(c.cause), Why: backend.Text("fires when it still runs at 12:01:00Z"), Subjects: []alerts.Subject{{Key: sbKey("b"), State: c.state}}, SubjectCount: 1}}}}
		d := w.diagnose("4", sbKey("b"))
		if d.NoDestroy.IsEmpty() || len(d.Do) == 0 || strings.HasPrefix(d.Do[0].String(), "Destroy") || strings.HasPrefix(d.Do[0].String(), "Look at what is in it") {
			t.Errorf("%s: first %v, no destroy %q", name, d.Do, d.NoDestroy)
		}
		if c.state == alerts.StatePending && !strings.Contains(d.Do[0].String(), "Wait") {
			t.Errorf("%s: the first step is not to wait: %v", name, d.Do)
		}
		if c.over == nil && strings.Contains(d.Conclusion.String(), "is over.") {
			t.Errorf("%s: an unknown session is called over: %s", name, d.Conclusion)
		}
		all := w.diagnose("4", backend.Key{})
		if strings.Contains(all.Conclusion.String(), "on which no session is listed as running") && c.over == nil {
			t.Errorf("%s: %s", name, all.Conclusion)
		}
	}
}

// TestAResetIsAdvisedForFailedEntriesOnly: an entry that is tried in vain and reads open cannot be reset.
func TestAResetIsAdvisedForFailedEntriesOnly(t *testing.T) {
	for class, reset := range map[backend.StateClass]bool{backend.ClassFailed: true, backend.ClassUnknown: false} {
		w := world{workspaces: []*backend.Workspace{broken("s1", "box", class, "r2 bucket unreachable")}}
		d := w.diagnose("1", wsKey("s1", "box"))
		if anyHas(d.Do, "reset the failed") != reset || anyHas(d.Do, "recover at their next use") == reset {
			t.Errorf("%s: %v", class, d.Do)
		}
	}
}
