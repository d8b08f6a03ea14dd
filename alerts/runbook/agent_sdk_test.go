package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestPagesOfAnAgentSDK: what an alert about an agent's snapshots, its terminals or a sandbox that answers after its end concludes.
func TestPagesOfAnAgentSDK(t *testing.T) {
	for _, c := range []struct{ rule, cause, check, concludes, first string }{
		{"reaped-soon", "it sleeps, and its platform removes it within 15m", "reaped", "Its platform removes it soon", "Save its files: sandglass rescue b. That wakes it"},
		{"reaped-soon", "it sleeps, and its platform should have removed it", "reaped", "Its platform should have removed it, and lists it still.", "Save its files: sandglass rescue b. That wakes it"},
		{"sandbox-expiring", "a session runs on it: its policy of 1h without use", "expiring", "Its platform removes it soon. A session runs on it", "Save its files: sandglass rescue b. That is a use of it"},
		{"sandbox-expiring", "a session runs on it: its ttl of 1h from creation", "expiring", "Its platform removes it soon. A session runs on it", "Save its files: sandglass rescue b. Or let"},
		{"sandbox-expiring", "a session may run on it, and its platform removes it soon", "expiring", "Its platform removes it soon. A session may run on it", "Save its files: sandglass rescue b. Or let"},
		{"snapshot-interrupted", "a save of its files was cut off: the archive is still in /tmp", "interrupted", "A snapshot did not end well: a save of its files was cut off", "Rescue the files first: sandglass rescue"},
		{"snapshot-interrupted", "a restore of its files was cut off: part of them may be missing", "interrupted", "A restore did not end well", "Rescue what was written since"},
		{"snapshot-interrupted", "an archive of another session's save or restore is in its /tmp", "interrupted", "Its /tmp holds an archive of another session. Nothing", "Read whose it is"},
		{"snapshot-interrupted", "a drive that its saved state declares is not mounted", "interrupted", "A drive of its session is not mounted: its page names", "Rescue what was written at its path"},
		{"runaway-process", "a command runs past its timeout: its agent gave it up, the process did not", "runaway", "A process in it runs on without its agent", "Ask it to end: sandglass stop-process"},
		{"runaway-process", backend.StartRunsOn, "runaway", "A process in it runs long: the command that makes the root", "Ask it to end: sandglass stop-process"},
		{"runaway-process", backend.RunsLong, "runaway", "A process in it runs long", "Ask it to end: sandglass stop-process"},
		{"package-missing", "the extra blaxel of the OpenAI Agents SDK is not installed where the agent runs: pip install 'openai-agents[blaxel]'", "package", "Its agent lacks a package for its sandboxes: the extra blaxel", "Install it where the agent runs"},
		{"pty-pressure", "its agent has nearly as many terminals open as the SDK keeps", "terminals", "Its agent keeps too many terminals open.", "Let the agent end what it does not need."},
		{"pty-failed", "a terminal of an agent could not be used: it took no input", "terminal-fails", "Terminals of its agent fail.", "Read what a terminal needs"},
		{"contradiction", "reported TERMINATED, but / of it was listed since", "answers", "It answers, although it is reported to have ended.", "Save its files now: sandglass rescue b."},
		{"contradiction", "its agent takes it for not running, but a command ran in it", "believed", "Its agent gave it up, and it is there.", "Probe it: sandglass probe b. That wakes it"},
		{"contradiction", "its agent takes it for running, but its status is TERMINATED", "believed", "It is gone, and its agent does not know.", "Stop the agent's run where it was started."},
		{"contradiction", "its session runs, but it is DEPLOYED, disabled and refuses connections", "unusable", "Its platform took it out of use under a running session.", "Stop the agent's run until it is back"},
		{"contradiction", "reported DEPLOYED RUNNING, but nothing in it answered a probe: its server did not answer within 10s", "unusable", "It is reported to run, and nothing in it answers.", "Probe it once more: sandglass probe b."},
		{"contradiction", "reported DEPLOYED RUNNING, but nothing in it answered a probe: " + backend.NoInstance + " for 57s: answered 404", "unusable", "Its platform knows it, and none of it is ready.", "Probe it once more: sandglass probe b. If it answers, it woke slowly."},
	} {
		a := &alerts.Alert{ID: "x", Rule: c.rule, Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Clean(c.cause, 200), Confirmed: now,
			Subjects: []alerts.Subject{{Key: sbKey("b"), Detail: backend.Clean(c.cause, 200)}}, SubjectCount: 1}
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
			if c.rule == "runaway-process" { // it was read
				b.Observed = b.WithObserved([]backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: now, Inside: &backend.Inside{At: now, Answered: true,
					Processes: []backend.SandboxProcess{{PID: backend.Text("7"), Class: backend.WorkRunning}}}}}).Observed
			}
		})}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
		d := w.page(a)
		want(t, d, map[string]Mark{c.check: Confirmed})
		for _, k := range d.Knobs {
			if k.Knob.Name.String() != "pause_on_exit" {
				t.Errorf("%s: a setting of another platform: %s", c.rule, k.Knob.Name)
			}
		}
		if !strings.HasPrefix(d.Conclusion.String(), c.concludes) || len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), c.first) {
			t.Errorf("%s: %s: %v", c.rule, d.Conclusion, d.Do)
		}
	}
}

