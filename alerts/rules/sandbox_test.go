package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	boxOOMRule    = "sandbox-oom"
	terminateRule = "wont-terminate"
)

func beginBoxes(t testing.TB, rule string) *story {
	s := begin(t, rule)
	s.source("docker", backend.InputContainers)
	return s
}

// killedBefore is a container that was killed for memory some time ago and stayed down.
func killedBefore(s *story, ago time.Duration) func(*backend.Sandbox) {
	at := s.wall.Add(-ago)
	return func(b *backend.Sandbox) {
		b.Class, b.Reported, b.OOMKilled, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Text("exited"), backend.Known(true), backend.Known(137), backend.Known(at)
	}
}

func TestSandboxOOMColdStart(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.box("c1", "a", killedBefore(s, 41*time.Minute))
	s.box("c2", "b", killedBefore(s, 5*time.Minute))
	s.session("over", func(x *backend.Session) { x.Running, x.Answer = backend.Known(false), backend.AnswerIdle })
	s.box("c3", "over", killedBefore(s, 3*time.Hour)) // history: its session is over
	s.box("c5", "a", killedBefore(s, 25*time.Hour))   // history: more than a day ago
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.box("c4", "", nil)
	s.box("other", "", func(b *backend.Sandbox) { killedBefore(s, time.Minute)(b); b.IsSandbox = false })
	a := s.look().want(boxOOMRule, alerts.StateFiring)
	if a.SubjectCount != 2 || a.Sessions != 2 || a.Bounds.Latest != s.wall.Add(-41*time.Minute) {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "2 sandboxes: killed at its memory limit", "helix-c1: killed at its memory limit at 11:19:00Z; it is down")
	s.after(20 * time.Minute)
	if a := s.want(boxOOMRule, alerts.StateFiring); a.SubjectCount != 2 {
		t.Errorf("after an hour %+v", a.Subjects)
	}
	s.boxGone("c1")
	s.boxGone("c2")
	s.after(time.Second).want(boxOOMRule, alerts.StateEnded)
}

func TestSandboxOOMDoesNotFireForAnOrdinaryKill(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.box("stopped", "a", func(b *backend.Sandbox) { killedBefore(s, time.Minute)(b); b.OOMKilled = backend.Known(false) })
	s.look().quiet(boxOOMRule)
	s.box("stopped", "a", func(b *backend.Sandbox) { b.OOMKilled = backend.Unknown[bool]() })
	s.after(time.Second).quiet(boxOOMRule) // what an engine does not tell is not guessed
}

func TestSandboxOOMIsRememberedWhenItRunsAgain(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.box("c1", "a", nil)
	s.look()
	for range 2 {
		s.pass(5 * time.Minute)
		s.box("c1", "a", killedBefore(s, 0))
		s.look()
		s.pass(2 * time.Second)
		s.box("c1", "a", func(b *backend.Sandbox) {
			b.Class, b.OOMKilled, b.ExitCode = backend.SandboxRunning, backend.Known(false), backend.NotApplicable[int]()
		})
		s.look()
	}
	a := s.want(boxOOMRule, alerts.StateFiring)
	wantEvidence(t, a, "killed at its memory limit 2 times, the last at 12:10:02Z; it runs again")
	s.wantHeldThenBack(boxOOMRule, "docker", func() { s.box("c1", "a", nil) })
	s.wantSameAfterRestart(boxOOMRule, "docker", func() { s.box("c1", "a", nil) })
	s.after(time.Hour).quiet(boxOOMRule)
}

func TestSandboxOOMByTheEventAlone(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.box("c1", "a", nil)
	s.look().quiet(boxOOMRule)
	s.pass(time.Second)
	s.happened = []backend.Event{{Kind: backend.EventPlatform, At: s.wall, Source: "docker", Subject: boxKey("c1"), Name: "oom"}}
	s.box("c1", "a", func(b *backend.Sandbox) { b.RestartCount = backend.Known(1) })
	wantEvidence(t, s.look().want(boxOOMRule, alerts.StateFiring), "it runs again", "restarted 1 time")
}

func TestSandboxNearItsLimit(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	uses := func(mem int64) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) {
			b.Usage = backend.Known(backend.Usage{At: s.wall, Mem: backend.Known(mem), MemLimit: backend.Known[int64](1e9)})
		}
	}
	s.box("c1", "a", uses(97e7))
	s.look().want(boxOOMRule, alerts.StatePending)
	s.pass(time.Minute)
	s.box("c1", "a", uses(5e8))
	s.look().quiet(boxOOMRule)
	for range 4 {
		s.pass(time.Minute)
		s.box("c1", "a", uses(99e7))
		s.look()
	}
	a := s.want(boxOOMRule, alerts.StateFiring)
	if a.Cause.String() != "near its memory limit" {
		t.Errorf("cause %q", a.Cause)
	}
	wantEvidence(t, a, "990 MB of its limit of 1 GB")
	b := begin(t, boxOOMRule)
	b.look()
	if why := b.blindWhy(boxOOMRule, ""); why != "no configured source reports container states" {
		t.Errorf("blind because %q", why)
	}
}

