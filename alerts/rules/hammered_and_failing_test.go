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

const hammeredRule = "hammered-and-failing"

// attempts gives the workspace a new failed attempt now; its last success stays where it was.
func (s *story) attempts(path, state string, success time.Time) {
	s.reads(path, reading{state: state, err: "R2 bucket unreachable", attempt: time.Nanosecond, edit: func(w *backend.Workspace) {
		w.LastSuccessAt = backend.NotApplicable[time.Time]()
		if !success.IsZero() {
			w.LastSuccessAt = backend.Known(success)
		}
	}})
}

func TestHammeredFiresOnceTwoAttemptsAreSeenAndTheGapIsLong(t *testing.T) {
	s := begin(t, hammeredRule)
	success := s.wall.Add(-40 * time.Minute)
	s.attempts("a/box", "open", success)
	s.look().quiet(hammeredRule) // one attempt after a long pause is the first operation after idle
	s.pass(10 * time.Second)
	s.attempts("a/box", "open", success)
	a := s.look().want(hammeredRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning || a.Runbook != "1" || a.Cause.String() != "R2 bucket unreachable" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "last succeeded at 11:20:00Z", "R2 bucket unreachable")
}

func TestHammeredDoesNotFireBelowTheGap(t *testing.T) {
	s := begin(t, hammeredRule)
	success := s.wall
	s.every(10*time.Second, 150*time.Second, func() { s.attempts("a/box", "open", success) })
	s.quiet(hammeredRule)
	s.every(10*time.Second, 150*time.Second, func() { s.attempts("a/box", "open", success) })
	s.want(hammeredRule, alerts.StatePending) // suspected in the second half
	s.every(10*time.Second, 10*time.Second, func() { s.attempts("a/box", "open", success) })
	s.want(hammeredRule, alerts.StateFiring)
	s.pass(time.Second)
	s.reads("a/box", reading{state: "open", attempt: time.Millisecond, success: time.Millisecond})
	s.look().quiet(hammeredRule)
	s.wantTransitions("pending firing resolved")
}

func TestHammeredEvictedNeedsNoSecondAttempt(t *testing.T) {
	s := begin(t, hammeredRule)
	s.reads("a/box", reading{state: "evicted", err: "WorkspaceEvictedError: sandbox instance is gone", attempt: time.Second, success: 6 * time.Minute})
	s.look().want(hammeredRule, alerts.StateFiring)
	s.pass(time.Second)
	s.edit("a/box", func(w *backend.Workspace) { w.Reported, w.Class = backend.Text("opening"), backend.ClassOpening })
	s.look().want(hammeredRule, alerts.StateFiring) // opening is no success
}

func TestHammeredEvictedRecentlyIsQuiet(t *testing.T) {
	s := begin(t, hammeredRule)
	s.reads("a/box", reading{state: "evicted", attempt: time.Second, success: time.Minute})
	s.look().quiet(hammeredRule)
	s.after(time.Hour).quiet(hammeredRule) // nobody hammers it
}

func TestHammeredOneAttemptStuck(t *testing.T) {
	s := begin(t, hammeredRule)
	s.reads("a/box", reading{state: "open", attempt: time.Second, success: 10 * time.Second})
	s.look().quiet(hammeredRule)
	s.after(298 * time.Second).quiet(hammeredRule) // a second less than the longest operation
	a := s.after(time.Second).want(hammeredRule, alerts.StateFiring)
	if a.Cause.String() != "one attempt runs for 5m or longer, longest_operation is 5m" {
		t.Errorf("cause %q", a.Cause)
	}
	id := a.ID
	if a = s.after(2*time.Minute).want(hammeredRule, alerts.StateFiring); a.ID != id || a.Cause.String() != "one attempt runs for 7m, longer than longest_operation 5m" {
		t.Errorf("cause %q", a.Cause)
	}
}

// One failed attempt is over: it hammers nothing, also at a cold start.
func TestHammeredOneFailedAttempt(t *testing.T) {
	for _, state := range []string{"open", "ready", "closed"} {
		for age, want := range map[time.Duration]alerts.AlertState{4 * time.Minute: "", 10 * time.Minute: alerts.StatePending, 2 * time.Hour: "", 72 * time.Hour: ""} {
			s := begin(t, hammeredRule)
			s.reads("a/box", reading{state: state, err: "WorkspaceFailedError: x", attempt: age, success: age + time.Minute})
			if s.look(); want == "" {
				s.quiet(hammeredRule)
				continue
			}
			if a := s.want(hammeredRule, want); a.Why.String() != "one failed attempt is known since the last success, 10m ago: fires when another one fails" {
				t.Errorf("%s: why %q", state, a.Why)
			}
			s.after(51 * time.Minute).quiet(hammeredRule)
		}
	}
}

func TestHammeredStuckIsSeenOnAColdStart(t *testing.T) {
	s := begin(t, hammeredRule)
	s.reads("a/box", reading{state: "open", attempt: 40 * time.Minute, success: 41 * time.Minute})
	s.look().want(hammeredRule, alerts.StateFiring)
}

