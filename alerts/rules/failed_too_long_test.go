package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	failedRule = "failed-too-long"
	quota      = "WorkspaceFailedError: max_instances reached"
)

func TestFailedWithOneAttemptFortyMinutesBackFiresAtOnce(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	a := s.look().want(failedRule, alerts.StateFiring)
	if !a.Bounds.Latest.Equal(s.wall.Add(-40*time.Minute)) || !a.Bounds.Earliest.Equal(s.wall.Add(-50*time.Minute)) {
		t.Errorf("bounds %v", a.Bounds)
	}
	if a.Severity != alerts.SeverityCritical || a.Runbook != "1" || a.Cause.String() != quota || !strings.HasPrefix(a.Fingerprint, "v3:") {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "1 workspace with this cause in 1 session", "lastError: "+quota, "a/box last succeeded at 11:10:00Z", "newest failed attempt was at 11:20:00Z")
	s.wantTransitions("firing")
}

func TestFailedHammeredForFortyMinutesFiresAMinuteLater(t *testing.T) {
	s := begin(t, failedRule)
	hammer := func() {
		s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, success: 40 * time.Minute})
	}
	success := s.wall.Add(-40 * time.Minute)
	hammer()
	a := s.look().want(failedRule, alerts.StatePending)
	if !strings.Contains(a.Why.String(), "one failed attempt is known") {
		t.Errorf("it does not say what decides: %s", a.Why)
	}
	s.every(5*time.Second, 55*time.Second, func() {
		s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, edit: func(w *backend.Workspace) { w.LastSuccessAt = backend.Known(success) }})
	})
	s.want(failedRule, alerts.StatePending)
	s.every(5*time.Second, 5*time.Second, func() {
		s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, edit: func(w *backend.Workspace) { w.LastSuccessAt = backend.Known(success) }})
	})
	s.want(failedRule, alerts.StateFiring)
	s.wantTransitions("pending firing")
}

func TestFailedManyThatShareTheCauseFireAtOnce(t *testing.T) {
	s := begin(t, failedRule)
	for i := range 3 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{
			state: "failed", err: fmt.Sprintf("WorkspaceFailedError: instance sbx_%08x is gone after %dms", i*7919+0xa0000000, i*13), attempt: 2 * time.Second,
			success: 40 * time.Minute, provider: "cloudflare-sandbox",
		})
	}
	s.reads("other/box", reading{state: "failed", err: "something else entirely", attempt: 2 * time.Second, success: 40 * time.Minute})
	s.look()
	as := s.alerts(failedRule)
	if len(as) != 2 || as[0].State != alerts.StateFiring || as[0].SubjectCount != 3 || as[0].Sessions != 3 || as[0].Providers != 1 {
		t.Fatalf("want three firing together:\n%s", summary(s.board))
	}
	if as[1].State != alerts.StatePending || as[1].SubjectCount != 1 {
		t.Fatalf("want the fourth suspected alone:\n%s", summary(s.board))
	}
}

func TestFailedManyFireOnceTheSharedLastSuccessIsOldEnough(t *testing.T) {
	s := begin(t, failedRule)
	for i := range 4 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: quota, attempt: time.Second, success: 9 * time.Minute})
	}
	s.look().want(failedRule, alerts.StatePending)
	s.after(59*time.Second).want(failedRule, alerts.StatePending)
	s.after(time.Second).want(failedRule, alerts.StateFiring) // 10m since the last success
}

func TestFailedAfterThreeIdleDaysStaysSuspected(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, success: 72 * time.Hour})
	s.look().want(failedRule, alerts.StatePending)
	s.every(time.Minute, 9*time.Minute, nil)
	s.want(failedRule, alerts.StatePending)
	s.after(time.Minute).want(failedRule, alerts.StateFiring) // now even the later bound is older than 10m
}

func TestFailedUntilLastSuccessAdvances(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	s.look().want(failedRule, alerts.StateFiring)
	s.pass(time.Minute)
	s.edit("a/box", func(w *backend.Workspace) {
		w.Reported, w.Class, w.LastError = backend.Text("opening"), backend.ClassOpening, backend.Safe{}
	})
	if a := s.look().want(failedRule, alerts.StateFiring); a.Cause.String() != quota {
		t.Errorf("the cause was lost while opening: %q", a.Cause)
	}
	s.pass(time.Minute)
	s.edit("a/box", func(w *backend.Workspace) {
		w.Reported, w.Class = backend.Text("zorp"), backend.ClassUnknown
		w.LastAttemptAt, w.LastSuccessAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time]()
	})
	s.look().want(failedRule, alerts.StateFiring) // an auto-reset that forgets the times is no success
	s.pass(time.Minute)
	s.edit("a/box", func(w *backend.Workspace) {
		w.LastAttemptAt, w.LastSuccessAt = backend.Known(s.wall), backend.Known(s.wall)
	})
	s.look().quiet(failedRule)
	s.wantTransitions("firing resolved")
}