// TestSandboxKilledWhenNearlyFull is about a platform that tells an exit code and the most that was used in a span: both together
// are evidence, and no proof.
func TestSandboxKilledWhenNearlyFull(t *testing.T) {
	begins := func(used int64, ago time.Duration) *story {
		s := beginBoxes(t, boxOOMRule)
		measured := backend.Known(backend.Usage{At: s.wall.Add(-ago), Over: 5 * time.Minute, Mem: backend.Known(used), MemLimit: backend.Known[int64](1e9)})
		for range 4 { // however often it is read: the most in a span is not what it uses on and on
			s.box("c1", "a", func(b *backend.Sandbox) {
				b.Usage, b.OOMKilled, b.MemLimit = measured, backend.Unknown[bool](), backend.Known[int64](1e9)
			})
			s.look().quiet(boxOOMRule)
			s.pass(30 * time.Second)
		}
		s.box("c1", "a", func(b *backend.Sandbox) {
			b.Usage, b.OOMKilled, b.MemLimit = measured, backend.Unknown[bool](), backend.Known[int64](1e9)
			b.Class, b.ExitCode, b.FinishedAt = backend.SandboxDead, backend.Known(137), backend.Known(s.wall.Add(-time.Second))
		})
		return s.look()
	}
	s := begins(98e7, time.Minute)
	a := s.want(boxOOMRule, alerts.StatePending)
	if a.Cause.String() != "killed with its memory near the limit" || !strings.Contains(a.Why.String(), "the platform does not say why") {
		t.Errorf("%s: %s", a.Cause, a.Why)
	}
	wantEvidence(t, a, "it used 980 MB of 1 GB shortly before")
	s.after(time.Hour).quiet(boxOOMRule)
	begins(6e8, time.Minute).quiet(boxOOMRule)
	begins(98e7, 20*time.Minute).quiet(boxOOMRule)
}

// beginSession begins with one container whose session runs, and a workspace in it.
func beginSession(t testing.TB, edit func(*backend.Workspace)) *story {
	s := beginBoxes(t, terminateRule)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.reads("a/box", reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "docker", edit: edit})
	s.box("c1", "a", func(b *backend.Sandbox) { b.Workspace = backend.MustID("box") })
	s.look().quiet(terminateRule)
	return s
}

func (s *story) rests(session string) {
	for _, w := range s.workspaces {
		if w.Key.Parent.Raw() == session {
			s.ends(w.Key.Path().Raw(), "its session is idle")
		}
	}
	s.session(session, func(x *backend.Session) { x.Running, x.Answer = backend.Known(false), backend.AnswerIdle })
}

func TestWontTerminateWhenItShouldHaveBeenDestroyed(t *testing.T) {
	s := beginSession(t, func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })
	s.every(20*time.Second, 5*time.Minute, nil)
	s.quiet(terminateRule)
	s.pass(time.Second)
	s.rests("a")
	s.every(20*time.Second, time.Minute, nil)
	a := s.want(terminateRule, alerts.StatePending)
	if !strings.Contains(a.Why.String(), "fires when it still runs at") {
		t.Errorf("why %q", a.Why)
	}
	s.every(20*time.Second, 2*time.Minute, nil)
	a = s.want(terminateRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning || a.Runbook != "4" || a.Source != "docker" || a.Subjects[0].Key != boxKey("c1") ||
		a.Cause.String() != "it should have been destroyed when its session ended" || a.Bounds.Earliest.IsZero() {
		t.Errorf("alert %+v", a)
	}
	s.every(20*time.Second, 2*time.Hour, nil)
	wantEvidence(t, s.want(terminateRule, alerts.StateFiring), "1 sandbox: at least 2", "container-hours so far")
	s.boxGone("c1")
	s.after(time.Second).want(terminateRule, alerts.StateEnded)
}

