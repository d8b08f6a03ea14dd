package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

const contradictionRule = "contradiction"

// failed is a verdict that a plane of a sandbox failed.
func failed(p backend.Plane, kind backend.FailureKind, at time.Time) backend.Verdict {
	return backend.Verdict{Plane: p, Outcome: backend.OutcomeFailed, Kind: kind, At: at, What: backend.Textf("%s failed", p), Passive: p != backend.PlaneExec}
}

// passed is a verdict that a plane of a sandbox works.
func passed(p backend.Plane, at time.Time) backend.Verdict {
	return backend.Verdict{Plane: p, Outcome: backend.OutcomeOK, At: at, Passive: p != backend.PlaneExec}
}

// observes adds verdicts to a container, as the fold does.
func (s *story) observes(id string, vs ...backend.Verdict) {
	s.t.Helper()
	k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(id)}
	b := *s.sandboxes[k]
	o, _ := b.Observed.Get()
	s.sandboxes[k] = b.WithObserved(backend.MergeVerdicts(o.Verdicts, vs))
	s.sandboxes[k].ReadAt = s.wall
	s.delta.Changed = append(s.delta.Changed, k)
}

// beginContradiction is a container of a running session, and what its registry says.
func beginContradiction(t testing.TB, names ...string) *story {
	s := begin(t, append([]string{contradictionRule}, names...)...)
	s.source("docker", backend.InputContainers)
	s.session("a", func(x *backend.Session) { x.Running, x.Status = backend.Known(true), backend.Text("running") })
	s.reads("a/box", reading{state: "open", attempt: time.Minute, success: time.Minute})
	s.boxOf("c1", nil)
	return s
}

// boxOf is a container of workspace a/box.
func (s *story) boxOf(id string, edit func(*backend.Sandbox)) {
	s.box(id, "a", func(b *backend.Sandbox) {
		b.Workspace, b.WorkDir, b.Provider, b.StartedAt, b.CreatedAt = backend.MustID("box"), backend.Text("/workspace"), backend.Text("docker"), ago(noon, 3*time.Hour), ago(noon, 3*time.Hour)
		if edit != nil {
			edit(b)
		}
	})
}

// TestContradictionKeepsItself: facts join one alert, which keeps id, fingerprint and since through facts, a pause, a resume
// and a restart, and only newer successes of the planes that failed end it.
func TestContradictionKeepsItself(t *testing.T) {
	s := beginContradiction(t)
	s.look().quiet(contradictionRule)
	s.pass(5 * time.Second)
	s.observes("c1", failed(backend.PlaneList, backend.FailWorkDirMissing, s.wall))
	first := *s.look().want(contradictionRule, alerts.StateFiring)
	if first.Severity != alerts.SeverityCritical || first.Runbook != contradictionRule || first.SubjectCount != 1 || !strings.Contains(first.Cause.String(), "but its working directory is missing") {
		t.Errorf("alert %+v", first)
	}
	if first.Bounds.Earliest.IsZero() {
		t.Error("a success that its registry reports does not bound the onset")
	}
	wantEvidence(t, &first, "reported: docker lists helix-c1 as running", "reported: helix lists workspace a/box as open", "reported: helix lists session a as running",
		"seen without running anything: filesystem list failed")
	same := func(what string) *alerts.Alert {
		t.Helper()
		a := s.want(contradictionRule, alerts.StateFiring)
		if a.ID != first.ID || a.Fingerprint != first.Fingerprint || !a.Since.Equal(first.Since) || a.Bounds != first.Bounds {
			t.Errorf("%s: %s %s since %s %v, was %s %s since %s %v", what, a.ID, a.Fingerprint, a.Since, a.Bounds, first.ID, first.Fingerprint, first.Since, first.Bounds)
		}
		return a
	}
	s.pass(time.Minute)
	s.observes("c1", failed(backend.PlaneExec, backend.FailWorkDirMissing, s.wall), failed(backend.PlaneQueue, backend.FailExecStuckQueued, s.wall))
	s.look()
	wantEvidence(t, same("new facts"), "seen by a command: exec failed", "seen without running anything: queue failed")
	edit := func(f func(*backend.Sandbox)) {
		s.pass(time.Minute)
		k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("c1")}
		b := *s.sandboxes[k]
		f(&b)
		o, _ := b.Observed.Get()
		s.sandboxes[k] = b.WithObserved(o.Verdicts)
		s.delta.Changed = append(s.delta.Changed, k)
		s.look()
	}
	edit(func(b *backend.Sandbox) { b.Class, b.Reported = backend.SandboxPaused, backend.Text("paused") })
	same("a pause")
	edit(func(b *backend.Sandbox) { b.Class, b.Reported = backend.SandboxRunning, backend.Text("running") })
	same("a resume")
	s.restart()
	s.look()
	same("a restart of Sandglass")
	edit(func(b *backend.Sandbox) { b.StartedAt = backend.Known(s.wall) })
	if a := same("a restart of the container"); !strings.Contains(a.Cause.String(), "not verified since") {
		t.Errorf("cause %s", a.Cause)
	}
	s.pass(time.Minute)
	s.observes("c1", passed(backend.PlaneList, s.wall))
	s.look()
	same("the queue is not verified")
	s.pass(time.Minute)
	s.observes("c1", passed(backend.PlaneQueue, s.wall))
	s.look()
	a := same("a command was not tried since it failed")
	wantEvidence(t, a, "what its working directory held then is gone: a start makes it again, empty")
	s.pass(time.Minute)
	s.observes("c1", passed(backend.PlaneExec, s.wall))
	s.look().quiet(contradictionRule)
}