func TestFailedHealthyAndBusyRaiseNothing(t *testing.T) {
	s := begin(t)
	s.reads("a/ok", reading{state: "zorp", attempt: time.Minute, success: time.Minute})
	s.reads("a/unused", reading{state: "new"})
	s.reads("a/first-after-idle", reading{state: "zorp", attempt: time.Second, success: 72 * time.Hour})
	s.reads("a/evicted-once", reading{state: "evicted", attempt: time.Second, success: 30 * time.Second})
	s.look()
	s.every(10*time.Second, 4*time.Minute, nil)
	s.reads("a/first-after-idle", reading{state: "zorp", attempt: time.Minute, success: time.Second})
	s.reads("a/evicted-once", reading{state: "zorp", attempt: time.Second, success: time.Second})
	s.every(10*time.Second, 10*time.Minute, nil)
	if len(s.board.Alerts) != 0 || len(s.events) != 0 {
		t.Errorf("alerts:\n%s\nevents %s", summary(s.board), s.transitions())
	}
}

func TestFailedWithoutSuccessCountsFromTheFirstAttempt(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second})
	s.reads("b/box", reading{state: "failed", err: quota, attempt: time.Second})
	s.reads("c/box", reading{state: "failed", err: quota, attempt: time.Second})
	a := s.look().want(failedRule, alerts.StatePending) // nothing says that it is older: three of them prove nothing
	if !strings.Contains(a.Why.String(), "when it began is not known") {
		t.Errorf("why: %s", a.Why)
	}
	s.every(time.Minute, 9*time.Minute, nil)
	s.want(failedRule, alerts.StatePending)
	s.after(time.Minute).want(failedRule, alerts.StateFiring)
}

func TestFailedWithoutSuccessUsesTheSessionsStart(t *testing.T) {
	s := begin(t, failedRule)
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		s.session(id, func(x *backend.Session) {
			x.StartedAt = backend.Known(s.wall.Add(-time.Hour))
			x.Tenant = backend.Clean(fmt.Sprintf("tenant-%d", i%2), 50)
		})
		s.reads(id+"/box", reading{state: "failed", err: quota, attempt: time.Second})
	}
	if a := s.look().want(failedRule, alerts.StateFiring); a.Tenants != 2 {
		t.Errorf("%d tenants, want 2", a.Tenants)
	}
}

func TestFailedRunbookFollowsTheCause(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3", attempt: time.Hour, success: 2 * time.Hour})
	if a := s.look().want(failedRule, alerts.StateFiring); a.Runbook != "6" {
		t.Errorf("runbook %s, want 6", a.Runbook)
	}
}

func TestFailedGapHoldsAndPauses(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	confirmed := s.look().want(failedRule, alerts.StateFiring).Confirmed
	s.pass(time.Minute)
	s.down("helix", "connection refused")
	a := s.look().want(failedRule, alerts.StateHeld)
	if a.Why.String() != "helix is down: connection refused" || !a.Confirmed.Equal(confirmed) {
		t.Errorf("held because %q, last confirmed %s want %s", a.Why, a.Confirmed, confirmed)
	}
	s.after(time.Hour).want(failedRule, alerts.StateHeld)
	s.up("helix")
	s.after(time.Second).want(failedRule, alerts.StateFiring)
	s.pass(time.Second)
	s.edit("a/box", func(w *backend.Workspace) { w.Stale, w.StaleWhy = true, backend.Text("500 Internal Server Error") })
	if a := s.look().want(failedRule, alerts.StateHeld); a.Why.String() != "500 Internal Server Error" {
		t.Errorf("why %q", a.Why)
	}
	s.pass(time.Second)
	s.edit("a/box", func(w *backend.Workspace) { w.Stale = false; w.Unreadable = true })
	s.look().want(failedRule, alerts.StateHeld)
	s.health("helix", func(h *fleet.SourceHealth) { h.WorkspacesUnknown = true })
	s.after(time.Second).want(failedRule, alerts.StateHeld)
	s.wantTransitions("firing held firing held")
}

