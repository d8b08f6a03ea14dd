package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
)

// intermittentLimits are the shares of intermittent-failure.
var intermittentLimits = []limit{
	{intermittentRule, func(t *testing.T, at bool) *story { // 90 of 1,800 seconds are 5 %
		return flakes(t, at, nil, nil)
	}},
	{intermittentRule, func(t *testing.T, at bool) *story { // 3 of 12 attempts are a quarter
		s := beginIntermittent(t, 1)
		s.reads("a/box", works)
		s.look()
		began := s.wall
		return s.every(5*time.Second, 2400*time.Second, func() {
			into := s.wall.Sub(began) % (10 * time.Minute)
			if s.wall.Sub(began) < 10*time.Minute {
				into -= 5 * time.Second // the first poll is the first failure
			}
			tried := []time.Duration{5 * time.Second, 2 * time.Minute, 4 * time.Minute}
			if !at && s.wall.Sub(began) > 30*time.Minute {
				tried = append(tried, 6*time.Minute) // one more that works
			}
			r := reading{state: "open", err: hangUp, attempt: time.Second, success: time.Minute, edit: workedBefore}
			for _, d := range tried {
				if into >= d {
					r = reading{state: "open", attempt: into - d + time.Second, success: into - d + time.Second}
				}
			}
			s.reads("a/box", r)
		}).after(countGap) // judged at most that often
	}},
	{intermittentRule, func(t *testing.T, at bool) *story { // one of five workspaces at any time
		s := beginIntermittent(t, 4)
		s.every(time.Minute, 2*time.Minute, nil)
		began, n := s.wall, 0
		return s.every(5*time.Second, time.Hour, func() { // sessions of 8 minutes follow one another
			since := s.wall.Sub(began)
			if k := int(since/(8*time.Minute)) + 1; k != n {
				if n > 0 {
					s.sessionEnds(fmt.Sprint("roll-", n))
				}
				n = k
				s.session(fmt.Sprint("roll-", n), nil)
			}
			s.reads(fmt.Sprintf("roll-%d/box", n), reading{state: "failed", err: hangUp, attempt: time.Second})
			switch {
			case at:
			case since == 20*time.Minute:
				s.session("more", nil)
				s.reads("more/box", works)
			case since == 20*time.Minute+10*time.Second:
				s.sessionEnds("more")
			}
		})
	}},
}

// flakes lets a workspace fail for 30 seconds of every 10 minutes, or 5 seconds less, until its fifth failure begins. In the
// third period out and back interrupt it: while it works after 2 minutes, or while it fails.
func flakes(t *testing.T, at bool, working, failing func(*story)) *story {
	s := beginIntermittent(t, 1)
	s.reads("a/box", works)
	s.look()
	lasts := 30 * time.Second
	if !at {
		lasts -= 5 * time.Second
	}
	for period := range 5 {
		if period == 4 {
			s.pass(5 * time.Second)
			s.reads("a/box", fails)
			return s.look().after(countGap) // judged at most that often
		}
		s.every(5*time.Second, lasts, func() { s.reads("a/box", fails) })
		rest := 8*time.Minute - lasts
		if period == 2 && failing != nil {
			s.every(5*time.Second, 5*time.Second, func() { s.reads("a/box", fails) }) // the poll after it is none that counts
			rest -= 5 * time.Second
			failing(s)
		}
		s.every(5*time.Second, 2*time.Minute, func() { s.reads("a/box", works) })
		if period == 2 && working != nil {
			working(s)
		}
		s.every(5*time.Second, rest, func() { s.reads("a/box", works) })
	}
	return s
}

// Time in which the source did not answer is neither failed nor watched.
func TestIntermittentDoesNotCountTimeWhileTheSourceWasOut(t *testing.T) {
	out := func(last reading) func(*story) {
		return func(s *story) {
			s.down("helix", "connection refused")
			s.every(10*time.Second, 10*time.Minute, func() { s.down("helix", "connection refused") })
			s.up("helix")
			s.pass(5 * time.Second)
			s.reads("a/box", last)
			s.look()
		}
	}
	for name, play := range map[string]func(bool) *story{
		"while it works": func(at bool) *story { return flakes(t, at, out(works), nil) },
		"while it fails": func(at bool) *story { return flakes(t, at, nil, out(works)) },
	} {
		t.Run(name, func(t *testing.T) {
			play(true).want(intermittentRule, alerts.StateFiring)
			play(false).quiet(intermittentRule)
		})
	}
}

// A share of whole numbers is compared as it was written: 0.07 × 100 is more than 7.
func TestAShareIsReachedExactlyAtItsLimit(t *testing.T) {
	for whole := 1; whole <= 1000; whole++ {
		for percent := 1; percent <= 100; percent++ {
			share, least := float64(percent)/100, (percent*whole+99)/100
			if got := ofShare(share, whole); got != least {
				t.Fatalf("%d %% of %d: %d, want %d", percent, whole, got, least)
			}
			if percent*whole%100 == 0 && (!atShare(float64(least), share, float64(whole)) || !within(float64(least), share, float64(whole))) {
				t.Fatalf("%d is %d %% of %d", least, percent, whole)
			}
		}
	}
}