// TestContainerThatNoListHas: a registry names a container which the only engine of its sessions never listed. An id of another
// form, and a second engine, leave open where the container is.
func TestContainerThatNoListHas(t *testing.T) {
	for _, c := range []struct {
		id     string
		second bool
		want   bool
	}{{strings.Repeat("0c4790c4877a8c08", 4), false, true}, {"sbx_12", false, false}, {strings.Repeat("0c4790c4877a8c08", 4), true, false}} {
		s := beginContradiction(t)
		s.session("b", func(x *backend.Session) { x.Running, x.Status = backend.Known(true), backend.Text("running") })
		if c.second {
			s.source("podman", backend.InputContainers)
			s.boxOf("p1", func(b *backend.Sandbox) { b.Key.Source = "podman" })
			k := backend.Key{Kind: backend.KindSandbox, Source: "podman", ID: backend.MustID("p1")}
			b := *s.sandboxes[backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("p1")}]
			delete(s.sandboxes, backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("p1")})
			b.Key = k
			s.sandboxes[k] = &b
		}
		names := func() {
			for _, w := range []string{"a/box", "b/box"} {
				s.reads(w, reading{state: "open", attempt: time.Second, success: time.Second})
				x := *s.workspaces[wsKey(w)]
				if x.Provider = backend.Text("docker"); w == "b/box" {
					x.ProviderID = backend.MustID(c.id)
				}
				s.workspaces[wsKey(w)] = &x
			}
		}
		names()
		s.look()
		if c.want {
			s.want(contradictionRule, alerts.StatePending)
		}
		s.every(5*time.Second, time.Minute, names)
		if c.want {
			wantEvidence(t, s.want(contradictionRule, alerts.StateFiring), "observed: docker lists no container 0c4790c4877a")
		} else {
			s.quiet(contradictionRule)
		}
	}
}

