package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
)

// configured are the rules with their defaults but for one, which a nil change switches off.
func configured(t *testing.T, name string, change func(rules.Options)) []alerts.Rule {
	t.Helper()
	var out []alerts.Rule
	for _, k := range rules.Kinds() {
		o := k.Defaults()
		switch {
		case k.Name == name && change == nil:
			continue
		case k.Name == name:
			change(o)
		}
		r, err := k.New(o)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestDiagnosesHoldNoThresholds asks each question that a rule's threshold decides, with the default and with another one:
// the answer moves with the configuration, and with the alert beside it where there is one.
func TestDiagnosesHoldNoThresholds(t *testing.T) {
	prom := sourceKeyOf("prom")
	starts := func(n int) (out []backend.Event) {
		for i := range n {
			out = append(out, event(backend.EventChange, "process-restarted", prom, time.Duration(i+1)*time.Minute, "started"))
		}
		return out
	}
	many := func(n int) (out []*backend.Workspace) {
		for i := range n {
			out = append(out, healthy("s1", string(rune('a'+i))))
		}
		return out
	}
	flood := append(lines("app-log", backend.MetricRejections, "s1", 600), lines("app-log", backend.MetricRejectedWords, "s1", 5)...)
	oldDir := world{hosts: []*backend.Host{host()}, tmpdirs: []*backend.Tmpdir{dir("/tmp/helix-ws-a", 30*time.Hour, []backend.Holder{})}}
	memory := func(available int64, pressure float64) world {
		return world{workspaces: evicted("gone"), hosts: []*backend.Host{host(func(h *backend.Host) {
			h.MemAvailable, h.MemPressure = backend.Known(available), backend.Known(pressure)
		})}}
	}
	room := func(free int64) world {
		return world{hosts: []*backend.Host{host(func(h *backend.Host) { h.Roots[0].BytesFree = backend.Known(free) })}}
	}
	killed := world{sandboxes: []*backend.Sandbox{box("b", "s1")}, events: []backend.Event{event(backend.EventPlatform, "oom", sbKey("b"), 30*time.Minute, "container b was killed")}}
	hostKill := memory(32e9, 0)
	hostKill.events = []backend.Event{event(backend.EventPlatform, "oom", hostKey(), 5*time.Minute, "the kernel killed node")}
	idle := world{sandboxes: []*backend.Sandbox{box("b", "s1")}, sessions: []*backend.Session{session("s1", false)},
		workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) { w.LastAttemptAt, w.LastSuccessAt = at(25*time.Minute), at(25*time.Minute) })}}
	big := world{workspaces: []*backend.Workspace{healthy("s1", "box", func(w *backend.Workspace) { w.MaxFileSize = backend.Known[int64](20e6) })}}
	twoBoxes := world{workspaces: evicted("gone"), sandboxes: []*backend.Sandbox{
		box("a", "s1", func(b *backend.Sandbox) { b.StartedAt = at(3 * time.Minute) }), box("b", "s2", func(b *backend.Sandbox) { b.StartedAt = at(3 * time.Minute) }),
		box("c", "s3"), box("d", "s4"), box("e", "s5")}}
	helix := sourceKeyOf("helix-eu")
	for _, c := range []struct {
		key      string // of the rule, and what it is set to
		rule     string // whose alert stands beside the diagnosis, empty: none does
		change   func(rules.Options)
		incident string
		world    world
		subject  backend.Key
		check    string
		def, set Mark // by default, and as configured
	}{
		{"eviction-storm.exhausted = 40", "eviction-storm", func(o rules.Options) { o.(*rules.StormOptions).Exhausted = 40 }, "7",
			world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: lines("app-log", backend.MetricEvictionExhausted, "s1", 30)}, helix, "storm", Confirmed, RuledOut},
		{"eviction-storm.rate = 3", "eviction-storm", func(o rules.Options) { o.(*rules.StormOptions).Rate = 3 }, "7",
			world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: lines("prom", backend.MetricEvictions, "", 300)}, helix, "storm", Confirmed, CannotTell},
		{"eviction-storm.rate = 3", "eviction-storm", func(o rules.Options) { o.(*rules.StormOptions).Rate = 3 }, "3",
			world{workspaces: []*backend.Workspace{healthy("s1", "box")}, counts: lines("prom", backend.MetricEvictions, "", 300)}, sessionKey("s1"), "storm", Confirmed, CannotTell},
		{"eviction-storm.evicted = 9", "", func(o rules.Options) { o.(*rules.StormOptions).Evicted = 9 }, "7", world{workspaces: evicted("gone")}, helix, "retries", Confirmed, CannotTell},
		{"audit-saturation.rejections = 50", "audit-saturation", func(o rules.Options) { o.(*rules.AuditOptions).Rejections = 50 }, "9",
			world{workspaces: many(1), counts: flood}, sessionKey("s1"), "flood", Confirmed, RuledOut},
		{"audit-saturation.probing = 4", "", func(o rules.Options) { o.(*rules.AuditOptions).Probing = 4 }, "9", world{workspaces: many(1), counts: append(lines("app-log", backend.MetricRollups, "s1", 6), flood...)}, sessionKey("s1"), "loop", Confirmed, RuledOut},
		{"audit-saturation.bytes = 100", "audit-saturation", func(o rules.Options) { o.(*rules.AuditOptions).Bytes = 100 }, "9",
			world{workspaces: many(1), counts: lines("app-log", backend.MetricLogBytes, "s1", 60_000)}, sessionKey("s1"), "volume", RuledOut, Confirmed},
		{"audit-saturation.rejections = 50", "", func(o rules.Options) { o.(*rules.AuditOptions).Rejections = 50 }, "9",
			world{counts: lines("app-log", backend.MetricRejections, "s1", 600)}, sessionKey("s1"), "before-5", Confirmed, CannotTell},
		{"agent-oom.restarts = 2", "agent-oom", func(o rules.Options) { o.(*rules.AgentOOMOptions).Restarts = 2 }, "7", world{workspaces: evicted("gone"), events: starts(2)}, helix, "parent-restarts", CannotTell, Confirmed},
		{"agent-oom.file = 50MB", "", func(o rules.Options) { o.(*rules.AgentOOMOptions).File = 50e6 }, "3", big, sessionKey("s1"), "file-cap", Confirmed, RuledOut},
		{"agent-oom.opens = 5", "", func(o rules.Options) { o.(*rules.AgentOOMOptions).Opens = 5 }, "3", world{workspaces: many(4)}, sessionKey("s1"), "eager", Confirmed, CannotTell},
		{"restart-storm.within = 1m", "", func(o rules.Options) { o.(*rules.RestartOptions).Within = backend.Duration(time.Minute) }, "7",
			world{workspaces: many(1), events: starts(3)[2:]}, helix, "rollout", Confirmed, CannotTell},
		{"restart-storm.share = 0.5", "", func(o rules.Options) { o.(*rules.RestartOptions).Share = 0.5 }, "7", twoBoxes, helix, "rollout", Confirmed, RuledOut},
		{"tmpdir-orphaned.after = 48h", "tmpdir-orphaned", func(o rules.Options) { o.(*rules.OrphanOptions).After = backend.Duration(48 * time.Hour) }, "5", oldDir, hostKey(), "pile", Confirmed, RuledOut},
		{"tmpdir-pileup.free = 0.1", "", func(o rules.Options) { o.(*rules.PileupOptions).Free = 0.1 }, "5", room(5e9), hostKey(), "full", RuledOut, Confirmed},
		{"tmpdir-root-unusable.bytes = 10GB", "tmpdir-root-unusable", func(o rules.Options) { o.(*rules.RootOptions).Bytes = 10e9 }, "5", room(5e9), hostKey(), "full", RuledOut, Confirmed},
		{"host-oom.available = 0.1", "host-oom", func(o rules.Options) { o.(*rules.HostOOMOptions).Available = 0.1 }, "7", memory(3e9, 0), helix, "host-memory", RuledOut, Confirmed},
		{"host-oom.pressure = 0.5", "", func(o rules.Options) { o.(*rules.HostOOMOptions).Pressure = 0.5 }, "7", memory(32e9, 0.3), helix, "host-memory", Confirmed, RuledOut},
		{"host-oom.recent = 1m", "", func(o rules.Options) { o.(*rules.HostOOMOptions).Recent = backend.Duration(time.Minute) }, "7", hostKill, helix, "host-memory", Confirmed, RuledOut},
		{"sandbox-oom.recent = 10m", "sandbox-oom", func(o rules.Options) { o.(*rules.SandboxOOMOptions).Recent = backend.Duration(10 * time.Minute) }, "3", killed, sbKey("b"), "sandbox-oom", Confirmed, RuledOut},
		{"wont-terminate.gone = 1h", "", func(o rules.Options) { o.(*rules.TerminateOptions).Gone = backend.Duration(time.Hour) }, "4", idle, sbKey("b"), "awaiting-sleep", RuledOut, CannotTell},
		{"hammered-and-failing.after = 30s", "", func(o rules.Options) { o.(*rules.HammeredOptions).After = backend.Duration(30 * time.Second) }, "9", world{workspaces: many(1)}, sessionKey("s1"), "works", Confirmed, RuledOut},
	} {
		name, _, _ := strings.Cut(c.key, ".")
		for _, x := range []struct {
			how   string
			rules []alerts.Rule
			want  Mark
		}{{"by default", rules.Defaults(), c.def}, {c.key, configured(t, name, c.change), c.set}, {"switched off", configured(t, name, nil), CannotTell}} {
			w := c.world
			w.rules = x.rules
			d := w.diagnose(c.incident, c.subject)
			if x.how == "switched off" {
				if d.Mark(c.check) == RuledOut {
					t.Errorf("%s switched off: %s is ruled out though nothing says from when it is true", c.key, c.check)
				}
				continue
			}
			if got := d.Mark(c.check); got != x.want {
				t.Errorf("%s, incident %s: %s is %s, want %s: %s", x.how, c.incident, c.check, got, x.want, d.fact(c.check))
			}
			if c.rule == "" {
				continue
			}
			beside := false
			for _, a := range w.conclude(w.state()).Alerts {
				beside = beside || a.Rule == c.rule
			}
			if beside != (x.want == Confirmed) && !(x.want == CannotTell && beside) {
				t.Errorf("%s: %s is %s, and an alert %s stands beside it: %v", x.how, c.check, x.want, c.rule, beside)
			}
		}
	}
}

