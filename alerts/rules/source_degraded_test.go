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

const degradedRule = "source-degraded"

// unreadSome has part of the sessions of helix not read.
func (s *story) unreadSome(kinds ...backend.Unread) {
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Status, h.Unread, h.Asked, h.LastOK = fleet.StatusDegraded, kinds, 40, s.wall
		if h.UnreadSince.IsZero() {
			h.UnreadSince = s.wall
		}
	})
}

func TestSourceDegradedBySessionsThatCannotBeRead(t *testing.T) {
	s := begin(t, degradedRule)
	s.look().quiet(degradedRule)
	kinds := []backend.Unread{{Kind: backend.ErrTimeout, Sessions: 6, Example: backend.Text("s01: no complete answer")}, {Kind: backend.ErrUnauthorised, Sessions: 2, Example: backend.Text("s09: answered 401")}}
	s.pass(5 * time.Second)
	s.unreadSome(kinds...)
	s.look().want(degradedRule, alerts.StatePending)
	if code := alerts.ExitCode(s.board, s.lastState()); code != alerts.ExitUnknown {
		t.Errorf("exit code %d", code)
	}
	s.pass(5 * time.Second)
	s.unreadSome(kinds...)
	a := s.look().want(degradedRule, alerts.StateFiring)
	wantEvidence(t, a, "8 of 40 sessions that were asked cannot be read", "6 sessions did not answer in time (timeout), for example s01", "2 sessions refused the credential (unauthorised)")
	if a.Severity != alerts.SeverityWarning || a.Counts() {
		t.Errorf("alert %+v", a)
	}
	part := a.Fingerprint
	s.pass(5 * time.Second)
	s.unreadSome(backend.Unread{Kind: backend.ErrUnreachable, Sessions: 40, Example: backend.Text("s01: answered 500")})
	if a := s.look().want(degradedRule, alerts.StateFiring); a.Cause.String() != "its sessions cannot be read" || a.Fingerprint != part {
		t.Errorf("none is read: %s, %s instead of %s", a.Cause, a.Fingerprint, part)
	}
	s.up("helix")
	s.health("helix", func(h *fleet.SourceHealth) { h.Unread, h.UnreadSince = nil, time.Time{} })
	s.after(5 * time.Second).quiet(degradedRule)
}

// Two runs of check are two polls: what neither can read fires, since the first of them.
func TestSourceDegradedAcrossRuns(t *testing.T) {
	s := begin(t, degradedRule)
	kinds := backend.Unread{Kind: backend.ErrTimeout, Sessions: 6, Example: backend.Text("s01: no complete answer")}
	s.unreadSome(kinds)
	s.look().want(degradedRule, alerts.StatePending)
	began := s.board.Alerts[0].Bounds.Latest
	for range 2 {
		s.off(2 * time.Minute)
		s.health("helix", func(h *fleet.SourceHealth) { h.UnreadSince = time.Time{} })
		s.unreadSome(kinds)
		if a := s.look().want(degradedRule, alerts.StateFiring); !a.Bounds.Latest.Equal(began) {
			t.Errorf("began %s, want %s", a.Bounds.Latest, began)
		}
	}
}

// unlist has sessions of helix leave the list, their end not shown.
func (s *story) unlist(all ...backend.Unlisted) {
	s.health("helix", func(h *fleet.SourceHealth) {
		if h.Unlisted, h.LastOK = all, s.wall; len(all) == 0 {
			h.UnlistedSince = time.Time{}
		} else if h.UnlistedSince.IsZero() {
			h.UnlistedSince = s.wall
		}
	})
}