// TestContradictionBeganAtTheFirstLook: a failure that takes time to prove began when it was first seen.
func TestContradictionBeganAtTheFirstLook(t *testing.T) {
	s := beginContradiction(t)
	s.observes("c1", passed(backend.PlaneDriver, s.wall))
	worked := s.wall
	s.look().quiet(contradictionRule)
	s.pass(2 * time.Minute)
	v := failed(backend.PlaneDriver, backend.FailServerFrozen, s.wall)
	v.Since = s.wall.Add(-70 * time.Second)
	s.observes("c1", v)
	a := s.look().want(contradictionRule, alerts.StateFiring)
	if got := a.Bounds.Latest.Sub(a.Bounds.Earliest); got != v.Since.Sub(worked) {
		t.Errorf("it began within %v, want %v: %+v", got, v.Since.Sub(worked), a.Bounds)
	}
}

// TestContradictionCases are the facts that are a contradiction at once, those that are pending, and those that are none.
func TestContradictionCases(t *testing.T) {
	exec, list, driver, queue, control := backend.PlaneExec, backend.PlaneList, backend.PlaneDriver, backend.PlaneQueue, backend.PlaneControl
	for _, c := range []struct {
		name string
		want alerts.AlertState
		seen func(s *story) []backend.Verdict
		edit func(*backend.Sandbox)
	}{
		{"missing", alerts.StateFiring, func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(list, backend.FailWorkDirMissing, s.wall)}
		}, nil},
		{"healthy", alerts.StateFiring, func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(list, backend.FailWorkDirDangling, s.wall)}
		}, func(b *backend.Sandbox) { b.Health = backend.Known(backend.Text("healthy")) }},
		{"frozen", alerts.StateFiring, func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(driver, backend.FailServerFrozen, s.wall)}
		}, nil},
		{"refused to its user", alerts.StateFiring, func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(exec, backend.FailUnauthorised, s.wall)}
		}, nil},
		{"one slow command", alerts.StatePending, func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(exec, backend.FailExecTimeout, s.wall)}
		}, nil},
		{"a queue alone", alerts.StatePending, func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(queue, backend.FailExecStuckQueued, s.wall)}
		}, nil},
		{"a driver alone", alerts.StatePending, func(s *story) []backend.Verdict { return []backend.Verdict{failed(driver, "", s.wall)} }, nil},
		{"a status route that fails", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(control, backend.FailControl5xx, s.wall)}
		}, nil},
		{"unknown", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{{Plane: exec, Outcome: backend.OutcomeUnknown, At: s.wall}, {Plane: list, Outcome: backend.OutcomeNotTried}}
		}, nil},
		{"waking", "", func(s *story) []backend.Verdict { return []backend.Verdict{failed(exec, backend.FailWaking, s.wall)} }, nil},
		{"throttled", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(exec, backend.FailThrottled, s.wall)}
		}, nil},
		{"slow and well", "", func(s *story) []backend.Verdict {
			v := passed(exec, s.wall)
			v.Took = 20 * time.Second
			return []backend.Verdict{v}
		}, nil},
		{"a former life", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(list, backend.FailWorkDirMissing, s.wall.Add(-4*time.Hour))}
		}, nil},
		{"paused", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(exec, backend.FailWorkDirMissing, s.wall)}
		}, func(b *backend.Sandbox) { b.Class = backend.SandboxPaused }},
		{"asleep", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(exec, backend.FailWorkDirMissing, s.wall)}
		}, func(b *backend.Sandbox) { b.Class = backend.SandboxAsleep }},
		{"not started", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(list, backend.FailWorkDirMissing, s.wall)}
		}, func(b *backend.Sandbox) { b.Class, b.CreatedAt = backend.SandboxCreated, ago(noon, 0) }},
		{"another machine", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(list, backend.FailWorkDirMissing, s.wall)}
		}, func(b *backend.Sandbox) { b.IsSandbox = false }},
		{"of a session that is over", "", func(s *story) []backend.Verdict {
			return []backend.Verdict{failed(list, backend.FailWorkDirMissing, s.wall)}
		}, func(b *backend.Sandbox) { b.Session = backend.MustID("over") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := beginContradiction(t)
			s.session("over", func(x *backend.Session) { x.Running, x.Answer = backend.Known(false), backend.AnswerIdle })
			s.boxOf("c1", c.edit)
			s.observes("c1", c.seen(s)...)
			s.look()
			if s.every(10*time.Second, 2*time.Minute, nil); c.want == "" {
				s.quiet(contradictionRule)
				return
			}
			severity := alerts.SeverityCritical
			if c.name == "a driver alone" { // the sandbox itself may be well
				severity = alerts.SeverityWarning
			}
			if a := s.want(contradictionRule, c.want); a.Severity != severity {
				t.Errorf("severity %s", a.Severity)
			}
		})
	}
}