// TestTheRunawayIsNamedInItsSteps: of several processes the commands name the one of the alert, and one that was asked to end in vain
// is not asked again.
func TestTheRunawayIsNamedInItsSteps(t *testing.T) {
	process := func(pid, reported string) backend.SandboxProcess {
		return backend.SandboxProcess{PID: backend.Clean(pid, 9), Reported: backend.Clean(reported, 20), Class: backend.WorkRunning}
	}
	over := process("9", "completed")
	over.Class = backend.WorkSucceeded
	for _, c := range []struct {
		name      string
		processes []backend.SandboxProcess
		first     string
	}{
		{"alone", []backend.SandboxProcess{process("12", "running"), over}, "Ask it to end: sandglass stop-process b. It is billed"},
		{"of two", []backend.SandboxProcess{process("7", "running"), process("12", "running")}, "Ask it to end: sandglass stop-process b --process 12. It is billed"},
		{"asked before", []backend.SandboxProcess{process("7", "running"), process("12", "stopped")}, "It was asked to end and runs on. Kill it: sandglass kill-process b --process 12. Its"},
		{"another was asked", []backend.SandboxProcess{process("7", "stopped"), process("12", "running")}, "Ask it to end: sandglass stop-process b --process 12. It is billed"},
	} {
		a := &alerts.Alert{ID: "x", Rule: "runaway-process", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Confirmed: now,
			Cause:    backend.Text("a command runs past its timeout: its agent gave it up, the process did not"),
			Subjects: []alerts.Subject{{Key: sbKey("b"), Detail: backend.Text("process 12 x (sleep 900), started at 12:00:00Z")}}, SubjectCount: 1}
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Reported = backend.Text("blaxel"), backend.Text("DEPLOYED RUNNING")
			b.Observed = backend.Known(backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: now,
				Inside: &backend.Inside{At: now, Processes: c.processes}}}})
		})}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
		if d := w.page(a); len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), c.first) {
			t.Errorf("%s: %v", c.name, d.Do)
		}
	}
}

// TestPage3WeighsWhatAnAgentSDKHolds: unread output of terminals and the archive of a snapshot are in the agent's memory.
func TestPage3WeighsWhatAnAgentSDKHolds(t *testing.T) {
	died := lines("app-log", backend.MetricAgentOOM, "s1", 1)
	none := world{sessions: []*backend.Session{session("s1", true)}, counts: died}.diagnose("3", sessionKey("s1"))
	want(t, none, map[string]Mark{"snapshot": CannotTell})
	for check, c := range map[string]struct {
		metric backend.Metric
		step   string
	}{"pty-output": {backend.MetricPTYCount, "Let the agent read or end its terminals."}, "snapshot": {backend.MetricPersistDone, "Keep large files out of snapshots."}} {
		d := world{sessions: []*backend.Session{session("s1", true)}, counts: append(lines("app-log", c.metric, "s1", 1), died...)}.diagnose("3", sessionKey("s1"))
		want(t, d, map[string]Mark{check: Confirmed})
		advises := func(d Diagnosis) bool {
			for _, do := range d.Do {
				if strings.HasPrefix(do.String(), c.step) {
					return true
				}
			}
			return false
		}
		if !advises(d) || advises(none) {
			t.Errorf("%s: %v; without: %v", check, d.Do, none.Do)
		}
	}
}

