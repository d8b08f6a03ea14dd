package rules

import (
	"testing"
	"time"

	"sandglass/backend"
)

// stormLimits are the thresholds of eviction-storm beside its rate, of the share of evictions that no retry recovers, and of a disk
// that fills.
var stormLimits = []limit{
	{stormRule, func(t *testing.T, at bool) *story { // lines of exhausted retries
		s := beginStorm(t)
		s.source("app", backend.InputEvictionLogs)
		s.counted("app", backend.MetricEvictionExhausted, 0, nil)
		s.look()
		s.pass(5 * time.Second)
		s.counted("app", backend.MetricEvictionExhausted, below(3, at), nil)
		return s.look()
	}},
	{stormRule, func(t *testing.T, at bool) *story { return becomeEvicted(t, 8, int(below(5, at))) }},
	{stormRule, func(t *testing.T, at bool) *story { return becomeEvicted(t, 40, int(below(20, at))) }}, // half of those in use
	{stormRule, func(t *testing.T, at bool) *story { // just less than half is recovered
		s, recovered := beginMetrics(t), 50.0
		if at {
			recovered = 49.9
		}
		s.evicts(0, 0)
		s.look()
		return s.every(5*time.Second, 10*time.Minute, func() { s.evicts(100, recovered) })
	}},
	{intermittentRule, func(t *testing.T, at bool) *story { // 20 of 80 evictions are a quarter
		s := begin(t, intermittentRule)
		s.plainly = true
		s.source("prom", backend.InputEvictions)
		s.evicts(0, 0)
		s.look()
		more := func(minute int) float64 {
			if minute%30 == 1 && !at {
				return 1
			}
			return 0
		}
		return s.lose(func(minute int) float64 {
			n := 1 + more(minute)
			if minute%3 == 0 {
				n++
			}
			return n
		}, func(minute int) float64 { return 1 + more(minute) }, time.Hour)
	}},
	{pileupRule, func(t *testing.T, at bool) *story { // full within two hours at the rate of 10 minutes
		s, free := beginPile(t), 65.6e9
		if at {
			free = 65.49e9
		}
		s.plainly = true
		s.root(func(r *backend.Root) { r.BytesFree = backend.Known(int64(free)) })
		s.look()
		s.fills(&free, 0.5e9, 11*time.Minute)
		return s
	}},
}

// becomeEvicted lets some of a fleet be evicted while it is watched.
func becomeEvicted(t *testing.T, all, evicted int) *story {
	s := beginStorm(t)
	evictedFleet(s, all, 0, time.Second)
	s.look()
	s.pass(5 * time.Second)
	evictedFleet(s, all, evicted, time.Second)
	return s.look()
}
