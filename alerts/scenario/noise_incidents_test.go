package scenario_test

import (
	"fmt"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// trouble is one labelled incident of a noisy fleet.
type trouble struct {
	rule string
	// after is how long the rule's own text lets the trouble last before the alert fires: its `for` or the threshold in time
	// that it documents. The alert has to fire within this and one poll.
	after time.Duration
	polls int  // polls after the first that its text counts besides
	later bool // what begins it is seen at the next poll only
	// begin starts it; the function that it returns goes on with it at every step until it is over, nil: nothing does.
	begin func(f *noisyFleet, name string) func()
	// also are rules that speak of the same trouble.
	also []string
	wide bool // it concerns the whole fleet: an alert about anything may be a part of it
}

const troubleLasts = 25 * time.Minute

// broken begins a session of its own with one workspace.
func (f *noisyFleet) broken(name, provider string) *noisyWork {
	s := &noisySession{id: name, provider: provider, tenant: "tenant-x", started: f.now.Add(-time.Hour), over: f.now.Add(1000 * time.Hour), marked: true}
	w := &noisyWork{in: s, name: "box", state: "open", attempt: f.now.Add(-f.step), success: f.now.Add(-f.step)}
	s.work = []*noisyWork{w}
	f.sessions = append(f.sessions, s)
	f.tellSession(s)
	f.tell(w)
	return w
}

// becomes lets a workspace be tried and found in a state.
func (f *noisyFleet) becomes(w *noisyWork, state, why string) {
	w.state, w.err, w.attempt = state, why, f.now.Add(-time.Second)
	f.tell(w)
}

// fails is a trouble of one workspace that is tried at every step in vain.
func fails(rule string, after time.Duration, state, why string, also ...string) trouble {
	return trouble{rule: rule, after: after, also: also, begin: func(f *noisyFleet, name string) func() {
		w := f.broken(name, "cloudflare-sandbox")
		f.becomes(w, state, why)
		return func() { f.becomes(w, state, why) }
	}}
}

// logged is a trouble that a log line tells.
func logged(rule string, m backend.Metric, line string) trouble {
	return trouble{rule: rule, begin: func(f *noisyFleet, name string) func() {
		f.broken(name, "local-bash")
		f.count(m, name, 1, line)
		return nil
	}}
}

func troubles() []trouble {
	list := append([]trouble{
		fails("failed-too-long", 10*time.Minute, "failed", "WorkspaceFailedError: internal error in provider"),
		fails("hammered-and-failing", 5*time.Minute, "open", "WorkspaceFailedError: exec returned no exit code"),
		fails("ref-mismatch", 0, "failed", "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3", "failed-too-long"),
		fails("capability-mismatch", 0, "failed", "WorkspaceFailedError: capability snapshot is declared but no backupR2Binding is configured", "failed-too-long"),
		fails("misclassified-transient", 0, "open", "WorkspaceFailedError: ENOENT: no such binding SANDBOX", "hammered-and-failing", "capability-mismatch", "failed-too-long"),
		logged("agent-oom", backend.MetricAgentOOM, "Durable Object's isolate exceeded its memory limit and was reset."),
		logged("tmpdir-close-failed", backend.MetricTmpdirCloseFailed, "EBUSY: resource busy or locked, rmdir"),
		logged("persist-failed", backend.MetricPersistFailed, "failed to persist snapshot: disk quota exceeded"),
		logged("hydrate-failed", backend.MetricHydrateFailed, "failed to restore snapshot: connection reset"),
	}, append(workspaceTroubles(), groundTroubles()...)...)
	for i := range list {
		if list[i].rule == "misclassified-transient" {
			list[i].polls = 4 // five attempts, of which a poll sees one
		}
	}
	return list
}

func workspaceTroubles() []trouble {
	return []trouble{
		{rule: "evicted-sustained", after: 8 * time.Minute, begin: func(f *noisyFleet, name string) func() { // for 80 % of its window of 10m
			w := f.broken(name, "cloudflare-sandbox")
			f.becomes(w, "evicted", "WorkspaceEvictedError: sandbox instance is gone")
			return func() { f.tell(w) }
		}},
		{rule: "reset-loop", after: 9 * time.Minute, begin: func(f *noisyFleet, name string) func() { // the third reset in vain, one every three minutes
			w, n := f.broken(name, "cloudflare-sandbox"), 0
			f.becomes(w, "failed", "WorkspaceFailedError: image cannot be started")
			return func() {
				if n++; time.Duration(n)*f.step%(3*time.Minute) == 0 {
					f.becomes(w, "opening", "")
				} else {
					f.becomes(w, "failed", "WorkspaceFailedError: image cannot be started")
				}
			}
		}, also: []string{"failed-too-long", "hammered-and-failing", "misclassified-transient"}},
		{rule: "error-burst", after: time.Minute, begin: func(f *noisyFleet, name string) func() {
			return f.outage(name, 16, func(int) string { return "WorkspaceFailedError: bucket agents-prod is not reachable" })
		}, also: []string{"failed-too-long", "hammered-and-failing", "error-chaos"}},
		{rule: "error-chaos", begin: func(f *noisyFleet, name string) func() {
			return f.outage(name, 24, func(i int) string {
				return "WorkspaceFailedError: the " + chaos[i%len(chaos)] + " does not answer as expected"
			})
		}, also: []string{"failed-too-long", "hammered-and-failing", "error-burst"}},
		{rule: "files-vanished", later: true, begin: func(f *noisyFleet, name string) func() {
			w := f.broken(name, "in-memory")
			f.after(0, func() { w.attempt, w.success = time.Time{}, time.Time{}; f.tell(w) })
			return nil
		}},
		{rule: "possible-leak", begin: func(f *noisyFleet, name string) func() {
			for i := range 2 {
				w := f.broken(fmt.Sprintf("%s-%d", name, i), "cloudflare-sandbox")
				w.in.tenant = fmt.Sprintf("tenant-%d", i)
				w.edit = func(e *backend.Workspace) { e.ProviderID = backend.MustID("shared-" + name) }
				f.tellSession(w.in)
				f.tell(w)
			}
			return nil
		}},
		{rule: "capacity", begin: func(f *noisyFleet, name string) func() {
			return f.outage(name, 4, func(int) string { return "WorkspaceFailedError: max_instances reached" })
		}, also: []string{"failed-too-long", "hammered-and-failing", "error-burst"}},
		{rule: "eviction-storm", after: 2 * time.Minute, begin: func(f *noisyFleet, name string) func() { // 60 evictions prove 0.2/s over 5m, and it has to last
			return func() {
				f.evictions["cloudflare-sandbox"] += f.step.Seconds()
				f.recoveries["cloudflare-sandbox"] += f.step.Seconds() / 10
			}
		}, wide: true},
		{rule: "audit-saturation", after: time.Minute, begin: func(f *noisyFleet, name string) func() {
			f.broken(name, "local-bash")
			return func() {
				f.count(backend.MetricRejections, name, 12*f.step.Seconds(), "workspace tool: shell metacharacter rejected")
			}
		}},
		{rule: "restart-storm", begin: func(f *noisyFleet, _ string) func() { // the opens after a rollout hang
			f.change("rollout", "a release that opens nothing is rolled out")
			for _, s := range f.sessions {
				if s.marked || !s.paused.IsZero() || f.rnd.IntN(5) < 2 {
					continue
				}
				for _, w := range s.work {
					f.helix.Ended = append(f.helix.Ended, workKey(w))
				}
				f.after(f.step, func() {
					for _, w := range s.work {
						w.state, w.success = "opening", time.Time{}
						w.fly(f.now.Add(4*time.Minute), f)
						f.tell(w)
					}
				})
			}
			return nil
		}, after: 2 * time.Minute, wide: true},
	}
}

// chaos are parts of a provider that can fail.
var chaos = []string{"scheduler", "image store", "volume", "network bridge", "gateway", "secret store", "journal", "quota service", "name service", "clock", "firewall", "kernel"}

// outage lets several sessions fail at once.
func (f *noisyFleet) outage(name string, n int, why func(int) string) func() {
	var all []*noisyWork
	for i := range n {
		w := f.broken(fmt.Sprintf("%s-%d", name, i), "cloudflare-sandbox")
		all = append(all, w)
		f.becomes(w, "failed", why(i))
	}
	return func() {
		for i, w := range all {
			f.becomes(w, "failed", why(i))
		}
	}
}

func groundTroubles() []trouble {
	return []trouble{
		{rule: "contradiction", begin: func(f *noisyFleet, name string) func() {
			w := f.broken(name, "docker")
			w.box = "box-of-" + name
			v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: f.now, Passive: true}
			f.docker.Sandboxes = append(f.docker.Sandboxes, f.container(w, backend.SandboxRunning).WithObserved([]backend.Verdict{v}))
			return nil
		}},
		{rule: "sandbox-oom", also: []string{"contradiction"}, begin: func(f *noisyFleet, name string) func() {
			w := f.broken(name, "docker")
			w.box = "box-of-" + name
			e := f.container(w, backend.SandboxExited)
			e.OOMKilled, e.ExitCode, e.FinishedAt = backend.Known(true), backend.Known(137), backend.Known(f.now)
			f.docker.Sandboxes = append(f.docker.Sandboxes, e)
			return nil
		}},
		{rule: "wont-terminate", after: 2*time.Minute + 20*time.Second, later: true, begin: func(f *noisyFleet, name string) func() { // grace, and it looks again within 20s
			w := f.broken(name+"-0", "docker") // an even number: it is destroyed on close
			w.box = "box-of-" + name
			f.box(w, backend.SandboxRunning)
			f.tell(w)
			f.after(0, func() {
				w.in.paused = f.now.Add(1000 * time.Hour)
				f.helix.Ended = append(f.helix.Ended, workKey(w))
				f.tellSession(w.in)
			})
			return nil
		}},
		{rule: "tmpdir-pileup", after: 3 * time.Minute, begin: func(f *noisyFleet, name string) func() { // thirty a minute exceed the growth of 30 and what sessions open meanwhile
			n := 0
			return func() {
				for range int(30 * f.step.Minutes()) {
					n++
					f.dir(fmt.Sprintf("/tmp/helix-ws-%s-%d", name, n), f.now, 1_000_000, false)
				}
			}
		}},
		{rule: "tmpdir-root-unusable", begin: func(f *noisyFleet, _ string) func() {
			f.rooted = false
			f.after(troubleLasts, func() { f.rooted = true })
			f.hostNow()
			return nil
		}},
		{rule: "tmpdir-orphaned", begin: func(f *noisyFleet, name string) func() {
			f.dir("/tmp/helix-ws-"+name, f.now.Add(-24*time.Hour-time.Minute), 5_000_000, false)
			return nil
		}},
		{rule: "host-oom", polls: 1, begin: func(f *noisyFleet, _ string) func() { f.kills += 2; f.hostNow(); return nil }},
		{rule: "host-restarted", begin: func(f *noisyFleet, _ string) func() { f.booted, f.kills = f.now, 0; f.hostNow(); return nil }, wide: true},
		{rule: "source-down", polls: 2, begin: func(f *noisyFleet, _ string) func() { // the third poll that fails
			f.lost["metrics"] = 20
			return nil
		}},
		{rule: "clock-skew", after: time.Minute, begin: func(f *noisyFleet, _ string) func() {
			end := f.now.Add(troubleLasts)
			return func() {
				if f.now.Before(end) {
					f.offset["logs"] = 90 * time.Second
				}
			}
		}},
	}
}

// about reports whether an alert can be a part of a trouble of this name.
func (x *trouble) about(a *alerts.Alert, name string) bool {
	if x.wide {
		return true
	}
	if a.Rule != x.rule {
		for _, r := range x.also {
			if r == a.Rule {
				return ours(a, name)
			}
		}
		return false
	}
	return ours(a, name) || a.SubjectCount > 1 && concerns(a, name) || a.Subjects[0].Key.Kind == backend.KindSource || a.Subjects[0].Key.Kind == backend.KindHost
}

// concerns reports whether some subject of an alert belongs to the trouble of this name.
func concerns(a *alerts.Alert, name string) bool {
	for _, s := range a.Subjects {
		if strings.Contains(s.Key.Path().Raw(), name) {
			return true
		}
	}
	return false
}

// ours reports whether every subject of an alert belongs to the trouble of this name.
func ours(a *alerts.Alert, name string) bool {
	for _, s := range a.Subjects {
		if !strings.Contains(s.Key.Path().Raw(), name) {
			return false
		}
	}
	return true
}