// A second command that does not end in time proves what one only suggests, in the same alert.
func TestContradictionByTwoTimeouts(t *testing.T) {
	s := beginContradiction(t)
	s.observes("c1", failed(backend.PlaneExec, backend.FailExecTimeout, s.wall))
	id := s.look().want(contradictionRule, alerts.StatePending).ID
	s.pass(time.Minute)
	s.observes("c1", failed(backend.PlaneExec, backend.FailExecTimeout, s.wall))
	if a := s.look().want(contradictionRule, alerts.StateFiring); a.ID != id {
		t.Errorf("%s, was %s", a.ID, id)
	}
	s.reads("a/box", reading{state: "closed", attempt: time.Minute, success: time.Minute})
	s.boxGone("c1")
	s.after(time.Second).want(contradictionRule, alerts.StateEnded)
}

// TestContradictionByAHealthCheck: the check's own words prove the missing directory, and its next success ends it.
func TestContradictionByAHealthCheck(t *testing.T) {
	s := beginContradiction(t)
	s.checks("c1", noWorkDir, s.failing(0, 40*time.Minute))
	a := s.look().want(contradictionRule, alerts.StateFiring)
	wantEvidence(t, a, "seen without running anything: its health check cannot begin")
	s.began(a, 3*time.Hour, 40*time.Minute)
	s.wantHeldThenBack(contradictionRule, "docker", func() {})
	s.wantSameAfterRestart(contradictionRule, "docker", func() {})
	s.checks("c1", "", backend.HealthChecks{Checked: s.wall, Passed: s.wall})
	s.after(time.Second).quiet(contradictionRule)
}

// TestContradictionStandsForLesserAlerts hides the alerts about the same sandbox and its workspace, and no others.
func TestContradictionStandsForLesserAlerts(t *testing.T) {
	s := beginContradiction(t, unhealthyRule, vanishedRule, failedRule)
	s.boxOf("c2", func(b *backend.Sandbox) { b.Workspace = backend.MustID("other") })
	s.checks("c1", noWorkDir, s.failing(0, 40*time.Minute))
	for k, b := range s.sandboxes {
		if k.ID.Raw() == "c1" {
			b.Workspace, b.Health = backend.MustID("box"), backend.Known(backend.Text("unhealthy"))
		}
	}
	s.reads("a/box", reading{state: "failed", err: "chdir to cwd failed", attempt: time.Hour, success: 2 * time.Hour})
	id := s.look().want(contradictionRule, alerts.StateFiring).ID
	for _, rule := range []string{unhealthyRule, vanishedRule, failedRule} {
		for _, a := range s.alerts(rule) {
			if a.InhibitedBy != id {
				t.Errorf("%s is part of %q", rule, a.InhibitedBy)
			}
		}
	}
	s.pass(time.Minute)
	s.reads("a/other", reading{state: "failed", err: "chdir to cwd failed", attempt: time.Hour, success: 2 * time.Hour})
	if a := s.look().want(failedRule, alerts.StateFiring); a.InhibitedBy != "" || a.SubjectCount != 2 {
		t.Errorf("another workspace that fails is hidden: %+v", a)
	}
}

