package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestTerminateFiresAtOnceOnAnOldCloseTimeout: what closed 40 minutes ago need not run on for another grace.
func TestTerminateFiresAtOnceOnAnOldCloseTimeout(t *testing.T) {
	begins := func(started time.Duration) *story {
		s := beginBoxes(t, terminateRule)
		s.session("a", func(x *backend.Session) {
			x.Running, x.StartedAt = backend.Known(false), backend.Known(s.wall.Add(-started))
		})
		s.box("c1", "a", nil)
		s.counted("logs", backend.MetricCloseTimeout, 1, func(c *backend.Count) {
			c.At, c.Series.Session = s.wall.Add(-40*time.Minute), backend.MustID("a")
		})
		return s.look()
	}
	a := begins(3*time.Hour).want(terminateRule, alerts.StateFiring)
	if !a.Bounds.Latest.Equal(noon.Add(-40 * time.Minute)) {
		t.Errorf("it was over by %v", a.Bounds.Latest)
	}
	begins(10*time.Minute).want(terminateRule, alerts.StatePending) // the line is about an earlier run
}

func TestTerminateIsBlindWhereNothingSaysHowSandboxesEnd(t *testing.T) {
	s := beginBoxes(t, terminateRule)
	blind := func() bool { return len(s.board.BlindOn("docker")) > 0 }
	s.session("a", nil)
	s.reads("a/box", reading{state: "open"})
	s.box("c1", "a", nil)
	if s.look(); !blind() {
		t.Error("neither a fact nor a log line tells, and it is not blind")
	}
	s.edit("a/box", func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(false) })
	if s.after(time.Second); blind() {
		t.Error("blind though a workspace says how it closes")
	}
	s.edit("a/box", func(w *backend.Workspace) { w.DestroyOnClose = backend.Unknown[bool]() })
	s.source("logs", backend.InputEvictionLogs)
	if s.after(time.Second); blind() {
		t.Error("blind though a log is read")
	}
	s.health("logs", func(h *fleet.SourceHealth) { h.About = []string{"other"} })
	s.health("docker", func(h *fleet.SourceHealth) { h.About = []string{"elsewhere"} })
	if s.after(time.Second); blind() {
		t.Error("without a session source it is not applicable, not blind")
	}
}

func TestTerminateLeavesAloneWhatAStoredReferenceKeeps(t *testing.T) {
	for name, quiet := range map[string]bool{"pause_on_exit": true, "keepAlive": true, "shareAcrossSessions": true, "image": false} {
		s := beginSession(t, func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })
		s.source("refs", backend.InputRefs)
		s.ref("a/saved", func(x *backend.Ref) {
			x.Workspace = backend.ID{}
			x.Extra = []backend.Field{{Name: backend.Clean(name, 40), Value: backend.Text("true")}}
		})
		s.pass(time.Second)
		s.rests("a")
		s.every(20*time.Second, 20*time.Minute, nil)
		if fires := len(s.alerts(terminateRule)) > 0; fires == quiet {
			t.Errorf("with %s in the reference: fires %v", name, fires)
		}
	}
}

// TestTerminateDoesNotTakeASilentSessionForOver: it left the list between two runs, and its own route answers 502.
func TestTerminateDoesNotTakeASilentSessionForOver(t *testing.T) {
	s := beginBoxes(t, terminateRule)
	s.source("helix", backend.InputRegistry, backend.InputSessions)
	s.order = s.order[1:] // once
	s.listed[backend.KindSession] = "helix"
	for _, id := range []string{"a", "b", "c"} {
		s.session(id, func(x *backend.Session) { x.Running = backend.Known(true) })
		s.box("box-"+id, id, nil)
	}
	s.every(10*time.Second, time.Minute, nil)
	s.off(time.Minute)
	delete(s.sessions, sessionKey("a"))
	s.every(20*time.Second, 20*time.Minute, func() {
		s.unlist(backend.Unlisted{Session: backend.MustID("a"), Why: backend.Text("answered 502")})
	}).quiet(terminateRule)
	tells := false
	for _, c := range runbook.Diagnose("4", s.last, s.board, boxKey("box-a")).Checks {
		tells = tells || c.Name == "over" && c.Mark == runbook.CannotTell && strings.Contains(c.Fact.String(), "its own route cannot be read: answered 502")
	}
	if !tells {
		t.Error("the page does not say that the end is not known")
	}
	s.unlist() // it is asked no more
	s.every(20*time.Second, 20*time.Minute, nil).quiet(terminateRule)
	delete(s.sessions, sessionKey("b")) // its own route does not say that it goes on
	a := s.every(20*time.Second, 20*time.Minute, nil).want(terminateRule, alerts.StateFiring)
	if a.SubjectCount != 1 || a.Subjects[0].Key != boxKey("box-b") {
		t.Errorf("%+v", a.Subjects)
	}
}