func TestWontTerminateDoesNotFire(t *testing.T) {
	for name, edit := range map[string]func(*backend.Workspace){
		"nothing is known": nil,
		"shared": func(w *backend.Workspace) {
			w.DestroyOnClose, w.ShareAcrossSessions = backend.Known(true), backend.Known(true)
		},
		"another workspace": func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(false) },
	} {
		s := beginSession(t, edit)
		s.pass(time.Second)
		s.rests("a")
		s.every(20*time.Second, 20*time.Minute, nil)
		if s.quiet(terminateRule); len(s.events) != 0 {
			t.Errorf("%s: %s", name, s.transitions())
		}
	}
	s := beginSession(t, func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })
	s.box("c1", "a", func(b *backend.Sandbox) {
		b.Labels = []backend.Field{{Name: backend.Text("keep-alive"), Value: backend.Text("1")}}
	})
	s.rests("a")
	s.every(time.Minute, 20*time.Minute, nil)
	s.quiet(terminateRule)
	s.box("c1", "a", func(b *backend.Sandbox) { b.Labels, b.Class = nil, backend.SandboxPaused })
	s.every(time.Minute, 20*time.Minute, nil)
	s.quiet(terminateRule)
}

func TestWontTerminateAfterACloseThatTimedOut(t *testing.T) {
	s := beginBoxes(t, terminateRule) // a cold start: nothing was seen of the session while it ran
	s.source("app", backend.InputEvictionLogs)
	s.session("a", func(x *backend.Session) { x.Running, x.Answer = backend.Known(false), backend.AnswerIdle })
	s.box("c1", "a", nil)
	s.lines(backend.MetricCloseTimeout, "a", 1, "workspace close timed out")
	s.lines(backend.MetricCloseTimeout, "b", 1, "workspace close timed out")
	s.look().want(terminateRule, alerts.StatePending)
	s.every(20*time.Second, 3*time.Minute, nil)
	if a := s.want(terminateRule, alerts.StateFiring); a.Cause.String() != "closing it ran into its deadline and was abandoned" {
		t.Errorf("cause %q", a.Cause)
	}
}