// TestContradictionOfMany: from five sandboxes with one fault they are one incident; each keeps its alert behind it.
func TestContradictionOfMany(t *testing.T) {
	for _, n := range []int{4, 5, 3000} {
		s := beginContradiction(t)
		s.plainly = n > 100
		for i := range n {
			s.boxOf(fmt.Sprintf("c%d", i+1), nil)
			s.observes(fmt.Sprintf("c%d", i+1), failed(backend.PlaneList, backend.FailWorkDirMissing, s.wall))
		}
		s.boxOf("frozen", nil)
		s.observes("frozen", failed(backend.PlaneDriver, backend.FailServerFrozen, s.wall))
		s.look()
		shown, hidden, incidents := 0, 0, 0
		for _, a := range s.alerts(contradictionRule) {
			switch {
			case len(a.Subjects) > 1:
				incidents++
				if a.SubjectCount != n || a.Inhibits != n || !strings.Contains(a.Cause.String(), "many sandboxes at once") {
					t.Errorf("%d: incident %d subjects, stands for %d: %s", n, a.SubjectCount, a.Inhibits, a.Cause)
				}
			case a.Hidden():
				hidden++
			default:
				shown++
			}
		}
		if n < 5 && (shown != n+1 || incidents != 0) || n >= 5 && (shown != 1 || hidden != n || incidents != 1) {
			t.Errorf("%d: %d shown, %d hidden, %d incidents", n, shown, hidden, incidents)
		}
		if n > 100 {
			continue
		}
		s.pass(time.Minute)
		for i := range n {
			s.observes(fmt.Sprintf("c%d", i+1), passed(backend.PlaneList, s.wall))
		}
		if s.look(); len(s.alerts(contradictionRule)) != 1 {
			t.Errorf("%d: %d alerts stay", n, len(s.alerts(contradictionRule)))
		}
	}
}

// TestContradictionOfAContainerThatIsDown: its session runs on and its registry says open.
func TestContradictionOfAContainerThatIsDown(t *testing.T) {
	down := map[string]func(*story) func(*backend.Sandbox){
		"ended with exit code 3":         func(s *story) func(*backend.Sandbox) { return crashed(s, 3, 0) },
		"was killed at its memory limit": func(s *story) func(*backend.Sandbox) { return killedBefore(s, 0) },
		"could not start":                func(s *story) func(*backend.Sandbox) { return refused(s, 0) },
	}
	runs := func(s *story) {
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		s.reads("a/box", reading{state: "open", attempt: time.Hour, success: time.Hour})
	}
	for words, how := range down {
		s := beginContradiction(t, exitedRule, startRule, boxOOMRule)
		s.look().quiet(contradictionRule)
		s.pass(time.Second)
		s.boxOf("c1", how(s))
		s.look().want(contradictionRule, alerts.StatePending)
		s.every(5*time.Second, time.Minute, func() { runs(s) })
		a := s.want(contradictionRule, alerts.StateFiring)
		if !strings.Contains(a.Cause.String(), " lists its workspace as open, but its container "+words) {
			t.Errorf("cause %s", a.Cause)
		}
		for _, rule := range []string{exitedRule, startRule, boxOOMRule} {
			for _, x := range s.alerts(rule) {
				if x.InhibitedBy != a.ID {
					t.Errorf("%s: %s is not part of it", words, rule)
				}
			}
		}
		s.reads("a/box", reading{state: "failed", err: "container is not running", attempt: time.Second, success: time.Hour})
		if b := s.after(time.Minute).want(contradictionRule, alerts.StateFiring); b.ID != a.ID || !b.Since.Equal(a.Since) {
			t.Errorf("%s: another status makes another alert: %+v", words, b)
		}
		s.boxOf("c1", func(b *backend.Sandbox) {
			b.StartedAt, b.Class, b.Reported, b.StartError = backend.Known(s.wall), backend.SandboxRunning, backend.Text("running"), backend.Safe{}
			b.ExitCode, b.OOMKilled = backend.NotApplicable[int](), backend.Known(false)
		})
		s.after(time.Minute).quiet(contradictionRule)
	}
	for name, edit := range map[string]func(s *story){
		"its registry says that it failed": func(s *story) {
			s.boxOf("c1", crashed(s, 3, 0))
			s.reads("a/box", reading{state: "failed", err: "container is not running", attempt: time.Second, success: time.Hour})
		},
		"it was stopped": func(s *story) { s.boxOf("c1", crashed(s, 143, 0)) },
		"it ended well":  func(s *story) { s.boxOf("c1", crashed(s, 0, 0)) },
		"it was replaced": func(s *story) {
			s.boxOf("c1", crashed(s, 3, 0))
			s.boxOf("c2", func(b *backend.Sandbox) { b.StartedAt = backend.Known(s.wall) })
		},
		"nothing runs": func(s *story) {
			s.boxOf("c1", crashed(s, 3, 0))
			s.session("a", func(x *backend.Session) { x.Running, x.ListedRunning = backend.Known(false), backend.Known(false) })
		},
		"it never started": func(s *story) {
			s.boxOf("c1", func(b *backend.Sandbox) { refused(s, 0)(b); b.StartError = backend.Safe{} })
		},
	} {
		s := beginContradiction(t)
		s.look()
		s.pass(time.Second)
		edit(s)
		s.look()
		for range 6 {
			s.after(20 * time.Second)
			if len(s.alerts(contradictionRule)) > 0 {
				t.Errorf("%s: %s", name, s.alerts(contradictionRule)[0].Cause)
			}
		}
	}
}