// A list may be a moment ahead of the sessions' own routes: one look is pending and exits with 0, the next one fires.
func TestSessionsThatLeftAListDegradeAtTheSecondLook(t *testing.T) {
	runs, silent := backend.Unlisted{Session: backend.MustID("s1")}, backend.Unlisted{Session: backend.MustID("s2"), Why: backend.Text("unreachable: answered 502")}
	exits := func(s *story, want int) {
		t.Helper()
		if code := alerts.ExitCode(s.board, s.lastState()); code != want {
			t.Errorf("exit code %d, want %d", code, want)
		}
	}
	for name, run := range map[string]func(*story){"the next poll": func(s *story) { s.pass(5 * time.Second) }, "the next run": func(s *story) {
		s.off(time.Minute)
		s.health("helix", func(h *fleet.SourceHealth) { h.UnlistedSince = time.Time{} })
	}} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, degradedRule)
			s.unlist(runs, silent)
			s.look().want(degradedRule, alerts.StatePending)
			exits(s, alerts.ExitOK)
			run(s)
			s.unlist(runs, silent)
			a := s.look().want(degradedRule, alerts.StateFiring)
			wantEvidence(t, a, "1 session runs that no list names (s1): the list is not whole", "1 session left the list, and its own route cannot be read (s2): unreachable: answered 502")
			exits(s, alerts.ExitUnknown)
			run(s)
			s.unlist()
			s.look().quiet(degradedRule)
			exits(s, alerts.ExitOK)
			run(s)
			s.unlist(silent)
			s.look().want(degradedRule, alerts.StatePending) // another time, another first look
		})
	}
}

func TestSourceDegradedDoesNotFireForFew(t *testing.T) {
	s := begin(t, degradedRule)
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Unread, h.Asked = []backend.Unread{{Kind: backend.ErrTimeout, Sessions: 1}}, 40
	})
	s.every(5*time.Second, time.Minute, nil)
	s.quiet(degradedRule)
}

func TestSourceDegradedByAPartThatIsNotRead(t *testing.T) {
	s := begin(t, degradedRule)
	s.health("helix", func(h *fleet.SourceHealth) { h.Unfinished = true }) // the first walk goes on
	s.look().quiet(degradedRule)
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Status, h.Error = fleet.StatusDegraded, backend.Text("the pages do not end")
	})
	wantEvidence(t, s.after(time.Second).want(degradedRule, alerts.StateFiring), "the pages do not end")
	if code := alerts.ExitCode(s.board, s.lastState()); code != alerts.ExitUnknown {
		t.Errorf("exit code %d", code)
	}
}

// heldList is a list that lost its sessions before our eyes.
func heldList(s *story) {
	s.health("helix", func(h *fleet.SourceHealth) {
		h.Status, h.Held = fleet.StatusDegraded, []fleet.Held{{Kind: backend.KindSession, Count: 20, Lost: 20, Of: 20, Since: s.wall, Named: []backend.Safe{backend.Text("s00"), backend.Text("s01")}}}
	})
}

func TestSourceDegradedGapRestartColdStart(t *testing.T) {
	s := begin(t, degradedRule)
	heldList(s)
	a := s.look().want(degradedRule, alerts.StateFiring)
	wantEvidence(t, a, "its list lost 20 of 20 sessions at 12:00:00Z", "20 sessions are held until something says that they ended: s00, s01 and 18 more")
	s.wantHeldThenBack(degradedRule, "helix", func() { heldList(s) })
	s.wantSameAfterRestart(degradedRule, "helix", func() { heldList(s) })
}

// Between two runs of check a list that lost all is suspect too: what fired is neither ended nor healthy.
func TestAListThatLostAllBetweenTwoRunsIsSuspect(t *testing.T) {
	list := func(n int, gap time.Duration) *story {
		s := begin(t, degradedRule, failedRule)
		s.listed[backend.KindSession], s.listed[backend.KindWorkspace] = "helix", "helix"
		for i := range 20 {
			id := fmt.Sprintf("s%02d", i)
			s.session(id, func(x *backend.Session) { x.Running = backend.Known(true) })
			s.reads(id+"/box", reading{state: "failed", err: "max_instances reached", attempt: 20 * time.Minute, success: 40 * time.Minute})
		}
		s.look().want(failedRule, alerts.StateFiring)
		s.off(gap)
		for i := n; i < 20; i++ {
			delete(s.sessions, sessionKey(fmt.Sprintf("s%02d", i)))
			delete(s.workspaces, wsKey(fmt.Sprintf("s%02d/box", i)))
		}
		return s.after(time.Second)
	}
	s := list(0, 5*time.Minute)
	s.want(failedRule, alerts.StateHeld)
	wantEvidence(t, s.want(degradedRule, alerts.StateFiring), "its list lost at least 20 of 20 sessions since the last run")
	if code := alerts.ExitCode(s.board, s.lastState()); code == alerts.ExitOK {
		t.Error("it exits with 0")
	}
	s.off(5 * time.Minute)
	s.after(time.Second).want(failedRule, alerts.StateHeld) // and at the next run
	list(12, 5*time.Minute).quiet(degradedRule)
	list(0, 3*time.Hour).quiet(degradedRule) // that is long enough for all of them to end
}