func TestWontTerminateAwaitingSleepIsInfo(t *testing.T) {
	s := beginSession(t, func(w *backend.Workspace) {
		w.SleepAfter, w.Provider = backend.Known(10*time.Minute), backend.Text("cloudflare-sandbox")
	})
	s.pass(time.Second)
	s.rests("a")
	s.every(20*time.Second, time.Minute, nil)
	a := s.want(terminateRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || !strings.HasPrefix(a.Subjects[0].Detail.String(), "asleep at 12:10:0") {
		t.Errorf("alert %+v, detail %s", a, a.Subjects[0].Detail)
	}
	if left := a.Subjects[0].Detail.String(); !strings.HasSuffix(left, ", in 9m") && !strings.HasSuffix(left, ", in 8m") {
		t.Errorf("the time left is not told: %s", left)
	}
	s.every(20*time.Second, 12*time.Minute, nil)
	if a := s.want(terminateRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Cause.String() != "it did not fall asleep when it was due" {
		t.Errorf("alert %+v", a)
	}
	s.box("c1", "a", func(b *backend.Sandbox) { b.Class = backend.SandboxAsleep })
	s.after(time.Second).quiet(terminateRule)
}

func TestWontTerminateCountsToSleepFromTheLastUseThatIsKnown(t *testing.T) {
	s := beginBoxes(t, terminateRule) // a cold start: the session ended before
	s.source("app", backend.InputEvictionLogs)
	s.session("a", func(x *backend.Session) {
		x.Running, x.Answer = backend.Known(false), backend.AnswerIdle
		x.Closing = []backend.WorkspaceClosing{{Workspace: "*", SleepAfter: backend.Known(4 * time.Hour)}}
	})
	s.box("c1", "a", nil) // started three hours ago
	s.look()
	s.every(20*time.Second, time.Minute, nil)
	a := s.want(terminateRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || !strings.HasPrefix(a.Subjects[0].Detail.String(), "asleep at ") {
		t.Errorf("%s, %s: %s", a.Severity, a.Cause, a.Subjects[0].Detail)
	}
}

func TestWontTerminateWhenItsSessionIsInNoList(t *testing.T) {
	s := beginBoxes(t, terminateRule)
	s.session("b", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.box("c1", "a", nil)
	s.look().quiet(terminateRule) // the list was never whole
	s.listed[backend.KindSession] = "helix"
	s.every(20*time.Second, 20*time.Minute, nil)
	if a := s.want(terminateRule, alerts.StateFiring); a.Severity != alerts.SeverityInfo || a.Cause.String() != "no list names its session" {
		t.Errorf("of a session that no list ever named it says %s: %s", a.Severity, a.Cause)
	}
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.every(20*time.Second, time.Minute, nil)
	s.quiet(terminateRule)
	s.sessionEnds("a")
	s.every(20*time.Second, time.Minute, nil)
	s.want(terminateRule, alerts.StatePending)
	s.every(20*time.Second, 10*time.Minute, nil)
	a := s.want(terminateRule, alerts.StateFiring)
	if a.Cause.String() != "its session is in no list any more" || a.Severity != alerts.SeverityWarning {
		t.Errorf("cause %q", a.Cause)
	}
	wantEvidence(t, a, "helix-c1 was started at 09:00:00Z")
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.every(20*time.Second, time.Minute, nil)
	s.quiet(terminateRule)
}

func TestWontTerminateGapAndRestart(t *testing.T) {
	s := beginSession(t, func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })
	s.pass(time.Second)
	s.rests("a")
	s.every(20*time.Second, 3*time.Minute, nil)
	s.want(terminateRule, alerts.StateFiring)
	s.wantHeldThenBack(terminateRule, "docker", func() { s.box("c1", "a", nil) })
	s.wantSameAfterRestart(terminateRule, "docker", func() { s.box("c1", "a", nil) })
	s.down("helix", "connection refused")
	s.every(20*time.Second, time.Minute, nil)
	if a := s.want(terminateRule, alerts.StateHeld); !strings.Contains(a.Why.String(), "helix is down") {
		t.Errorf("why %q", a.Why)
	}
	s.up("helix")
	s.every(20*time.Second, time.Minute, nil)
	s.want(terminateRule, alerts.StateFiring)
	b := beginBoxes(t, terminateRule) // without a session source it is not applicable
	b.health("helix", func(h *fleet.SourceHealth) { h.Inputs = []backend.Input{backend.InputTmpdirs} })
	b.listed[backend.KindSession] = "helix"
	b.box("c1", "a", nil)
	b.every(time.Minute, 20*time.Minute, nil)
	b.quiet(terminateRule)
}

func TestWontTerminateCost(t *testing.T) {
	o := terminateDefaults()
	o.CostPerHour = 0.5
	r, err := o.build()
	if err != nil {
		t.Fatal(err)
	}
	s := beginWith(t, r)
	s.source("docker", backend.InputContainers)
	s.listed[backend.KindSession] = "helix"
	for box, id := range map[string]string{"c1": "a", "c2": "b"} {
		s.session(id, func(x *backend.Session) { x.Running = backend.Known(true) })
		s.box(box, id, nil)
	}
	s.look()
	s.sessionEnds("a")
	s.sessionEnds("b")
	s.every(time.Minute, 2*time.Hour, nil)
	wantEvidence(t, s.want(terminateRule, alerts.StateFiring), "at 0.5 an hour: ", "1 for each further hour")
}

// completed is a session that its list calls completed.
func (s *story) completed(id string, closing ...backend.WorkspaceClosing) {
	s.session(id, func(x *backend.Session) {
		x.Status, x.Running, x.ListedRunning, x.Closing = backend.Text("completed"), backend.Known(false), backend.Known(false), closing
	})
}

func TestWontTerminateColdStartOfACompletedSession(t *testing.T) {
	s := beginBoxes(t, terminateRule)
	s.completed("a", backend.WorkspaceClosing{Workspace: "b*", DestroyOnClose: backend.Known(true)})
	s.box("c1", "a", func(b *backend.Sandbox) { b.Workspace = backend.MustID("box") })
	s.look().want(terminateRule, alerts.StatePending)
	s.every(20*time.Second, time.Minute, nil)
	if a := s.want(terminateRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Cause.String() != "it should have been destroyed when its session ended" {
		t.Errorf("declared: %s: %s", a.Severity, a.Cause)
	}
	for name, closing := range map[string][]backend.WorkspaceClosing{
		"nothing is declared": nil,
		"of another name":     {{Workspace: "notes", DestroyOnClose: backend.Known(true)}},
		"it is to stay":       {{Workspace: "*", DestroyOnClose: backend.Known(false)}},
	} {
		s = beginBoxes(t, terminateRule)
		s.completed("a", closing...)
		s.box("c1", "a", func(b *backend.Sandbox) { b.Workspace = backend.MustID("box") })
		s.every(20*time.Second, 20*time.Minute, nil)
		if a := s.want(terminateRule, alerts.StateFiring); a.Severity != alerts.SeverityInfo {
			t.Errorf("%s: %s: %s", name, a.Severity, a.Cause)
		}
	}
	s = beginBoxes(t, terminateRule) // one that merely rests keeps its container
	s.session("a", func(x *backend.Session) { x.Status, x.Running = backend.Text("paused"), backend.Known(false) })
	s.box("c1", "a", nil)
	s.every(20*time.Second, 20*time.Minute, nil)
	s.quiet(terminateRule)
}
