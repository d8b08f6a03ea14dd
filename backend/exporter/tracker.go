package exporter

import (
	"math"
	"time"

	"github.com/prometheus/common/model"
)

const (
	// RestartJump is by how many seconds a process's start time must move to be another start: some libraries compute it
	// from the present time and the uptime, which wobbles.
	RestartJump = 1.5
	// ForgetAfter is how long a label set may be absent and still be continued when it comes back.
	ForgetAfter = time.Hour
	// WatchedGap is how far apart two rounds may lie for an increase between them to be news. What a counter rose by in a
	// longer gap did not happen now, and nothing tells when it did.
	WatchedGap = 5 * time.Minute
)

// Target is one scraped process, by the two labels that Prometheus itself puts on everything.
type Target struct{ Job, Instance model.LabelValue }

// TargetOf is the target of a label set.
func TargetOf(m model.Metric) Target { return Target{m[model.JobLabel], m[model.InstanceLabel]} }

// Proof is what is known about the process behind a value.
type Proof struct {
	Restarted bool // it started since the value before
	Same      bool // it certainly did not
}

// Counter follows the values of one label set.
type Counter struct {
	last   float64
	seenAt time.Time
	target Target
}

// NewCounter begins with a first value.
func NewCounter(v float64) *Counter { return &Counter{last: v} }

// Advance takes the next value and returns by how much it rose. lower says that more may have happened. back says that
// the value fell although its process runs on, as when two replicas of a server answer in turn: then nothing is counted
// and the higher value stays.
func (c *Counter) Advance(v float64, p Proof) (n float64, lower, back bool) {
	switch {
	case p.Restarted:
		n, lower = v, true
	case v < c.last && p.Same:
		return 0, false, true
	case v < c.last:
		n, lower = v, true
	default:
		n = v - c.last
	}
	c.last = v
	return n, lower, false
}

// Countable reports whether a counter can have the value.
func Countable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 }

// Round is what one poll tells about one metric.
type Round struct {
	At       time.Time
	Samples  model.Vector
	Complete bool // no sample is missing
	Lower    bool // more may have happened than the samples tell
	// Proof tells about the process of a target. Read says whether the target was read in the round before: only then was
	// an unknown label set born since. nil: nothing is known, and every target was.
	Proof func(Target) Proof
	Read  func(Target) bool
}

// Increase is what happened to one label set since the round before.
type Increase struct {
	*model.Sample
	N     float64
	Since time.Time // of the value before, zero: none
	Lower bool      // more may have happened: what came between the last value and a reset is lost
}

// Tracker turns the values of one counter metric into increases.
type Tracker struct {
	known map[model.Fingerprint]*Counter
	// watched: the round before was complete, so that a label set that is new now was born since.
	watched bool
	at      time.Time // of the round before, zero: none
	// Unwatched is by how much the counters rose in a gap before the newest round, which counts nothing.
	Unwatched float64
}

// Watched reports whether the round before was complete.
func (t *Tracker) Watched() bool { return t.watched }

// Targets adds the targets of the followed label sets.
func (t *Tracker) Targets(to map[Target]bool) {
	for _, c := range t.known {
		to[c.target] = true
	}
}

// Forget drops all values: those that follow continue nothing.
func (t *Tracker) Forget() { *t = Tracker{} }

// Miss says that there was no round.
func (t *Tracker) Miss() { t.watched = false }

// Follow takes one round. Every followed label set has an increase; at first sight it is 0, which says that somebody
// looks. At most limit label sets are followed: skipped counts the others, and those without a number. back counts those
// that fell although their process runs on.
func (t *Tracker) Follow(r Round, limit int) (out []Increase, skipped, back int) {
	proof := func(x Target) Proof {
		if r.Proof == nil {
			return Proof{}
		}
		return r.Proof(x)
	}
	for _, c := range t.known {
		if proof(c.target).Restarted {
			c.last = 0 // also of a label set that comes back later
		}
	}
	if t.known == nil {
		t.known = map[model.Fingerprint]*Counter{}
	}
	t.Unwatched = 0
	before, gap := t.at, !t.at.IsZero() && r.At.Sub(t.at) > WatchedGap
	t.watched, t.at = t.watched && !gap, r.At
	out = make([]Increase, 0, len(r.Samples))
	for _, x := range r.Samples {
		v, id, target := float64(x.Value), x.Metric.Fingerprint(), TargetOf(x.Metric)
		c := t.known[id]
		if x.Histogram != nil || !Countable(v) || c == nil && len(t.known) >= limit {
			skipped++
			continue
		}
		inc, p := Increase{Sample: x, Since: before, Lower: r.Lower}, proof(target)
		if c != nil {
			inc.Since = c.seenAt
			n, lower, fell := c.Advance(v, p)
			if gap || r.At.Sub(c.seenAt) > WatchedGap {
				t.Unwatched, n, lower = t.Unwatched+n, 0, true
			}
			inc.N, inc.Lower = n, inc.Lower || lower
			if fell {
				back++
			}
		} else {
			c = &Counter{last: v, target: target}
			t.known[id] = c
			switch born := t.watched && (r.Read == nil || r.Read(target)); {
			case born || p.Restarted && !gap:
				inc.N = v // its first value is what happened since the round before
			case t.watched:
				inc.Lower = true // nobody read its target before: what it brings is its past
			}
		}
		c.seenAt = r.At
		out = append(out, inc)
	}
	for id, c := range t.known {
		if r.At.Sub(c.seenAt) > ForgetAfter {
			delete(t.known, id)
		}
	}
	t.watched = r.Complete
	return out, skipped, back
}
