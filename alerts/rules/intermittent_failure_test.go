package rules

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const intermittentRule = "intermittent-failure"

const hangUp = "WorkspaceFailedError: socket hang up"

// beginIntermittent is a fleet of healthy workspaces that is polled every 5 seconds.
func beginIntermittent(t testing.TB, healthy int) *story {
	s := begin(t, intermittentRule)
	s.plainly = true
	for i := range healthy {
		s.reads(fmt.Sprintf("well-%02d/box", i), works)
	}
	return s.look()
}

var (
	works   = reading{state: "open", attempt: time.Second, success: time.Second}
	fails   = reading{state: "open", err: hangUp, attempt: time.Second, success: time.Minute, edit: workedBefore}
	evicted = reading{state: "evicted", err: "WorkspaceEvictedError: sandbox instance is gone", attempt: time.Second, success: time.Minute, edit: workedBefore}
)

// workedBefore says that the workspace was read without a failure before.
func workedBefore(w *backend.Workspace) { w.WorkedAt = noon }

// flips lets one workspace fail for the first part of every period.
func (s *story) flips(path string, bad reading, fails, period, span time.Duration) *story {
	began := s.wall
	return s.every(5*time.Second, span, func() {
		if s.wall.Sub(began)%period < fails {
			r := bad
			r.success = s.wall.Sub(began)%period + time.Second
			s.reads(path, r)
		} else {
			s.reads(path, works)
		}
	})
}

func TestIntermittentFiresForOneWorkspaceThatFailsAgainAndAgain(t *testing.T) {
	for _, x := range []struct {
		name          string
		bad           reading
		fails, period time.Duration
		span          time.Duration
		says          string
	}{
		{"every second attempt", fails, time.Minute, 2 * time.Minute, 2 * time.Hour, "of its"},
		{"4 of every 5 minutes", fails, 4 * time.Minute, 5 * time.Minute, time.Hour, "the worst failed for 7"},
		{"evicted for a minute every 11", evicted, time.Minute, 11 * time.Minute, time.Hour, "the worst failed for"},
		{"every second attempt, 10 minutes apart", fails, 10 * time.Minute, 20 * time.Minute, 2 * time.Hour, "the worst failed for"},
	} {
		s := beginIntermittent(t, 40)
		s.reads("a/box", works)
		s.look()
		s.flips("a/box", x.bad, x.fails, x.period, x.span)
		if a := s.alerts(intermittentRule); len(a) != 1 || a[0].State != alerts.StateFiring || a[0].SubjectCount != 1 || a[0].Severity != alerts.SeverityWarning {
			t.Errorf("%s: %s", x.name, summary(s.board))
			continue
		}
		wantEvidence(t, s.alerts(intermittentRule)[0], "1 workspace failed and worked in turn at least 5 times within 2h", x.says)
	}
}

func TestIntermittentDoesNotFire(t *testing.T) {
	s := beginIntermittent(t, 5)
	s.reads("a/box", works)
	s.look()
	s.flips("a/box", fails, 5*time.Minute, time.Hour, 5*time.Hour) // flakes once an hour
	s.quiet(intermittentRule)

	s = beginIntermittent(t, 0)
	s.reads("a/box", reading{state: "failed", err: hangUp, attempt: time.Minute, success: time.Hour})
	s.every(5*time.Second, 3*time.Hour, nil) // fails without a break: failed-too-long tells it
	s.quiet(intermittentRule)

	s = beginIntermittent(t, 0) // a build that takes 4 minutes, and an old error that the server still shows
	began := s.wall
	s.every(5*time.Second, 3*time.Hour, func() {
		busy := s.wall.Sub(began) % (5 * time.Minute)
		r := reading{state: "open", err: hangUp, attempt: busy + time.Second, success: busy + time.Minute}
		if busy > 4*time.Minute {
			r.success = time.Second
		}
		s.reads("a/box", r)
		r.err = ""
		s.reads("b/box", r)
	})
	s.quiet(intermittentRule)

	s = beginIntermittent(t, 0) // a sandbox that sleeps between two uses
	s.reads("a/box", works)
	s.look()
	s.flips("a/box", reading{state: "evicted", attempt: time.Minute, success: time.Minute, edit: func(w *backend.Workspace) { w.LastSuccessAt = w.LastAttemptAt }}, time.Minute, 11*time.Minute, 3*time.Hour)
	s.quiet(intermittentRule)
}