func TestFailedEndsWithItsSession(t *testing.T) {
	s := begin(t, failedRule)
	s.session("a", nil)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	s.look().want(failedRule, alerts.StateFiring)
	s.pass(time.Second)
	s.sessionEnds("a")
	a := s.look().want(failedRule, alerts.StateEnded)
	if !strings.Contains(a.Why.String(), "its session ended") || a.SubjectCount != 1 {
		t.Errorf("ended: %q, %d subjects", a.Why, a.SubjectCount)
	}
	s.after(14*time.Minute+59*time.Second).want(failedRule, alerts.StateEnded)
	s.after(time.Second).quiet(failedRule)
	s.wantTransitions("firing ended")
}

func TestFailedRestartInTheMiddleChangesNothing(t *testing.T) {
	s := begin(t, failedRule)
	success := s.wall.Add(-40 * time.Minute)
	again := func() {
		s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, edit: func(w *backend.Workspace) { w.LastSuccessAt = backend.Known(success) }})
	}
	again()
	s.look().want(failedRule, alerts.StatePending)
	s.pass(30 * time.Second)
	again()
	s.look().want(failedRule, alerts.StatePending)
	s.restart()
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second).want(failedRule, alerts.StatePending) // nothing was read yet: nothing changes
	s.up("helix")
	s.pass(29 * time.Second)
	again()
	s.look().want(failedRule, alerts.StateFiring)
	s.restart()
	s.after(time.Second).want(failedRule, alerts.StateFiring)
	s.wantTransitions("pending firing")
}

func TestFailedGoneWhileTheProgramDidNotRun(t *testing.T) {
	s := begin(t, failedRule)
	for path, cause := range map[string]string{"a/box": "connection refused", "b/box": "database is locked", "c/box": "certificate has expired"} {
		s.reads(path, reading{state: "failed", err: cause, attempt: 40 * time.Minute, success: 50 * time.Minute})
	}
	s.look()
	s.restart()
	for _, path := range []string{"a/box", "b/box", "c/box"} {
		delete(s.workspaces, wsKey(path))
	}
	count := func(state alerts.AlertState) (n int) {
		for _, a := range s.alerts(failedRule) {
			if a.State == state {
				n++
			}
		}
		return n
	}
	if s.after(time.Second); count(alerts.StateFiring) != 3 {
		t.Fatalf("what was not read yet is not gone:\n%s", summary(s.board))
	}
	s.session("a", func(x *backend.Session) { x.Answer = backend.AnswerOK })
	s.session("b", func(x *backend.Session) { x.Answer = backend.AnswerIdle })
	s.session("c", func(x *backend.Session) { x.Answer = backend.AnswerFailed })
	if s.after(time.Second); count(alerts.StateEnded) != 1 || count(alerts.StateHeld) != 1 || count(alerts.StateFiring) != 1 {
		t.Fatalf("one session is idle; the registry of another is empty while it runs, which proves no end:\n%s", summary(s.board))
	}
	if s.after(11 * time.Minute); count(alerts.StateHeld) != 2 {
		t.Fatalf("the third is held when it is not read for long:\n%s", summary(s.board))
	}
	s.reads("c/box", reading{state: "failed", err: "cause of c", attempt: 51 * time.Minute, success: 61 * time.Minute})
	if s.after(time.Second); count(alerts.StateFiring) != 1 {
		t.Fatalf("read again:\n%s", summary(s.board))
	}
	s.session("a", func(x *backend.Session) { x.Answer = backend.AnswerIdle })
	if s.after(time.Second); count(alerts.StateHeld) != 0 {
		t.Fatalf("the session with the empty registry is idle by now:\n%s", summary(s.board))
	}
}

func TestFailedMovesToItsNewCause(t *testing.T) {
	s := begin(t, failedRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	id := s.look().want(failedRule, alerts.StateFiring).ID
	s.pass(time.Second)
	s.edit("a/box", func(w *backend.Workspace) { w.LastError = backend.Text("R2 bucket unreachable") })
	if a := s.look().want(failedRule, alerts.StateFiring); a.ID == id || a.Cause.String() != "R2 bucket unreachable" {
		t.Errorf("alert %s %s", a.ID, a.Cause)
	}
	if got := s.transitions(); !strings.Contains(got, "moved") || strings.Contains(got, "resolved") {
		t.Errorf("transitions %q: it did not resolve", got)
	}
}