// TestContradictionOfARemovedContainer: a registry says open over a container that its engine does not list any more.
func TestContradictionOfARemovedContainer(t *testing.T) {
	open := func(s *story) {
		for _, name := range []string{"box", "other"} {
			s.reads("a/"+name, reading{state: "open", attempt: time.Hour, success: time.Hour, edit: func(w *backend.Workspace) {
				w.Provider, w.ProviderID = backend.Text("docker"), backend.MustID("c1")
				if name == "other" {
					w.ProviderID = backend.MustID("c2")
				}
			}})
		}
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	}
	both := func(s *story) *story {
		s.boxOf("c2", func(b *backend.Sandbox) { b.Workspace = backend.MustID("other") })
		open(s)
		return s
	}
	s := both(beginContradiction(t))
	s.look().quiet(contradictionRule)
	s.pass(5 * time.Second)
	s.boxGone("c1")
	s.look()
	s.every(5*time.Second, time.Minute, func() { open(s) })
	a := s.want(contradictionRule, alerts.StateFiring)
	if a.Subjects[0].Key != wsKey("a/box") || a.Source != "helix" || !strings.Contains(a.Cause.String(), " lists it as open, but its container is gone") {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "reported: helix lists workspace a/box as open", "observed: docker lists no container c1; it left the list at 12:00:05Z")
	s.down("docker", "connection refused")
	s.after(time.Second).want(contradictionRule, alerts.StateHeld)
	s.up("docker")
	s.after(time.Second).want(contradictionRule, alerts.StateFiring)
	s.restart()
	open(s)
	s.after(5*time.Second).want(contradictionRule, alerts.StateFiring)
	s.boxOf("c3", func(b *backend.Sandbox) { b.StartedAt = backend.Known(s.wall) })
	s.after(time.Second).quiet(contradictionRule)

	s = both(beginContradiction(t)) // a cold start: only the registry names it
	s.boxOf("c1", func(b *backend.Sandbox) { b.Session, b.IsSandbox = backend.ID{}, false })
	delete(s.sandboxes, backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("c1")})
	s.look().want(contradictionRule, alerts.StatePending)
	s.every(5*time.Second, time.Minute, func() { open(s) }).want(contradictionRule, alerts.StateFiring)

	s = both(beginContradiction(t)) // the registry closes it with its container
	s.look()
	s.pass(5 * time.Second)
	s.boxGone("c1")
	s.look()
	s.pass(10 * time.Second)
	s.reads("a/box", reading{state: "closed", attempt: time.Hour, success: time.Hour})
	s.look()
	s.every(5*time.Second, time.Minute, nil).quiet(contradictionRule)
}

