package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

const (
	sustainedRule = "evicted-sustained"
	loopRule      = "reset-loop"
	restartRule   = "restart-storm"
)

// stays gives a workspace a reading whose times do not move.
func stays(s *story, path, state string, attempt, success time.Duration) func() {
	a, b := s.wall.Add(-attempt), s.wall.Add(-success)
	return func() {
		s.reads(path, reading{state: state, err: "sandbox is gone", edit: func(w *backend.Workspace) {
			w.LastAttemptAt, w.LastSuccessAt = backend.Known(a), backend.Known(b)
		}})
	}
}

func TestSustainedFiresAfterItsShareOfTheWindow(t *testing.T) {
	s := begin(t, sustainedRule)
	again := stays(s, "a/box", "evicted", time.Second, time.Minute)
	again()
	s.look().quiet(sustainedRule)
	s.every(10*time.Second, 7*time.Minute+50*time.Second, again).quiet(sustainedRule)
	a := s.every(10*time.Second, 10*time.Second, again).want(sustainedRule, alerts.StateFiring)
	wantEvidence(t, a, "80 % or more of 10m when it began", "lastError: sandbox is gone")
	if !a.Bounds.Latest.Equal(noon.Add(-time.Second)) || !a.Bounds.Earliest.Equal(noon.Add(-time.Minute)) {
		t.Errorf("bounds %v", a.Bounds)
	}
	works := func() { s.reads("a/box", reading{state: "open", attempt: time.Second, success: time.Second}) }
	s.every(10*time.Second, 3*time.Minute, works).want(sustainedRule, alerts.StateFiring)
	s.every(10*time.Second, 4*time.Minute, works).quiet(sustainedRule)
}

// What the registry's own times say of the time before it was watched is not said to have been measured.
func TestSustainedAtAColdStartSaysWhatWasNotWatched(t *testing.T) {
	s := begin(t, sustainedRule)
	stays(s, "a/box", "evicted", 72*time.Hour, 72*time.Hour+time.Minute)()
	a := s.look().want(sustainedRule, alerts.StateFiring)
	wantEvidence(t, a, "evicted since its newest failed attempt, by the registry's times: that was not watched; it ends below 40 % of 10m")
}

func TestSustainedFiresWhereItComesBackAndIsLostAgain(t *testing.T) {
	s := begin(t, sustainedRule)
	for range 10 {
		s.every(5*time.Second, 55*time.Second, func() {
			s.reads("a/box", reading{state: "evicted", err: "gone", attempt: time.Second, success: 10 * time.Second})
		})
		s.every(5*time.Second, 5*time.Second, func() { s.reads("a/box", reading{state: "open", attempt: time.Second, success: time.Second}) })
	}
	s.want(sustainedRule, alerts.StateFiring)
}

func TestSustainedDoesNotFire(t *testing.T) {
	s := begin(t, sustainedRule, hammeredRule)
	hammer := retries(s, "h/box", "evicted", "gone") // its uses fail: hammered-and-failing
	once := stays(s, "o/box", "evicted", time.Second, time.Minute)
	s.every(10*time.Second, 5*time.Minute, func() { hammer(); once() })
	s.every(10*time.Second, 10*time.Minute, func() {
		hammer()
		s.reads("o/box", reading{state: "open", attempt: time.Second, success: time.Second})
	})
	s.quiet(sustainedRule)
	s.want(hammeredRule, alerts.StateFiring)
}

func TestSustainedColdStartGapRestart(t *testing.T) {
	s := begin(t, sustainedRule)
	again := stays(s, "a/box", "evicted", 40*time.Minute, 41*time.Minute)
	again()
	s.look()
	survives(s, sustainedRule, again)
}

func TestSustainedDoesNotCountAGap(t *testing.T) {
	s := begin(t, sustainedRule)
	again := stays(s, "a/box", "evicted", time.Second, time.Minute)
	s.every(10*time.Second, 5*time.Minute, again)
	s.down("helix", "timeout")
	s.every(30*time.Second, time.Hour, nil).quiet(sustainedRule)
	s.up("helix")
	s.every(10*time.Second, time.Minute, again).quiet(sustainedRule)
	s.every(10*time.Second, 2*time.Minute, again).want(sustainedRule, alerts.StateFiring)
}

