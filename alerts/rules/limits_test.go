package rules

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// A limit plays a rule just below one of its thresholds, and exactly at it.
type limit struct {
	rule string
	play func(t *testing.T, at bool) *story
}

// limits are the thresholds that decide whether a rule fires.
var limits = slices.Concat(fleetLimits, stormLimits, intermittentLimits, causeLimits, contradictionLimits, platformLimits, expiringLimits, interruptedLimits, runawayLimits, ptyLimits, sandboxLimits, lineLimits("tmpdir-close-failed", "persist-failed", "hydrate-failed", "preview-failed", "package-missing"))

// withoutLimit are the rules of which one fact decides, and which.
var withoutLimit = map[string]string{
	capabilityRule:  "the error text",
	vanishedRule:    "a registry that was re-created, or a directory that is gone",
	refRule:         "a reference and a container or version that disagree",
	leakRule:        "two sessions in one place",
	publicRule:      "an address that is public",
	checkpointRule:  "the platform's refusal",
	hostRestartRule: "a boot while it was watched",
	"source-open":   "an answer to a request without a key",
}

// TestEveryRuleHasItsLimits holds that each rule is played at its limit, or named as one that has none.
func TestEveryRuleHasItsLimits(t *testing.T) {
	for _, k := range Kinds() {
		_, none := withoutLimit[k.Name]
		if played := slices.ContainsFunc(limits, func(l limit) bool { return l.rule == k.Name }); played == none {
			t.Errorf("%s: played at a limit: %v; named as one without: %v", k.Name, played, none)
		}
	}
}

var fleetLimits = []limit{
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
	{pileupRule, func(t *testing.T, at bool) *story {
		s := beginPile(t)
		s.dirs(0, 20)
		s.look()
		s.pass(time.Minute)
		s.dirs(20, 20+int(below(float64(defaultOf[*PileupOptions](t, pileupRule).Growth), at)))
		s.host(nil)
		s.look()
		s.pass(20 * time.Second) // sessions are listed by then
		s.host(nil)
		return s.look()
	}},
	{registryRule, func(t *testing.T, at bool) *story { // sessions that lost their registry
		return lostRegistries(t, int(below(3, at)), 20, 2*time.Minute)
	}},
	{registryRule, func(t *testing.T, at bool) *story { // a tenth of those that run
		return lostRegistries(t, int(below(4, at)), 40, 2*time.Minute)
	}},
	{registryRule, func(t *testing.T, at bool) *story { return lostRegistries(t, 3, 20, short(2*time.Minute, at)) }},
	{staleRule, func(t *testing.T, at bool) *story {
		s := begin(t, staleRule)
		copies(s, short(15*time.Second, at), "Sat, 14 Mar 2026 12:00:00 GMT")
		s.health("helix", func(h *fleet.SourceHealth) { h.BodyBy = "Age" })
		return s.look()
	}},
	{degradedRule, func(t *testing.T, at bool) *story { // registries that a restarted framework opens again
		s := begin(t, degradedRule)
		s.health("helix", func(h *fleet.SourceHealth) {
			h.Held = []fleet.Held{{Kind: backend.KindWorkspace, Lost: 20, Of: 20, Count: 20, Since: noon}}
		})
		return s.look().after(short(reopenWithin, at))
	}},
	{agentRule, func(t *testing.T, at bool) *story { // a kill by the kernel and a start that belong together
		s := beginAgent(t)
		s.look()
		s.pass(time.Minute)
		s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](5) })
		s.look()
		s.pass(2*time.Minute + beyond(at))
		s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "process-restarted", Text: backend.Text("process restarted")})
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