// Registries write the two times of one successful attempt one after the other.
func TestHammeredTwoTimesOfOneAttempt(t *testing.T) {
	for lag, state := range map[time.Duration]alerts.AlertState{time.Millisecond: "", time.Second: "", 2 * time.Second: alerts.StateFiring} {
		s := begin(t, hammeredRule)
		s.reads("a/box", reading{state: "open", attempt: 20 * time.Hour, success: 20*time.Hour + lag})
		if s.look(); state == "" {
			s.quiet(hammeredRule)
		} else {
			s.want(hammeredRule, state)
		}
	}
}

func TestHammeredWithoutAnySuccessCountsFromTheFirstSeen(t *testing.T) {
	s := begin(t, hammeredRule)
	s.attempts("a/box", "open", time.Time{})
	s.look()
	s.every(10*time.Second, 5*time.Minute-10*time.Second, func() { s.attempts("a/box", "open", time.Time{}) })
	s.want(hammeredRule, alerts.StatePending)
	s.every(10*time.Second, 10*time.Second, func() { s.attempts("a/box", "open", time.Time{}) })
	s.want(hammeredRule, alerts.StateFiring)
}

func TestHammeredLeavesFailedToTheOtherRule(t *testing.T) {
	s := begin(t)
	s.reads("a/box", reading{state: "evicted", err: quota, attempt: time.Second, success: time.Hour})
	s.look().want(hammeredRule, alerts.StateFiring)
	s.quiet(failedRule)
	success := s.wall.Add(-time.Hour)
	s.pass(time.Second)
	s.attempts("a/box", "failed", success)
	s.look().quiet(hammeredRule)
	s.want(failedRule, alerts.StatePending)
	s.pass(time.Minute)
	s.attempts("a/box", "evicted", success)
	s.look().quiet(hammeredRule) // still the failed one's, until it succeeds
	s.want(failedRule, alerts.StateFiring)
	s.pass(time.Second)
	s.reads("a/box", reading{state: "open", attempt: time.Millisecond, success: time.Millisecond})
	s.look().quiet(failedRule).quiet(hammeredRule)
	success = s.wall
	s.every(10*time.Second, 6*time.Minute, func() { s.attempts("a/box", "open", success) })
	s.quiet(failedRule)
	s.want(hammeredRule, alerts.StateFiring)
}

func TestHammeredLegacyServerIsNotApplicable(t *testing.T) {
	s := begin(t, hammeredRule)
	legacy := func(w *backend.Workspace) { w.LastOpAt = backend.Known(s.wall.Add(-time.Hour)) }
	s.reads("a/box", reading{state: "evicted", edit: legacy})
	s.look().quiet(hammeredRule)
	s.attempts("b/box", "evicted", s.wall.Add(-time.Hour))
	s.look().want(hammeredRule, alerts.StateFiring)
	s.reads("b/box", reading{state: "evicted", edit: legacy}) // a downgrade resolves nothing
	if a := s.look().want(hammeredRule, alerts.StateHeld); a.Why.String() != "the server predates lastAttemptAt" {
		t.Errorf("why %q", a.Why)
	}
}

func TestHammeredGapAndRestart(t *testing.T) {
	s := begin(t, hammeredRule)
	success := s.wall.Add(-40 * time.Minute)
	s.attempts("a/box", "open", success)
	s.look().restart() // between the first and the second attempt
	s.pass(10 * time.Second)
	s.attempts("a/box", "open", success)
	s.look().want(hammeredRule, alerts.StateFiring)
	s.down("helix", "timeout")
	s.after(time.Second).want(hammeredRule, alerts.StateHeld)
	s.restart()
	s.after(time.Second).want(hammeredRule, alerts.StateHeld)
	s.up("helix")
	s.after(time.Second).want(hammeredRule, alerts.StateFiring)
	s.edit("a/box", func(w *backend.Workspace) { w.LastAttemptAt = backend.Unknown[time.Time]() })
	s.look().want(hammeredRule, alerts.StateHeld)
	s.wantTransitions("firing held firing held")
}