// resets takes a workspace out of failed and back.
func resets(s *story, path, err string) {
	s.pass(20 * time.Second)
	s.reads(path, reading{state: "opening", attempt: time.Second, success: time.Hour})
	s.look()
	s.pass(20 * time.Second)
	s.reads(path, reading{state: "failed", err: err, attempt: time.Second, success: time.Hour})
	s.look()
}

func TestLoopFiresAfterThreeResetsInVain(t *testing.T) {
	s := begin(t, loopRule)
	s.reads("a/box", reading{state: "failed", err: oneCause(0), attempt: time.Minute, success: time.Hour})
	s.look()
	resets(s, "a/box", oneCause(1))
	resets(s, "a/box", oneCause(2))
	s.quiet(loopRule)
	resets(s, "a/box", oneCause(3))
	a := s.want(loopRule, alerts.StateFiring)
	wantEvidence(t, a, "a/box failed again at least 3 times within 1h with the same cause")
	s.every(time.Minute, 58*time.Minute, nil).want(loopRule, alerts.StateFiring)
	s.every(time.Minute, 2*time.Minute, nil).quiet(loopRule) // no reset for an hour
}

func TestLoopDoesNotFire(t *testing.T) {
	s := begin(t, loopRule)
	for i := range 6 {
		resets(s, "a/box", manyCauses(i)) // each time another cause
	}
	for range 20 { // it stays failed, tried again and again
		s.pass(10 * time.Second)
		s.reads("b/box", reading{state: "failed", err: quota, attempt: time.Second, success: time.Hour})
		s.look()
	}
	for range 3 { // rarely
		resets(s, "c/box", quota)
		s.every(10*time.Minute, 40*time.Minute, nil)
	}
	s.quiet(loopRule)
}

func TestLoopColdStartGapRestart(t *testing.T) {
	s := begin(t, loopRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: time.Hour})
	s.look().quiet(loopRule) // resets before the start are not known
	resets(s, "a/box", quota)
	s.restart()
	resets(s, "a/box", quota)
	s.down("helix", "timeout")
	s.after(time.Minute)
	s.up("helix")
	resets(s, "a/box", quota)
	survives(s, loopRule, nil)
}

func rollout(s *story) {
	s.happened = append(s.happened, backend.Event{
		Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "process-restarted", Text: backend.Text("agent-eu restarted (14 of 14)"),
	})
}

// watchedFleet is a fleet of n workspaces that have been watched for ten minutes.
func watchedFleet(t *testing.T, n int) *story {
	s := begin(t, restartRule)
	s.source("prom", backend.InputEvictions)
	for i := range n {
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "open", attempt: time.Minute, success: time.Minute})
	}
	s.look()
	return s.after(10 * time.Minute)
}

// reopens ends n workspaces and opens them anew, the first stuck of them in vain.
func reopens(s *story, n, stuck int) {
	for i := range n {
		s.ends(fmt.Sprintf("s%02d/box", i), "its session is idle")
	}
	s.after(5 * time.Second)
	s.pass(5 * time.Second)
	for i := range n {
		r := reading{state: "open", attempt: time.Second, success: time.Second}
		if i < stuck {
			r = reading{state: "failed", err: quota, attempt: time.Second}
		}
		s.reads(fmt.Sprintf("s%02d/box", i), r)
	}
	s.look()
}

func TestRestartStormFires(t *testing.T) {
	s := watchedFleet(t, 40)
	rollout(s)
	s.after(time.Second).quiet(restartRule)
	reopens(s, 30, 12)
	s.quiet(restartRule) // an open takes its time
	a := s.after(time.Minute).want(restartRule, alerts.StateFiring)
	if !strings.Contains(a.Cause.String(), "agent-eu restarted") || a.Runbook != "7" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "agent-eu restarted (14 of 14), at 12:10:00Z", "30 of 40 workspaces opened again since (alert from 10 and 30 %)", "12 of them do not work now")
	s.every(time.Minute, 8*time.Minute, nil).want(restartRule, alerts.StateFiring)
	s.every(time.Minute, 2*time.Minute, nil).quiet(restartRule)
}