func TestIntermittentDoesNotFireForADeploy(t *testing.T) {
	s := beginIntermittent(t, 8)
	for round := range 2 { // every workspace is evicted once for two minutes, one after the other
		for i := range 8 {
			s.flips(fmt.Sprintf("well-%02d/box", i), evicted, 2*time.Minute, time.Hour, 4*time.Minute)
		}
		s.quiet(intermittentRule)
		s.every(30*time.Second, time.Duration(1+round)*time.Hour, nil)
		s.quiet(intermittentRule)
	}
}

// rolls lets sessions begin, fail and end, a number of them at a time.
func (s *story) rolls(together int, span time.Duration) *story {
	began, next := s.wall, 0
	type run struct {
		path  string
		until time.Time
		from  time.Time
	}
	var running []run
	return s.every(5*time.Second, span, func() {
		kept := running[:0]
		for _, x := range running {
			if s.wall.Before(x.until) {
				s.reads(x.path, reading{state: "failed", err: hangUp, attempt: time.Second})
				kept = append(kept, x)
				continue
			}
			session, _, _ := strings.Cut(x.path, "/")
			s.sessionEnds(session)
		}
		running = kept
		for len(running) < together && s.wall.Sub(began) >= time.Duration(next%together)*time.Minute {
			next++
			id := fmt.Sprintf("roll-%03d", next)
			s.session(id, nil)
			s.reads(id+"/box", reading{state: "failed", err: hangUp, attempt: time.Second})
			running = append(running, run{id + "/box", s.wall.Add(5*time.Minute + time.Duration(next%4)*time.Minute), s.wall})
		}
	})
}

