package alerts

import (
	"time"

	"sandglass/internal/stable"
)

// Thresholds are the figures that a rule compares with, by their key in the configuration: numbers and shares as they
// are, durations in seconds, sizes in bytes. A rule may add figures that no key changes.
type Thresholds map[string]float64

// Span is a threshold that is a duration.
func (t Thresholds) Span(key string) time.Duration {
	return time.Duration(t[key] * float64(time.Second))
}

// Rule is what a rule that concluded the Board declares about itself, nil where no rule of that name was evaluated.
func (b *Board) Rule(name string) *Meta { return b.rules[name] }

// declared are the rules of the Engine by name.
func declared(rules []Rule) map[string]*Meta {
	out := make(map[string]*Meta, len(rules))
	for _, r := range rules {
		out[r.Meta().Name] = r.Meta()
	}
	return out
}

// OpenedTogether is how near to each other attempts must lie to count as opens at one moment, and StartedTogether the same
// for starts of sessions and sandboxes.
const (
	OpenedTogether  = time.Second
	StartedTogether = 2 * time.Minute
)

// Together finds the most times that lie within a span of each other: how many, and the newest of them. It sorts times.
func Together(times []time.Time, within time.Duration) (n int, newest time.Time) {
	stable.Sort(times, time.Time.Compare)
	from := 0
	for i, at := range times {
		for at.Sub(times[from]) > within {
			from++
		}
		if i-from+1 >= n {
			n, newest = i-from+1, at
		}
	}
	return n, newest
}
