package wire

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/backend"
)

// fleetOf are n sandboxes of a rank.
func fleetOf(n int, rank SweepRank) []SweepSubject {
	out := make([]SweepSubject, n)
	for i := range out {
		out[i] = SweepSubject{ID: backend.MustID(fmt.Sprintf("%s-%05d", []string{"rest", "seen", "alert"}[rank], i)), Rank: rank}
	}
	return out
}

// checked plays a sweep for a time in steps of its period and returns when each sandbox was checked.
func checked(s *Sweep, clock *time.Time, all []SweepSubject, lasts time.Duration) map[string][]time.Time {
	out := map[string][]time.Time{}
	for end := clock.Add(lasts); clock.Before(end); *clock = clock.Add(s.limits.Period) {
		for _, id := range s.Due(*clock, all) {
			out[id.Raw()] = append(out[id.Raw()], *clock)
		}
	}
	return out
}

// gaps are the shortest and the longest time between two checks of one sandbox, from the second on.
func gaps(times []time.Time) (shortest, longest time.Duration) {
	shortest = time.Hour
	for i := 1; i < len(times); i++ {
		d := times[i].Sub(times[i-1])
		shortest, longest = min(shortest, d), max(longest, d)
	}
	return shortest, longest
}

func ordinary() SweepLimits {
	return SweepLimits{Every: 30 * time.Second, Gap: 10 * time.Second, Period: 5 * time.Second, PerSecond: 20, Hold: 10 * time.Second, AtOnce: 4}
}

func newTestSweep(l SweepLimits) (*Sweep, *time.Time) {
	clock := time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)
	n := 0
	return NewSweep(l, func() time.Time { return clock }, func() float64 { n++; return float64(n*7919%1000) / 1000 }), &clock
}

func TestSweepKeepsGapAndRate(t *testing.T) {
	for _, c := range []struct {
		fleet   int
		longest time.Duration // between two checks of a sandbox
		first   int           // checks of the first step
	}{{1, 30 * time.Second, 1}, {200, 30 * time.Second, 200}, {500, 30 * time.Second, 200}, {2000, 110 * time.Second, 200}} {
		s, clock := newTestSweep(ordinary())
		begin := *clock
		seen := checked(s, clock, fleetOf(c.fleet, SweepRest), 20*time.Minute)
		total, first := 0, 0
		perStep := map[time.Time]int{}
		for id, times := range seen {
			shortest, longest := gaps(times)
			if shortest < 10*time.Second || longest > c.longest {
				t.Errorf("%d sandboxes: %s is checked after %v to %v", c.fleet, id, shortest, longest)
			}
			total += len(times)
			for _, at := range times {
				perStep[at]++
			}
		}
		first = perStep[begin]
		if len(seen) != c.fleet || first != c.first || total > 200+20*20*60 {
			t.Errorf("%d sandboxes: %d were checked, %d of them at first, %d checks", c.fleet, len(seen), first, total)
		}
		if c.fleet == 200 { // no peaks: six steps in a sweep
			for at, n := range perStep {
				if at.Sub(begin) > 5*time.Minute && n > 80 {
					t.Errorf("%d of 200 sandboxes are checked together at %v", n, at.Sub(begin))
				}
			}
		}
		if got := s.Longest(c.fleet); got > c.longest {
			t.Errorf("%d sandboxes: says %v", c.fleet, got)
		}
	}
}

// TestSweepChecksWhatAlertsFirst: in a fleet that is too large for the rate, what alerts is checked once in the gap, and the
// others are checked all the same.
func TestSweepChecksWhatAlertsFirst(t *testing.T) {
	s, clock := newTestSweep(ordinary())
	all := slices.Concat(fleetOf(3000, SweepRest), fleetOf(30, SweepVisible), fleetOf(20, SweepAlerting))
	rank := map[byte]SweepRank{'r': SweepRest, 's': SweepVisible, 'a': SweepAlerting}
	if first := s.Due(*clock, all); rank[first[0].Raw()[0]] != SweepAlerting || rank[first[1].Raw()[0]] != SweepAlerting || rank[first[3].Raw()[0]] != SweepAlerting {
		t.Errorf("first %v", first[:4])
	}
	*clock = clock.Add(5 * time.Second)
	limit := []time.Duration{SweepRest: 4 * time.Minute, SweepVisible: 30 * time.Second, SweepAlerting: 10 * time.Second}
	seen := checked(s, clock, all, 30*time.Minute)
	for id, times := range seen {
		if _, longest := gaps(times); longest > limit[rank[id[0]]] {
			t.Errorf("%s waits %v", id, longest)
		}
	}
	if len(seen) != len(all) {
		t.Errorf("%d of %d are checked", len(seen), len(all))
	}
}