func TestIntermittentFiresAcrossSessionsThatEnd(t *testing.T) {
	s := beginIntermittent(t, 0)
	s.every(time.Minute, 2*time.Minute, nil).rolls(3, time.Hour)
	a := s.want(intermittentRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Runbook != "1" || !strings.Contains(a.Cause.String(), "socket hang up") {
		t.Errorf("%+v", a)
	}
	wantEvidence(t, a, "those that have ended included", "100 % of the workspace time")

	s = beginIntermittent(t, 4) // some of them are well
	s.rolls(3, time.Hour)
	if a := s.want(intermittentRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning {
		t.Errorf("severity %s", a.Severity)
	}

	s = beginIntermittent(t, 60)
	s.rolls(1, time.Hour)
	s.quiet(intermittentRule)
}

// lose counts evictions once a minute.
func (s *story) lose(evictions, retries func(minute int) float64, span time.Duration) *story {
	began := s.wall
	return s.every(5*time.Second, span, func() {
		at := s.wall.Sub(began)
		if at%time.Minute != 0 {
			s.evicts(0, 0)
			return
		}
		s.evicts(evictions(int(at/time.Minute)), retries(int(at/time.Minute)))
	})
}

func TestIntermittentFiresForEvictionsThatAreNotRecovered(t *testing.T) {
	one := func(int) float64 { return 1 }
	none := func(int) float64 { return 0 }
	for _, x := range []struct {
		name               string
		evictions, retries func(int) float64
		says               string
	}{
		{"one a minute, none recovered", one, none, "60 of 60 evictions in the "},
		{"29 of 60 lost", one, func(m int) float64 {
			if m%2 == 0 || m == 1 {
				return 1
			}
			return 0
		}, "29 of 60 evictions in the "},
	} {
		s := begin(t, intermittentRule)
		s.plainly = true
		s.source("prom", backend.InputEvictions)
		s.evicts(0, 0)
		s.look()
		s.lose(x.evictions, x.retries, time.Hour)
		a := s.want(intermittentRule, alerts.StateFiring)
		if a.Source != "helix" || a.Runbook != "7" || a.Providers > 1 {
			t.Errorf("%s: %+v", x.name, a)
		}
		wantEvidence(t, a, x.says)
	}
	s := begin(t, intermittentRule)
	s.plainly = true
	s.source("prom", backend.InputEvictions)
	s.evicts(0, 0)
	s.look()
	s.lose(one, func(m int) float64 { return float64(min(m%5, 1)) }, 2*time.Hour) // one in five is lost
	s.quiet(intermittentRule)
	s.lose(func(m int) float64 { return 30 * float64(1-min(m, 1)) }, none, 10*time.Minute) // one burst
	s.quiet(intermittentRule)
}

func TestIntermittentColdStartGapRestart(t *testing.T) {
	s := beginIntermittent(t, 0)
	s.rolls(3, time.Hour)
	s.want(intermittentRule, alerts.StateFiring)
	s.restart().every(5*time.Second, time.Minute, nil)
	s.want(intermittentRule, alerts.StateFiring)
	s.down("helix", "connection refused")
	s.after(time.Minute).want(intermittentRule, alerts.StateHeld)

	s = beginIntermittent(t, 0)
	s.rolls(3, 10*time.Minute)
	s.down("helix", "connection refused")
	s.every(time.Minute, 30*time.Minute, nil)
	s.up("helix")
	s.rolls(3, 4*time.Minute) // 14 minutes were watched, and what failed meanwhile is not known
	s.quiet(intermittentRule)

	s = beginIntermittent(t, 0)
	for i := range 30 { // all failed for long when the console starts
		s.reads(fmt.Sprintf("old-%02d/box", i), reading{state: "failed", err: hangUp, attempt: time.Minute, success: 9 * time.Hour})
	}
	s.look().every(5*time.Second, 2*time.Hour, nil)
	s.quiet(intermittentRule)
}

// Deltas find what evaluating from scratch finds, and a restart changes nothing.
func TestPropertyOfIntermittentFailure(t *testing.T) {
	fired := false
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 9))
		o := intermittentDefaults()
		o.Over, o.Episodes, o.Share = backend.Duration(20*time.Minute), 3, 0.1
		begun := func() *story {
			rule, err := o.build()
			if err != nil {
				t.Fatal(err)
			}
			return beginWith(t, rule).look()
		}
		through, restarted := begun(), begun()
		restarted.plainly = true
		for range 150 {
			path, what, d := fmt.Sprintf("s%d/box", r.IntN(5)), r.IntN(12), []time.Duration{5 * time.Second, 20 * time.Second, time.Minute}[r.IntN(3)]
			again := r.IntN(8) == 0
			if again {
				restarted.restart()
			}
			for _, s := range []*story{through, restarted} {
				switch {
				case what == 0:
					s.down("helix", "connection refused")
				case what < 3:
					s.up("helix")
				case s.sources["helix"].Status != fleet.StatusOK:
				case what < 6:
					s.reads(path, works)
				case what < 9:
					s.reads(path, fails)
				case what == 9:
					s.reads(path, evicted)
				case what == 10 && s.alertless(wsKey(path)):
					s.ends(path, "closed")
				}
				s.after(d)
				fired = fired || len(s.board.Alerts) > 0
			}
			if a, b := summary(through.board), summary(restarted.board); a != b {
				t.Fatalf("seed %d at %s: a restart changed the alerts:\n%s\nrestarted:\n%s", seed, through.wall.Format("15:04:05"), a, b)
			}
		}
	}
	if !fired {
		t.Error("there never was an alert, so this proves nothing")
	}
}