// TestPagesKnowTheSessionOfASavedState: a page joins a sandbox to the session whose saved state names it, as its alert does, and says of
// its end what that state says. Session states of an agent SDK have no schemaVersion, and that tells nothing of a release.
func TestPagesKnowTheSessionOfASavedState(t *testing.T) {
	const id = "a0000000-0009-4000-8000-000000000000"
	for name, c := range map[string]struct {
		runs      bool
		pause     backend.Value[bool]
		made      time.Duration
		page      string
		checks    map[string]Mark
		concludes string
	}{
		"kept":     {false, backend.Known(true), 3 * time.Hour, "4", map[string]Mark{"over": Confirmed, "up": Confirmed, "kept": Confirmed, "destroy-on-close": RuledOut}, "It is kept after its session. Something prevents standby"},
		"leaked":   {false, backend.Known(false), 3 * time.Hour, "4", map[string]Mark{"over": Confirmed, "up": Confirmed, "kept": RuledOut, "destroy-on-close": Confirmed}, "It leaked: the end of its session should have deleted it."},
		"used":     {true, backend.Known(true), 3 * time.Hour, "4", map[string]Mark{"over": RuledOut}, "It is in use"},
		"replaced": {true, backend.Known(true), 10 * time.Minute, "6", map[string]Mark{"newer": Confirmed}, "agents-a00000000009 was created at"},
	} {
		w := world{sessions: []*backend.Session{session(id, c.runs)},
			sandboxes: []*backend.Sandbox{box("agents-a00000000009", "", func(b *backend.Sandbox) {
				b.Provider, b.Power, b.Reported, b.CreatedAt = backend.Text("blaxel"), backend.Text("RUNNING"), backend.Text("DEPLOYED RUNNING"), at(c.made)
			})},
			saved: []*backend.Ref{savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
				r.Sandbox, r.SavedAt, r.Provider = backend.MustID("agents-a00000000009"), at(time.Hour), backend.Text("blaxel")
				r.Agent = &backend.AgentState{PauseOnExit: c.pause}
			})}}
		if name != "replaced" {
			w.saved[0].SavedAt = at(10 * time.Minute)
		}
		d := w.diagnose(c.page, sbKey("agents-a00000000009"))
		want(t, d, c.checks)
		if !strings.HasPrefix(d.Conclusion.String(), c.concludes) || anyHas(d.Do, "round 4") {
			t.Errorf("%s: %s: %v", name, d.Conclusion, d.Do)
		}
		for _, k := range d.Knobs {
			if k.Knob.Name.String() == "pause_on_exit" && k.Current.String() == NotDeclared {
				t.Errorf("%s: pause_on_exit is %s", name, k.Current)
			}
		}
	}
}

// TestPagesOfALogsAlertKnowItsSession: an alert of log lines names its session by the log, and its page looks for it where it is listed. A
// log about the platform of its sandbox alone is read too; what is kept of its files the saved state tells.
func TestPagesOfALogsAlertKnowItsSession(t *testing.T) {
	const id = "a0000000-0009-4000-8000-000000000000"
	w := world{sessions: []*backend.Session{session(id, true)},
		sandboxes: []*backend.Sandbox{box("agents-a00000000009", "", func(b *backend.Sandbox) { b.Provider, b.CreatedAt = backend.Text("blaxel"), at(3*time.Hour) })},
		saved: []*backend.Ref{savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
			r.Sandbox, r.SavedAt, r.Provider = backend.MustID("agents-a00000000009"), at(time.Hour), backend.Text("blaxel")
			r.Agent = &backend.AgentState{Snapshot: backend.Text("noop")}
		})}, counts: lines("app-log", backend.MetricPersistFailed, id, 1)}
	d := w.diagnose("2", backend.Key{Kind: backend.KindSession, Source: "app-log", ID: backend.MustID(id)})
	want(t, d, map[string]Mark{"durability": RuledOut})
	for _, c := range d.Checks {
		for _, no := range []string{"is not listed", "no list ever named", "no log source is read"} {
			if strings.Contains(c.Fact.String(), no) {
				t.Errorf("%s: %s", c.Question, c.Fact)
			}
		}
	}
}

