package wire

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// SweepLimits bound the checks of a Sweep.
type SweepLimits struct {
	Every     time.Duration // the longest time between two checks of a sandbox, as long as the rate allows it
	Gap       time.Duration // the shortest time between two checks of a sandbox
	Period    time.Duration // how often Due is called
	PerSecond float64       // checks
	Hold      time.Duration // a budget that was not used is kept for so long; at least Period
	AtOnce    int           // checks in flight
}

// briskest is the shortest time between the starts of two checks of a Run, whatever was saved of the budget.
const briskest = 50 * time.Millisecond

// slot is how long checks are put together for that are due within it: each time that the program wakes costs more than a look at
// this machine's files.
const slot = 500 * time.Millisecond

// SweepRank is how soon a sandbox is checked, among those that are due.
type SweepRank int

// The ranks. What alerts is checked once in Gap, the others once in Every.
const (
	SweepRest SweepRank = iota
	SweepVisible
	SweepAlerting
)

// fairShare is how many checks of one follow the age of the last check alone, whatever the rank: 1 of 4.
const fairShare = 4

// SweepSubject is a sandbox that may be checked.
type SweepSubject struct {
	ID   backend.ID
	Rank SweepRank
	Life any // a comparable value that changes when the sandbox is started again: it is checked anew then
	// Former is when a process before this one checked it, zero: not known. It is checked anew, those first that wait longest.
	Former time.Time
}

// Sweep decides when a check without side effects looks at which sandbox. What wakes, bills, starts or records something is
// no such check: it is an action. The same calls at the same times with the same random numbers give the same checks.
type Sweep struct {
	limits SweepLimits
	budget *Budget
	random func() float64 // in [0, 1)
	known  map[backend.ID]*swept
	wait   func(context.Context, time.Duration) bool // false: ctx ended
}

type swept struct {
	life   any
	last   time.Time // start of the newest check, zero: never
	former time.Time // of a process before
	due    time.Time
}

// age is when it was checked last, by any process.
func (s *swept) age() time.Time {
	if s.last.IsZero() {
		return s.former
	}
	return s.last
}

// NewSweep makes a Sweep that has checked nothing. now tells the time that the rate is measured by.
func NewSweep(limits SweepLimits, now func() time.Time, random func() float64) *Sweep {
	limits.Hold, limits.Gap, limits.AtOnce = max(limits.Hold, limits.Period), min(limits.Gap, limits.Every), max(limits.AtOnce, 1)
	return &Sweep{limits: limits, random: random, known: map[backend.ID]*swept{}, wait: pause,
		budget: newBudget(limits.PerSecond, limits.Hold, now)}
}

// Unpaced starts checks without a wait between them. Tests whose clock stands still need it.
func (s *Sweep) Unpaced() *Sweep {
	s.wait = func(ctx context.Context, _ time.Duration) bool { return ctx.Err() == nil }
	return s
}

// Observe learns from an answer, as Budget.Observe does: complaints and slow answers halve the rate.
func (s *Sweep) Observe(status int, latency, retryAfter time.Duration) {
	s.budget.Observe(status, latency, retryAfter)
}

// Due takes the subjects to check now, the most urgent first, and counts them as checked. It forgets those that are not
// among all.
func (s *Sweep) Due(now time.Time, all []SweepSubject) []backend.ID {
	known := make(map[backend.ID]*swept, len(all))
	var due []SweepSubject
	for _, x := range all {
		e := s.known[x.ID]
		if e == nil {
			e = &swept{life: x.Life, former: x.Former}
		}
		known[x.ID] = e
		if e.life != x.Life {
			e.life, e.due = x.Life, time.Time{}
		}
		soonest := e.last.Add(s.limits.Gap)
		if x.Rank < SweepAlerting && e.due.After(soonest) {
			soonest = e.due
		}
		if e.last.IsZero() || !now.Before(soonest) {
			due = append(due, x)
		}
	}
	s.known = known
	age := func(a, b SweepSubject) int {
		return cmp.Or(known[a.ID].age().Compare(known[b.ID].age()), a.ID.Compare(b.ID))
	}
	stable.Sort(due, age)
	ranked := slices.Clone(due)
	stable.Sort(ranked, func(a, b SweepSubject) int { return cmp.Compare(b.Rank, a.Rank) })
	return s.take(now, ranked, due)
}

// take spends the budget: three of four checks on the first by rank, one on the oldest.
func (s *Sweep) take(now time.Time, ranked, oldest []SweepSubject) []backend.ID {
	var out []backend.ID
	taken := make(map[backend.ID]bool, len(ranked))
	for all := len(ranked); len(out) < all && s.budget.Take(); {
		from := &ranked
		if len(out)%fairShare == fairShare-1 {
			from = &oldest
		}
		for taken[(*from)[0].ID] {
			*from = (*from)[1:]
		}
		id := (*from)[0].ID
		taken[id] = true
		out = append(out, id)
		s.started(now, s.known[id])
	}
	return out
}

// started plans the next check. After the first one it is anywhere between the gap and the longest time, so that a fleet
// which was found at once is not checked at once for ever.
func (s *Sweep) started(now time.Time, e *swept) {
	longest := max(s.limits.Every-s.limits.Period, s.limits.Gap)
	wait := longest - time.Duration(s.random()*float64(longest)/10)
	if e.last.IsZero() {
		wait = s.limits.Gap + time.Duration(s.random()*float64(longest-s.limits.Gap))
	}
	e.last, e.due = now, now.Add(max(wait, s.limits.Gap))
}

// Longest is how long a sandbox waits between two checks when so many are checked: Every, or what the rate allows.
func (s *Sweep) Longest(subjects int) time.Duration {
	return max(s.limits.Every, time.Duration(float64(subjects)/s.limits.PerSecond*float64(time.Second)))
}

// Run starts a check of each of them, in their order, at most AtOnce at once and at an even pace within the rate, those of half a
// second together. It returns at once and calls done after the last.
func (s *Sweep) Run(ctx context.Context, spawn backend.Spawner, name string, ids []backend.ID, check func(context.Context, backend.ID), done func()) {
	jobs := make(chan backend.ID)
	pace := time.Duration(float64(time.Second) / s.limits.PerSecond)
	pace = min(pace, max(s.limits.Period/time.Duration(max(len(ids), 1)), briskest))
	var all sync.WaitGroup
	for range min(s.limits.AtOnce, len(ids)) {
		all.Add(1)
		spawn.Go(name, func() {
			defer all.Done()
			for id := range jobs {
				check(ctx, id)
			}
		})
	}
	spawn.Go("pace "+name, func() {
		defer done()
		defer all.Wait()
		defer close(jobs)
		together := max(int(slot/pace), 1)
		for i, id := range ids {
			if i > 0 && i%together == 0 && !s.wait(ctx, time.Duration(together)*pace) {
				return
			}
			jobs <- id
		}
	})
}

// pause waits; false when ctx ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