func TestAnHoursJumpOfTheWallClockChangesNothing(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		for _, follows := range []bool{false, true} {
			s := begin(t, failedRule, hammeredRule, stormRule, downRule) // clock-skew rightly speaks of the jump itself
			s.health("helix", func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(time.Duration(0)) })
			foreign := s.wall // the source's own clock
			step := func(d time.Duration) { s.pass(d); foreign = foreign.Add(d) }
			offset := time.Duration(0)
			read := func(path, state string, attempt, success time.Time) {
				s.reads(path, reading{state: state, err: "cause of " + path[2:], edit: func(w *backend.Workspace) {
					w.LastAttemptAt, w.LastSuccessAt = backend.Known(attempt.Add(-offset)), backend.Known(success.Add(-offset))
				}})
			}
			fresh, old := foreign.Add(-2*time.Minute), foreign.Add(-40*time.Minute)
			read("a/old", "failed", old, old.Add(-time.Minute))
			read("a/new", "failed", fresh, fresh.Add(-time.Second))
			read("a/evicted", "evicted", foreign, old)
			s.look()
			before := states(s.board)
			step(5 * time.Second)
			s.wall = s.wall.Add(jump)
			s.look()
			if got := states(s.board); got != before {
				t.Fatalf("jump %s: %q became %q", jump, before, got)
			}
			step(5 * time.Second)
			if follows { // the source's offset is measured anew, so that corrected times move with our clock
				offset = -jump
				s.health("helix", func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(offset) })
				read("a/old", "failed", old, old.Add(-time.Minute))
				read("a/new", "failed", fresh, fresh.Add(-time.Second))
				read("a/evicted", "evicted", foreign, old)
			}
			s.look()
			if got := states(s.board); got != before {
				t.Fatalf("jump %s, follows %v: %q became %q", jump, follows, before, got)
			}
			for _, a := range s.board.Alerts {
				if age := s.wall.Sub(a.Active); age != 10*time.Second {
					t.Errorf("jump %s: %s is shown as active for %s, want 10s", jump, a.Rule, age)
				}
			}
			step(7 * time.Minute)
			s.look()
			if got := states(s.board); got != before {
				t.Errorf("jump %s, follows %v: %q became %q before its time", jump, follows, before, got)
			}
			step(time.Minute)
			s.look() // the young one is 10 minutes old now
			if got := s.transitions(); strings.Count(got, "firing") != 3 || strings.Count(got, "pending") != 1 || len(s.events) != 4 {
				t.Errorf("jump %s, follows %v: transitions %q", jump, follows, got)
			}
		}
	}
}

// Nothing that the new process reads is of the clock before: not even what it read before its first State.
func TestAnHoursJumpBetweenTwoRunsChangesNothing(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, -time.Hour} {
		s := begin(t, failedRule, hammeredRule, stormRule, downRule)
		measured := func(offset time.Duration) { // the source's clock is right, and its times are corrected by the offset
			s.health("helix", func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(offset) })
		}
		read := func(age time.Duration) {
			s.reads("a/old", reading{state: "failed", err: "cause of old", attempt: 40*time.Minute + age, success: 41*time.Minute + age})
			s.reads("a/new", reading{state: "failed", err: "cause of new", attempt: 2*time.Minute + age, success: 2*time.Minute + age + time.Second})
			s.reads("a/evicted", reading{state: "evicted", err: "cause of evicted", attempt: time.Second, success: 40*time.Minute + age})
		}
		s.lag = time.Second
		measured(0)
		read(0)
		s.look()
		before := states(s.board)
		s.restartAcross(jump)
		s.pass(6 * time.Second)
		measured(-jump)
		read(6 * time.Second)
		s.pass(time.Second)
		s.look()
		if got := states(s.board); got != before {
			t.Errorf("jump %s: %q became %q", jump, before, got)
		}
		for _, a := range s.board.Alerts {
			if age := s.wall.Sub(a.Active); age != 7*time.Second {
				t.Errorf("jump %s: %s is shown as active for %s, want 7s", jump, a.Rule, age)
			}
		}
		s.pass(8*time.Minute - 8*time.Second)
		measured(-jump)
		s.look()
		if got := states(s.board); got != before {
			t.Errorf("jump %s: %q became %q before its time", jump, before, got)
		}
		s.pass(time.Minute)
		measured(-jump)
		s.look() // the young one is 10 minutes old now
		if got := s.transitions(); strings.Count(got, "firing") != 3 || len(s.events) != 4 {
			t.Errorf("jump %s: transitions %q", jump, got)
		}
	}
}

func states(b *alerts.Board) string {
	out := ""
	for _, a := range b.Alerts {
		out += a.ID + "=" + string(a.State) + " "
		for _, x := range a.Subjects {
			out += x.Label.String() + ":" + string(x.State) + " "
		}
	}
	return out
}

// A server of before round 5 gives lastOpAt alone: the rule is named as blind there.
func TestHammeredIsBlindWhereOnlyLastOpAtIsGiven(t *testing.T) {
	blind := func(edits ...func(*backend.Workspace)) []string {
		s := begin(t, "hammered-and-failing")
		for i, edit := range edits {
			s.reads(fmt.Sprintf("s%d/box", i), reading{state: "open", err: hangUp, edit: edit})
		}
		return s.look().board.BlindOn("helix")
	}
	old := func(w *backend.Workspace) { w.LastOpAt = backend.Known(noon) }
	if got := blind(old, old); len(got) != 1 {
		t.Errorf("blind %v", got)
	}
	for name, edits := range map[string][]func(*backend.Workspace){
		"never used":     {nil, nil},
		"one tells both": {old, func(w *backend.Workspace) { w.LastAttemptAt = backend.Known(noon) }},
		"none":           {},
	} {
		if got := blind(edits...); len(got) != 0 {
			t.Errorf("%s: blind %v", name, got)
		}
	}
}
