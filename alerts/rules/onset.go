package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// startupSpan is how long after the console's start what is read may still be about the time before it: sources are read one
// after another, and what a log or a server tells of the past comes with the first of their readings.
const startupSpan = time.Minute

func startingUp(env *alerts.Env) bool { return env.Now.Sub(env.Watching) <= startupSpan }

// heldSince finds in the counts of the last hour between which moments a condition on the sums of a window began to hold,
// if it holds since then without a break; zero bounds when it does not hold now. The sums are of groups of series, in
// their order. Without an earlier bound it held already when counting began, or too little was read before to tell.
func heldSince(env *alerts.Env, over time.Duration, holds func(sums []float64) bool, groups ...[]backend.Series) alerts.Bounds {
	type count struct {
		at    time.Time
		group int
		n     float64
	}
	var all []count
	for g, series := range groups {
		for _, s := range series {
			for at, n := range env.State.Windows.Counts(s) {
				all = append(all, count{env.Ours(at), g, n})
			}
		}
	}
	stable.Sort(all, func(a, b count) int { return a.at.Compare(b.at) })
	sums := make([]float64, len(groups))
	var b alerts.Bounds
	var before time.Time // the moment that was looked at before
	held, from := false, 0
	for i := 0; i < len(all); {
		at := all[i].at
		for ; i < len(all) && all[i].at.Equal(at); i++ {
			sums[all[i].group] += all[i].n
		}
		for ; !all[from].at.After(at.Add(-over)); from++ {
			sums[all[from].group] -= all[from].n
		}
		if now := holds(sums); now && !held {
			b = alerts.Bounds{Latest: at}
			if before.Sub(all[0].at) >= over*9/10 {
				b.Earliest = before
			}
			held = true
		} else {
			held = now
		}
		before = at
	}
	if !held {
		return alerts.Bounds{}
	}
	return b
}

// onsetNote holds between which moments something began that counts prove.
type onsetNote struct {
	Held    time.Time `json:"first,omitzero"`  // by when it certainly held
	HeldNot time.Time `json:"worked,omitzero"` // when it was last known not to hold
	Sought  time.Time `json:"seen,omitzero"`   // when the two were last looked for
}

// onset finds between which moments something began, when the finding begins. In the first minute of the console earlier
// proof replaces it, looked for at most every ten seconds. n may be changed.
func onset(env *alerts.Env, n *onsetNote, find func() alerts.Bounds) alerts.Bounds {
	if n.Held.IsZero() || startingUp(env) && env.Now.Sub(n.Sought) >= 10*time.Second {
		n.Sought = env.Now
		if b := find(); !b.Latest.IsZero() && (n.Held.IsZero() || b.Latest.Before(n.Held)) {
			n.Held, n.HeldNot = b.Latest, b.Earliest
		}
		if n.Held.IsZero() {
			n.Held = env.Now
		}
	}
	return alerts.Bounds{Earliest: n.HeldNot, Latest: n.Held}
}

// nth is when the nth of some moments came, the first being 1; zero when that is not known. A zero moment is one that is
// not known, which may be the earliest of all.
func nth(times []time.Time, n int) time.Time {
	if n < 1 || n > len(times) || slices.ContainsFunc(times, time.Time.IsZero) {
		return time.Time{}
	}
	stable.Sort(times, time.Time.Compare)
	return times[n-1]
}