// contradictionLimits are how long a session goes on after its container, and how many commands must not end.
var contradictionLimits = []limit{
	{contradictionRule, func(t *testing.T, at bool) *story {
		s := beginContradiction(t)
		s.look()
		s.boxOf("c1", crashed(s, 3, 0))
		s.look()
		s.pass(short(30*time.Second, at))
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		return s.look()
	}},
	{contradictionRule, func(t *testing.T, at bool) *story {
		s := beginContradiction(t)
		for range int(below(2, at)) {
			s.pass(time.Second)
			s.observes("c1", failed(backend.PlaneExec, backend.FailExecTimeout, s.wall))
			s.look()
		}
		return s
	}},
	{contradictionRule, func(t *testing.T, at bool) *story {
		s := beginContradiction(t)
		s.reads("a/box", reading{state: "open", attempt: time.Hour, success: time.Hour, edit: func(w *backend.Workspace) { w.Provider = backend.Text("docker") }})
		s.look()
		s.pass(5 * time.Second)
		s.boxGone("c1")
		s.look()
		s.pass(short(30*time.Second, at))
		s.reads("a/box", reading{state: "open", attempt: time.Hour, success: time.Hour, edit: func(w *backend.Workspace) { w.Provider = backend.Text("docker") }})
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		return s.look()
	}},
}

// TestContradictionWhoseSessionIsReadLater: which source answers first does not matter, and what is read of a container need not
// change after it.
func TestContradictionWhoseSessionIsReadLater(t *testing.T) {
	s := begin(t, contradictionRule, exitedRule)
	s.source("docker", backend.InputContainers)
	s.boxOf("c1", crashed(s, 3, time.Hour))
	s.look().quiet(contradictionRule)
	s.pass(5 * time.Second)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.look().want(contradictionRule, alerts.StateFiring)
	s.want(exitedRule, alerts.StateFiring)

	s = begin(t, contradictionRule)
	s.source("docker", backend.InputContainers)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.reads("a/box", reading{state: "failed", err: "no container", attempt: time.Minute})
	s.boxOf("c1", crashed(s, 3, time.Hour))
	s.look().quiet(contradictionRule)
	s.pass(5 * time.Second)
	s.reads("a/box", reading{state: "open", attempt: time.Second, success: time.Second})
	s.look().want(contradictionRule, alerts.StateFiring)
}

// TestContradictionOfASuccessWithoutAContainer: a container that ended well is none. One that never started is one where its registry
// tells a success of its workspace since, and no other container runs for it.
func TestContradictionOfASuccessWithoutAContainer(t *testing.T) {
	well := func(s *story) func(*backend.Sandbox) { return crashed(s, 0, 10*time.Minute) }
	stopped := func(s *story) func(*backend.Sandbox) { return crashed(s, 143, 10*time.Minute) }
	never := func(s *story) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) {
			b.Class, b.Reported, b.CreatedAt, b.StartedAt = backend.SandboxCreated, backend.Text("created"), ago(s.wall, 10*time.Minute), backend.Unknown[time.Time]()
		}
	}
	for name, how := range map[string]func(*story) func(*backend.Sandbox){"ended well": well, "stopped": stopped, "never started": never} {
		for success, fires := range map[time.Duration]bool{time.Hour: false, time.Minute: true} {
			for _, other := range []bool{false, true} {
				s := beginContradiction(t)
				s.reads("a/box", reading{state: "open", attempt: success, success: success})
				s.boxOf("c1", how(s))
				if other {
					s.boxOf("c2", nil)
				}
				s.look()
				if got := len(s.alerts(contradictionRule)) > 0; got != (fires && !other && name == "never started") {
					t.Errorf("%s, success %v ago, another %t: told %t", name, success, other, got)
				}
			}
		}
	}
}