// TestSettingsOfAnAgentSDK: the page of lost files names those of its client and no directory of a host; one that is being removed says so,
// and that the end of its session does not where the saved state keeps it.
func TestSettingsOfAnAgentSDK(t *testing.T) {
	const id = "a0000000-0009-4000-8000-000000000000"
	settings := func(d Diagnosis) string {
		var out []string
		for _, k := range d.Knobs {
			out = append(out, k.Knob.Name.String()+" "+k.Current.String())
		}
		return strings.Join(out, "; ")
	}
	made := func(class backend.SandboxClass, reported backend.Literal) world {
		return world{sessions: []*backend.Session{session(id, true)},
			sandboxes: []*backend.Sandbox{box("agents-a00000000009", "", func(b *backend.Sandbox) {
				b.Provider, b.Region, b.CreatedAt, b.Class, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), at(3*time.Hour), class, backend.Text(reported)
			})},
			saved: []*backend.Ref{savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
				r.Sandbox, r.SavedAt, r.Provider = backend.MustID("agents-a00000000009"), at(time.Hour), backend.Text("blaxel")
				r.Agent = &backend.AgentState{Snapshot: backend.Text("noop"), PauseOnExit: backend.Known(true)}
			})}}
	}
	if got := settings(made(backend.SandboxRunning, "DEPLOYED RUNNING").diagnose("2", sbKey("agents-a00000000009"))); got != "snapshot noop; pause_on_exit true" {
		t.Error(got)
	}
	w := made(backend.SandboxRemoving, "DELETING")
	w.board = &alerts.Board{Alerts: []*alerts.Alert{{ID: "x", Rule: "contradiction", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Text("reported DELETING, but / of it was listed since"),
		Confirmed: now, Subjects: []alerts.Subject{{Key: sbKey("agents-a00000000009")}}, SubjectCount: 1}}}
	d := w.page(w.board.Alerts[0])
	if got := settings(d); !strings.HasPrefix(d.Conclusion.String(), "It answers still: reported DELETING") || got != "pause_on_exit true: the end of its session does not delete it" {
		t.Errorf("%s: %s", d.Conclusion, got)
	}
}

// TestSettingsOfAReferenceAreThoseOfItsState, also where nothing lists its sandbox: the page says of pause_on_exit what the state says.
func TestSettingsOfAReferenceAreThoseOfItsState(t *testing.T) {
	const id = "a0000000-0009-4000-8000-000000000000"
	for want, pause := range map[string]backend.AgentState{
		"snapshot noop; pause_on_exit false, the default: the saved state does not name it": {PauseOnExit: backend.Known(false), PauseDefault: true},
		"snapshot noop; pause_on_exit false":                                                {PauseOnExit: backend.Known(false)},
		"snapshot noop; pause_on_exit true":                                                 {PauseOnExit: backend.Known(true)},
	} {
		pause.Snapshot = backend.Text("noop")
		other := savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
			r.Key.ID, r.Provider, r.Sandbox = backend.MustID("other"), backend.Text("blaxel"), backend.MustID("agents-b00000000009")
			r.Agent = &backend.AgentState{Snapshot: backend.Text("local"), PauseOnExit: backend.Known(true)}
		})
		r := savedRef(id, backend.NotApplicable[int](), func(r *backend.Ref) {
			r.Provider, r.Sandbox, r.SavedAt, r.Agent = backend.Text("blaxel"), backend.MustID("agents-a00000000009"), at(time.Hour), &pause
		})
		var got []string
		for _, k := range (world{sessions: []*backend.Session{session(id, true)}, saved: []*backend.Ref{r, other}}).diagnose("2", r.Key).Knobs {
			if name := k.Knob.Name.String(); name == "pause_on_exit" || name == "snapshot" {
				got = append(got, name+" "+k.Current.String())
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

// TestNoProbeIsAskedForAfterOne: a sandbox that its agent gave up is to be probed only where no probe looked into it.
func TestNoProbeIsAskedForAfterOne(t *testing.T) {
	for _, probed := range []bool{false, true} {
		a := &alerts.Alert{ID: "x", Rule: "contradiction", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Text("its agent takes it for not running, but a command ran in it"),
			Confirmed: now, Subjects: []alerts.Subject{{Key: sbKey("b")}}, SubjectCount: 1}
		w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a}}, sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Reported = backend.Text("blaxel"), backend.Text("DEPLOYED RUNNING")
			if probed {
				b.Observed = backend.Known(backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: now, Inside: &backend.Inside{At: now, Answered: true}}}})
			}
		})}}
		d := w.page(a)
		if first := d.Do[0].String(); strings.HasPrefix(first, "Probe it: sandglass probe b.") == probed || probed && !strings.HasPrefix(first, "Let the agent resume its session.") {
			t.Errorf("probed %v: %v", probed, d.Do)
		}
	}
}