// TestTerminateOfASandboxOfCloudflare, which its workspace joins to its session: what the workspace declares decides, that of a filestore
// which names it too.
func TestTerminateOfASandboxOfCloudflare(t *testing.T) {
	for _, provider := range []string{"cloudflare-sandbox", "cloudflare-filestore"} {
		terminateOfCloudflare(t, provider)
	}
}

func terminateOfCloudflare(t *testing.T, provider string) {
	t.Helper()
	ends := func(edit func(*backend.Workspace)) *story {
		s := beginBoxes(t, terminateRule)
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		s.reads("a/box", reading{state: "open", attempt: time.Minute, success: time.Minute, provider: provider, edit: func(w *backend.Workspace) {
			w.ProviderID = backend.MustID("c1")
			edit(w)
		}})
		s.box("c1", "a", func(b *backend.Sandbox) {
			b.Provider, b.Workspace, b.JoinedBy = backend.Text("cloudflare"), backend.MustID("box"), backend.Text("the sandbox id of its workspace")
		})
		s.look().quiet(terminateRule)
		s.rests("a")
		return s.after(3 * time.Minute)
	}
	destroyed := ends(func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })
	if a := destroyed.want(terminateRule, alerts.StateFiring); a.Cause.String() != "it should have been destroyed when its session ended" {
		t.Errorf("destroyOnClose: %s", a.Cause)
	}
	sleeps := ends(func(w *backend.Workspace) { w.SleepAfter = backend.Known(10 * time.Minute) })
	if a := sleeps.want(terminateRule, alerts.StateFiring); a.Severity != alerts.SeverityInfo || a.Cause.String() != "it waits to fall asleep" {
		t.Errorf("sleepAfter: %s %s", a.Severity, a.Cause)
	}
	if a := sleeps.after(12*time.Minute).want(terminateRule, alerts.StateFiring); a.Cause.String() != "it did not fall asleep when it was due" {
		t.Errorf("overdue: %s", a.Cause)
	}
	ends(func(w *backend.Workspace) {
		w.DestroyOnClose = backend.Known(true)
		w.Extra = []backend.Field{{Name: backend.Text("keepAlive"), Value: backend.Text("true")}}
	}).quiet(terminateRule)
}

// TestASandboxHasTimeToFallAsleep: from when its session was known to be over, and its grace. No list tells at the second that it sleeps.
func TestASandboxHasTimeToFallAsleep(t *testing.T) {
	s := beginBoxes(t, terminateRule)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.reads("a/box", reading{state: "open", attempt: time.Second, success: time.Second, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
		w.ProviderID, w.SleepAfter = backend.MustID("c1"), backend.Known(time.Minute)
	}})
	s.box("c1", "a", func(b *backend.Sandbox) {
		b.Provider, b.Workspace, b.JoinedBy = backend.Text("cloudflare"), backend.MustID("box"), backend.Text("the sandbox id of its workspace")
	})
	s.look().quiet(terminateRule)
	s.rests("a")
	s.after(8 * time.Second) // then it is known to be over
	for range 18 {           // until 3m8s
		if a := s.after(10*time.Second).want(terminateRule, alerts.StateFiring); s.wall.Before(noon.Add(3*time.Minute+8*time.Second)) && (a.Severity != alerts.SeverityInfo || a.Cause.String() != "it waits to fall asleep") {
			t.Fatalf("%s: %s %s", s.wall.Sub(noon), a.Severity, a.Cause)
		}
	}
	if a := s.after(10*time.Second).want(terminateRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Cause.String() != "it did not fall asleep when it was due" {
		t.Errorf("%s: %s %s", s.wall.Sub(noon), a.Severity, a.Cause)
	}
}