// TestSourceDegradedByABridgeThatDoesNotAnswer fires after three tries in a row, or in the second of two runs, and ends with an answer.
func TestSourceDegradedByABridgeThatDoesNotAnswer(t *testing.T) {
	s := begin(t, degradedRule)
	mute := func(tries int) *story {
		s.health("helix", func(h *fleet.SourceHealth) {
			h.Status, h.Error, h.LastOK = fleet.StatusDegraded, backend.Text("the bridge does not answer"), s.wall
			if h.Failing = (backend.FailingService{What: backend.Text(backend.BridgeFailing), Why: backend.Text("answered 502"), Tries: tries}); h.FailingSince.IsZero() {
				h.FailingSince = s.wall
			}
		})
		return s.look()
	}
	a := mute(1).want(degradedRule, alerts.StatePending)
	if !strings.Contains(a.Why.String(), "fires after 3 tries in a row that fail, 1 so far") {
		t.Errorf("why %q", a.Why)
	}
	s.pass(10 * time.Second)
	mute(2).want(degradedRule, alerts.StatePending)
	s.pass(10 * time.Second)
	a = mute(3).want(degradedRule, alerts.StateFiring)
	if a.Cause.String() != backend.BridgeFailing || !a.Bounds.Latest.Equal(noon) {
		t.Errorf("%s since %v", a.Cause, a.Bounds.Latest)
	}
	wantEvidence(t, a, "3 tries in a row failed, the newest: answered 502")
	s.up("helix")
	s.health("helix", func(h *fleet.SourceHealth) { h.Failing, h.FailingSince = backend.FailingService{}, time.Time{} })
	s.after(10 * time.Second).quiet(degradedRule)
	s.pass(10 * time.Second)
	mute(1).want(degradedRule, alerts.StatePending)
	s.restart()
	s.pass(time.Minute)
	s.health("helix", func(h *fleet.SourceHealth) { h.FailingSince = time.Time{} })
	mute(1).want(degradedRule, alerts.StateFiring)
}

// TestSandboxesThatHaveAnotherIDAreNotLost: instances that are joined to their sandboxes between two runs, and instances of which nothing
// tells their sandboxes any more.
func TestSandboxesThatHaveAnotherIDAreNotLost(t *testing.T) {
	s := begin(t, degradedRule)
	s.source("docker", backend.InputContainers)
	s.listed[backend.KindSandbox] = "docker"
	show := func(joined, there bool) {
		clear(s.sandboxes)
		for i := range 20 {
			id := fmt.Sprintf("c%02d", i)
			if joined {
				id = fmt.Sprintf("box%02d", i)
			}
			if there {
				s.box(id, "", func(b *backend.Sandbox) {
					b.Provider, b.Container, b.Unattributed = backend.Text("cloudflare"), backend.MustID(fmt.Sprintf("c%02d", i)), !joined
				})
			}
		}
	}
	show(false, true)
	s.look()
	for _, joined := range []bool{true, false} {
		s.off(time.Minute)
		show(joined, true)
		s.after(time.Second).quiet(degradedRule)
	}
	s.off(time.Minute)
	show(false, false)
	wantEvidence(t, s.after(time.Second).want(degradedRule, alerts.StateFiring), "its list lost at least 20 of 20 sandboxes since the last run")
}