func TestSweepIsDeterministic(t *testing.T) {
	play := func() string {
		s, clock := newTestSweep(ordinary())
		return fmt.Sprint(checked(s, clock, slices.Concat(fleetOf(300, SweepRest), fleetOf(9, SweepAlerting)), 5*time.Minute))
	}
	if first, second := play(), play(); first != second {
		t.Error("the same times and random numbers give other checks")
	}
}

// TestSweepChecksANewLifeAtOnce, but not before the gap, and forgets what is gone.
func TestSweepChecksANewLifeAtOnce(t *testing.T) {
	s, clock := newTestSweep(ordinary())
	x := SweepSubject{ID: backend.MustID("a"), Life: 1}
	due := func() int { return len(s.Due(*clock, []SweepSubject{x})) }
	if due() != 1 || due() != 0 {
		t.Fatal("it is not checked once")
	}
	x.Life = 2
	if due() != 0 {
		t.Error("it is checked twice within the gap")
	}
	if *clock = clock.Add(10 * time.Second); due() != 1 {
		t.Error("a sandbox that was started again waits")
	}
	if s.Due(*clock, nil); len(s.known) != 0 {
		t.Error("what is gone is remembered")
	}
}

// TestSweepSlowsDown: complaints of the server halve the rate.
func TestSweepSlowsDown(t *testing.T) {
	s, clock := newTestSweep(ordinary())
	all := fleetOf(5000, SweepRest)
	s.Due(*clock, all)
	*clock = clock.Add(5 * time.Second)
	before := len(s.Due(*clock, all))
	s.Observe(503, time.Second, 0)
	*clock = clock.Add(5 * time.Second)
	if after := len(s.Due(*clock, all)); before != 100 || after != 50 {
		t.Errorf("%d checks before and %d after", before, after)
	}
	s.Observe(429, time.Second, time.Minute)
	*clock = clock.Add(5 * time.Second)
	if n := len(s.Due(*clock, all)); n != 0 {
		t.Errorf("%d checks while the server asks for silence", n)
	}
}

func TestSweepRunsAtMostSoManyAtOnce(t *testing.T) {
	s, _ := newTestSweep(ordinary())
	s.Unpaced()
	var now, most, count atomic.Int32
	over := make(chan struct{})
	ids := s.Due(s.budget.now(), fleetOf(100, SweepRest))
	s.Run(t.Context(), backend.NewSpawner(nil), "check", ids, func(context.Context, backend.ID) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
		count.Add(1)
	}, func() { close(over) })
	<-over
	if count.Load() != 100 || most.Load() > 4 || most.Load() < 2 {
		t.Errorf("%d checks, %d at once", count.Load(), most.Load())
	}
}

// TestSweepPutsLooksTogether: checks start at the even pace of their rate, those of half a second together; slow ones one by one.
func TestSweepPutsLooksTogether(t *testing.T) {
	for _, c := range []struct {
		perSecond float64
		waits     []time.Duration
	}{
		{20, []time.Duration{500 * time.Millisecond, 500 * time.Millisecond}},
		{0.5, slices.Repeat([]time.Duration{2 * time.Second}, 24)},
	} {
		s := NewSweep(SweepLimits{Every: time.Hour, Period: time.Hour, PerSecond: c.perSecond, AtOnce: 2}, time.Now, func() float64 { return 0 })
		var waits []time.Duration
		s.wait = func(_ context.Context, d time.Duration) bool { waits = append(waits, d); return true }
		ids := make([]backend.ID, 25)
		var checked atomic.Int32
		done := make(chan struct{})
		s.Run(t.Context(), backend.NewSpawner(nil), "check", ids, func(context.Context, backend.ID) { checked.Add(1) }, func() { close(done) })
		if <-done; checked.Load() != 25 || !slices.Equal(waits, c.waits) {
			t.Errorf("%v a second: %d checks, waits %v", c.perSecond, checked.Load(), waits)
		}
	}
}