// TestTerminateOfOneThatIsKeptAlive: its expiry does nothing on Cloudflare. Once its session is over for good only a destroy ends it; that
// of a session that rests may go on, and so may one that is shared.
func TestTerminateOfOneThatIsKeptAlive(t *testing.T) {
	const cause = "it is kept alive, so that it never falls asleep: only a destroy ends it"
	for _, x := range []struct {
		status string
		listed bool // its workspace is still listed
		shared bool
		want   string
	}{{"completed", false, false, cause}, {"completed", true, false, cause}, {"closed", true, false, cause}, {"", false, false, ""}, {"completed", false, true, ""}} {
		s := beginBoxes(t, terminateRule)
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		s.reads("a/box", reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
			w.SleepAfter, w.Extra = backend.Known(10*time.Minute), []backend.Field{{Name: backend.Text("keepAlive"), Value: backend.Text("true")}}
			w.ShareAcrossSessions = backend.Known(x.shared)
		}})
		s.box("c1", "a", func(b *backend.Sandbox) { b.Provider, b.Workspace = backend.Text("cloudflare"), backend.MustID("box") })
		s.look().quiet(terminateRule)
		if !x.listed {
			s.rests("a")
		}
		s.session("a", func(y *backend.Session) {
			y.Running, y.ListedRunning, y.Status = backend.Known(false), backend.Known(false), backend.Clean(x.status, 20)
		})
		if s.every(20*time.Second, 5*time.Minute, nil); x.want == "" {
			s.quiet(terminateRule)
		} else if a := s.want(terminateRule, alerts.StateFiring); a.Cause.String() != x.want || a.Severity != alerts.SeverityWarning {
			t.Errorf("%+v: %v %s", x, a.Severity, a.Cause)
		}
	}
}

// TestTerminateOfASessionThatStillListsItsWorkspaces: at the start of Sandglass what they declare counts, as that of a session that was seen.
func TestTerminateOfASessionThatStillListsItsWorkspaces(t *testing.T) {
	s := beginBoxes(t, terminateRule)
	s.session("a", func(x *backend.Session) {
		x.Running, x.ListedRunning, x.Status = backend.Known(false), backend.Known(false), backend.Text("ended")
	})
	s.reads("a/box", reading{state: "open", attempt: time.Hour, success: time.Hour, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) }})
	s.box("c1", "a", func(b *backend.Sandbox) { b.Provider, b.Workspace = backend.Text("cloudflare"), backend.MustID("box") })
	s.look().want(terminateRule, alerts.StatePending)
	s.every(20*time.Second, time.Minute, nil)
	if a := s.want(terminateRule, alerts.StateFiring); a.Cause.String() != "it should have been destroyed when its session ended" {
		t.Errorf("%s", a.Cause)
	}
}

// TestTerminateTellsASmallCostPlainly: no share of an hour too small to be read.
func TestTerminateTellsASmallCostPlainly(t *testing.T) {
	s := beginBoxes(t, terminateRule)
	s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
	s.reads("a/box", reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) { w.SleepAfter = backend.Known(time.Hour) }})
	s.box("c1", "a", func(b *backend.Sandbox) { b.Provider, b.Workspace = backend.Text("cloudflare"), backend.MustID("box") })
	s.look().quiet(terminateRule)
	s.rests("a")
	s.after(2 * time.Second)
	a := s.every(20*time.Second, 20*time.Second, nil).want(terminateRule, alerts.StateFiring)
	if all := told(a); !strings.Contains(all, "1 sandbox: at least ") || !strings.Contains(all, "s so far") || strings.Contains(all, "hours") {
		t.Errorf("%s", all)
	}
}
