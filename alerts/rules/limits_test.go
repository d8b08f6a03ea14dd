package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// limits play each rule just below its main threshold, and exactly at it.
var limits = []struct {
	rule string
	play func(t *testing.T, at bool) *story
}{
	{failedRule, func(t *testing.T, at bool) *story {
		s := begin(t, failedRule)
		s.reads("a/box", reading{state: "failed", err: quota, attempt: short(10*time.Minute, at), success: time.Hour})
		return s.look()
	}},
	{hammeredRule, func(t *testing.T, at bool) *story {
		s := begin(t, hammeredRule)
		after := defaultOf[*HammeredOptions](t, hammeredRule).After.Std()
		s.reads("a/box", reading{state: "evicted", err: quota, attempt: time.Second, success: time.Second + short(after, at)})
		return s.look()
	}},
	{stormRule, func(t *testing.T, at bool) *story {
		s, step := beginMetrics(t), 6*time.Second
		if at {
			step = 5 * time.Second // 0.2/s
		}
		s.evicts(0, 0)
		s.look()
		return s.every(step, 10*time.Minute, func() { s.evicts(1, 0) })
	}},
	{auditRule, func(t *testing.T, at bool) *story {
		s := beginLogs(t)
		s.rejects("c4f1", 0, 0, 0)
		s.look()
		return s.every(5*time.Second, 2*time.Minute, func() { s.rejects("c4f1", below(25, at), 1, 0) })
	}},
	{burstRule, func(t *testing.T, at bool) *story {
		s := begin(t, burstRule)
		failNow(s, 0, oneCause)
		s.reads("ok/box", reading{state: "open", attempt: time.Second, success: time.Second})
		s.look()
		s.pass(5 * time.Second)
		failNow(s, int(below(5, at)), oneCause)
		s.look()
		return s.every(5*time.Second, 2*time.Minute, nil)
	}},
	{skewRule, func(t *testing.T, at bool) *story {
		s := begin(t, skewRule)
		s.health("helix", func(h *fleet.SourceHealth) { h.ClockOffset = backend.Known(short(30*time.Second, at)) })
		s.look()
		return s.every(10*time.Second, 2*time.Minute, nil)
	}},
	{downRule, func(t *testing.T, at bool) *story {
		s := begin(t)
		s.look()
		for range int(below(3, at)) {
			s.pass(5 * time.Second)
			s.down("helix", "connection refused")
			s.look()
		}
		return s
	}},
	{hostOOMRule, func(t *testing.T, at bool) *story {
		s := beginHost(t, hostOOMRule)
		low := func() { s.host(func(h *backend.Host) { h.MemAvailable = backend.Known(least(480e6, at)) }) }
		low()
		s.look()
		return s.every(10*time.Second, 2*time.Minute, low)
	}},
	{rootRule, func(t *testing.T, at bool) *story {
		s := beginHost(t, rootRule)
		s.root(func(r *backend.Root) { r.BytesFree = backend.Known(least(16e6, at)) })
		return s.look()
	}},
	{rootRule, func(t *testing.T, at bool) *story {
		s := beginHost(t, rootRule)
		s.root(func(r *backend.Root) { r.InodesFree = backend.Known(least(100, at)) })
		return s.look()
	}},
	{pileupRule, func(t *testing.T, at bool) *story {
		s := beginHost(t, pileupRule)
		free := defaultOf[*PileupOptions](t, pileupRule).Free
		s.dirs(0, 1)
		s.root(func(r *backend.Root) { r.BytesFree = backend.Known(least(int64(free*100e9), at)) })
		return s.look()
	}},
	{pileupRule, func(t *testing.T, at bool) *story {
		s := beginHost(t, pileupRule)
		s.dirs(0, int(below(float64(defaultOf[*PileupOptions](t, pileupRule).Count), at)))
		return s.look()
	}},
	{orphanRule, func(t *testing.T, at bool) *story {
		s := beginHost(t, orphanRule)
		s.dir("d", short(24*time.Hour, at), nil)
		return s.look()
	}},
	{capacityRule, func(t *testing.T, at bool) *story {
		s := begin(t, capacityRule)
		used := int(below(48, at)) // of 60, of which it warns from 80 %
		s.reads("a/box", reading{state: "evicted", err: fmt.Sprintf("WorkspaceEvictedError: container limit reached: %d/60 in use", used), attempt: time.Second, success: time.Hour})
		return s.look()
	}},
}

// TestLimitsDecide holds that a rule decides exactly at its limit, and not before.
func TestLimitsDecide(t *testing.T) {
	for i, c := range limits {
		t.Run(fmt.Sprintf("%s %d", c.rule, i), func(t *testing.T) {
			for _, a := range c.play(t, false).alerts(c.rule) {
				if a.State == alerts.StateFiring {
					t.Errorf("it fires below its limit: %s", a.Cause)
				}
			}
			c.play(t, true).want(c.rule, alerts.StateFiring)
		})
	}
}

// short is a span, or a moment less.
func short(d time.Duration, at bool) time.Duration {
	if at {
		return d
	}
	return d - time.Millisecond
}

// below is a count, or one less.
func below(n float64, at bool) float64 {
	if at {
		return n
	}
	return n - 1
}

// least is what is left, or one more.
func least(n int64, at bool) int64 {
	if at {
		return n
	}
	return n + 1
}

// defaultOf are the default options of a rule.
func defaultOf[O any](t *testing.T, name string) O {
	t.Helper()
	for _, k := range Kinds() {
		if o, is := k.Defaults().(O); is && k.Name == name {
			return o
		}
	}
	t.Fatalf("there is no rule %s", name)
	panic("unreachable")
}