// TestEveryThresholdIsPublished holds that a key which a diagnosis reads exists: a wrong one would read as switched off.
func TestEveryThresholdIsPublished(t *testing.T) {
	s := newSubjectView(world{}.about(backend.Key{}))
	for _, x := range []threshold{stormOver, stormRate, stormRecovery, stormEvicted, floodOver, floodRejections, floodBytes, floodProbing, floodProbeOver, floodLoop,
		agentFile, agentOpens, agentRestarts, agentOver, changeWithin, changeShare, orphanAfter, rootFree, rootBytes, rootInodes, memoryAvailable, memoryPressure,
		memoryRecent, killedRecently, sandboxGone, triedAfter} {
		if n, ok := s.number(x); !ok || n <= 0 {
			t.Errorf("%s is %v, %v", x, n, ok)
		}
	}
}

// TestAStormStaysOnItsSource: a source whose answers concern every other one does not bring its storm to their pages.
func TestAStormStaysOnItsSource(t *testing.T) {
	w := world{workspaces: evicted("gone"), rules: rules.Defaults()}
	st := w.state()
	board := w.conclude(st)
	board.Alerts = []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", State: alerts.StateFiring}}
	for source, want := range map[string]bool{"helix-eu": true, "docker-local": false} {
		d := Case{State: st, Board: board, Subject: sourceKeyOf(source)}.Diagnose("7")
		if got := d.Mark("storm"); got == Confirmed != want {
			t.Errorf("the storm of helix-eu on the page of %s: %s", source, got)
		}
	}
}