func TestRestartStormDoesNotFire(t *testing.T) {
	for name, c := range map[string]struct{ opened, stuck int }{"a rollout that works": {30, 2}, "few opens": {11, 11}} {
		s := watchedFleet(t, 40)
		rollout(s)
		s.look()
		reopens(s, c.opened, c.stuck)
		if s.every(30*time.Second, 5*time.Minute, nil); len(s.alerts(restartRule)) != 0 {
			t.Errorf("%s: %s", name, summary(s.board))
		}
	}
	s := watchedFleet(t, 40)
	s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "start", Text: backend.Text("container x started")})
	s.look()
	reopens(s, 30, 30)
	s.quiet(restartRule) // a single container's start, or nothing at all, explains no storm
}

// TestRestartStormIsNoBatch: sessions that began seconds ago are on their way, and one session that opens many is eager.
func TestRestartStormIsNoBatch(t *testing.T) {
	opening := func(s *story, path string, ago time.Duration) {
		s.reads(path, reading{state: "opening", attempt: ago, edit: func(w *backend.Workspace) { w.Class = backend.ClassOpening }})
	}
	s := begin(t, restartRule)
	for i := range 30 {
		id := fmt.Sprintf("s%02d", i)
		s.session(id, func(x *backend.Session) { x.StartedAt = backend.Known(noon.Add(-3 * time.Second)) })
		opening(s, id+"/box", 3*time.Second)
	}
	s.look().quiet(restartRule)
	s.pass(30 * time.Second)
	for i := range 30 {
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "open", attempt: time.Second, success: time.Second})
	}
	s.look()
	s.every(10*time.Second, 5*time.Minute, nil).quiet(restartRule)

	for _, started := range []bool{true, false} {
		s = begin(t, restartRule)
		s.session("one", func(x *backend.Session) {
			if started {
				x.StartedAt = backend.Known(noon.Add(-5 * time.Second))
			}
		})
		for i := range 12 {
			opening(s, fmt.Sprintf("one/w%02d", i), 5*time.Second)
		}
		s.look().quiet(restartRule)
		s.every(10*time.Second, 5*time.Minute, nil).quiet(restartRule)
	}
}

func TestRestartStormColdStart(t *testing.T) {
	s := begin(t, restartRule)
	for i := range 20 {
		id := fmt.Sprintf("s%02d", i)
		s.session(id, func(x *backend.Session) { x.StartedAt = backend.Known(noon.Add(-time.Duration(60+i) * time.Second)) })
		s.reads(id+"/box", reading{state: "failed", err: quota, attempt: 30 * time.Second})
	}
	a := s.look().want(restartRule, alerts.StateFiring)
	wantEvidence(t, a, "many sessions started together")
	old := begin(t, restartRule)
	for i := range 20 {
		id := fmt.Sprintf("s%02d", i)
		old.session(id, func(x *backend.Session) { x.StartedAt = backend.Known(noon.Add(-time.Hour)) })
		old.reads(id+"/box", reading{state: "failed", err: quota, attempt: 30 * time.Second})
	}
	old.look().quiet(restartRule)
}

func TestRestartStormColdStartFromAProcessStartAndFromAttempts(t *testing.T) {
	for _, processStart := range []bool{true, false} {
		s := begin(t, restartRule)
		s.source("prom", backend.InputEvictions)
		for i := range 20 {
			id := fmt.Sprintf("s%02d", i)
			s.session(id, func(x *backend.Session) {
				if processStart { // the sessions are older than the process that runs them now
					x.StartedAt = backend.Known(noon.Add(-time.Hour))
				}
			})
			s.reads(id+"/box", reading{state: "failed", err: quota, attempt: time.Duration(60+i) * time.Second})
		}
		if processStart {
			s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall.Add(-2 * time.Minute), Source: "prom", Name: "process-started", Text: backend.Text("process started")})
		}
		a := s.look().want(restartRule, alerts.StateFiring)
		wantEvidence(t, a, map[bool]string{true: "process started", false: "many sessions started together"}[processStart], "20 of 20 workspaces opened again")
	}
}

func TestRestartStormGapRestart(t *testing.T) {
	s := watchedFleet(t, 40)
	rollout(s)
	s.look()
	reopens(s, 30, 30)
	s.after(time.Minute)
	survives(s, restartRule, nil)
}
