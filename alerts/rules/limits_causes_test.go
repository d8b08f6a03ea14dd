package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// causeLimits are the thresholds of rules that compare workspaces with their past or with others.
var causeLimits = []limit{
	{chaosRule, func(t *testing.T, at bool) *story {
		s := begin(t, chaosRule)
		for i := range 20 { // so that not most of the fleet fails
			s.reads(fmt.Sprintf("ok%02d/box", i), works)
		}
		failNow(s, int(below(8, at)), manyCauses)
		return s.look()
	}},
	{sustainedRule, func(t *testing.T, at bool) *story {
		s := begin(t, sustainedRule)
		again := stays(s, "a/box", "evicted", 0, time.Minute)
		again()
		s.look().every(10*time.Second, 470*time.Second, again)
		s.pass(short(10*time.Second, at)) // 8 of 10 minutes
		again()
		return s.look()
	}},
	{restartRule, func(t *testing.T, at bool) *story {
		n := int(below(10, at))
		return restarts(t, n, n).after(time.Minute)
	}},
	{restartRule, func(t *testing.T, at bool) *story { return restarts(t, 10, 10).after(short(time.Minute, at)) }},
	{restartRule, func(t *testing.T, at bool) *story { // a quarter of the opens do not work
		return restarts(t, 12, int(below(3, at))).after(time.Minute)
	}},
	{loopRule, func(t *testing.T, at bool) *story {
		s := begin(t, loopRule)
		s.reads("a/box", reading{state: "failed", err: oneCause(0), attempt: time.Minute, success: time.Hour})
		s.look()
		for range int(below(3, at)) {
			resets(s, "a/box", oneCause(1))
		}
		return s
	}},
	{transientRule, func(t *testing.T, at bool) *story { return retried(t, int(below(5, at)), time.Minute) }},
	{transientRule, func(t *testing.T, at bool) *story { return retried(t, 5, short(time.Minute, at)) }},
	{intermittentRule, func(t *testing.T, at bool) *story {
		return beginIntermittent(t, 1).flips("a/box", fails, time.Minute, 10*time.Minute, time.Duration(below(5, at)-1)*10*time.Minute+30*time.Second)
	}},
	{intermittentRule, func(t *testing.T, at bool) *story { // evictions within an hour that no retry recovered
		s := begin(t, intermittentRule)
		s.plainly = true
		s.source("prom", backend.InputEvictions)
		s.evicts(0, 0)
		s.look()
		return s.lose(func(minute int) float64 {
			if minute%3 != 0 || minute == 30 && !at {
				return 0
			}
			return 1
		}, func(int) float64 { return 0 }, time.Hour)
	}},
}

// lostRegistries are running sessions of which some answer 404 for so long.
func lostRegistries(t *testing.T, lost, of int, lasts time.Duration) *story {
	s := beginRegistries(t)
	s.publish(0, of, backend.AnswerOK)
	s.look()
	s.pass(5 * time.Second)
	s.publish(0, lost, backend.AnswerIdle)
	return s.look().after(lasts)
}

// restarts opens some of 30 workspaces anew after a change, part of them in vain.
func restarts(t *testing.T, opens, stuck int) *story {
	s := watchedFleet(t, 30)
	rollout(s)
	s.after(time.Second)
	reopens(s, opens, stuck)
	return s
}

// retried tries a permanent cause so often, the first and the last time so far apart.
func retried(t *testing.T, attempts int, apart time.Duration) *story {
	s := begin(t, transientRule)
	again := retries(s, "a/box", "evicted", schema)
	began := s.wall
	for i := range attempts {
		s.pass(began.Add(apart * time.Duration(i) / time.Duration(attempts-1)).Sub(s.wall))
		again()
		s.look()
	}
	return s
}

// lineLimits are those of rules of which one line decides.
func lineLimits(rules ...string) []limit {
	metrics := map[string]backend.Metric{"tmpdir-close-failed": backend.MetricTmpdirCloseFailed, "persist-failed": backend.MetricPersistFailed, "hydrate-failed": backend.MetricHydrateFailed, "preview-failed": backend.MetricPreviewFailed, "package-missing": backend.MetricPackageMissing}
	var out []limit
	for _, rule := range rules {
		out = append(out, limit{rule, func(t *testing.T, at bool) *story {
			s := beginLines(t, rule, metrics[rule])
			s.look()
			s.pass(5 * time.Second)
			s.lines(metrics[rule], "a", below(1, at), "EACCES: permission denied")
			return s.look()
		}})
	}
	return out
}

var sandboxLimits = []limit{
	{boxOOMRule, func(t *testing.T, at bool) *story { return near(t, 95e7, short(2*time.Minute, at)) }},
	{boxOOMRule, func(t *testing.T, at bool) *story { return near(t, int64(below(95e7, at)), 2*time.Minute) }},
	{startRule, func(t *testing.T, at bool) *story { // it is history when it is more than a day old
		s := beginBoxes(t, startRule)
		s.box("c1", "a", refused(s, youngTrouble+beyond(at)))
		return s.look()
	}},
	{loopsRule, func(t *testing.T, at bool) *story { return looped(t, int(below(3, at)), 10*time.Minute) }},
	{loopsRule, func(t *testing.T, at bool) *story { return looped(t, 3, 10*time.Minute+beyond(at)) }},
	{unhealthyRule, func(t *testing.T, at bool) *story {
		s := beginBoxes(t, unhealthyRule)
		s.box("c1", "a", failingHealth(s, short(30*time.Second, at), 0))
		return s.look()
	}},
	{unhealthyRule, func(t *testing.T, at bool) *story { // its own start period is longer
		s := beginBoxes(t, unhealthyRule)
		s.box("c1", "a", failingHealth(s, short(time.Minute, at), time.Minute))
		return s.look()
	}},
	{exitedRule, func(t *testing.T, at bool) *story {
		s := beginBoxes(t, exitedRule)
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		s.box("c1", "a", func(b *backend.Sandbox) {
			b.Class, b.ExitCode, b.FinishedAt = backend.SandboxExited, backend.Known(1), backend.Known(s.wall)
		})
		s.look()
		s.pass(short(15*time.Second, at))
		s.session("a", func(x *backend.Session) { x.Running = backend.Known(true) })
		return s.look()
	}},
	{terminateRule, func(t *testing.T, at bool) *story {
		s := beginSession(t, func(w *backend.Workspace) { w.DestroyOnClose = backend.Known(true) })
		s.pass(time.Second)
		s.rests("a")
		return s.after(30 * time.Second).after(short(90*time.Second, at))
	}},
}

// near is a sandbox that uses so much of 1 GB for so long.
func near(t *testing.T, used int64, lasts time.Duration) *story {
	s := beginBoxes(t, boxOOMRule)
	sample := func() {
		s.box("c1", "a", func(b *backend.Sandbox) {
			b.Usage = backend.Known(backend.Usage{At: s.wall, Mem: backend.Known(used), MemLimit: backend.Known[int64](1e9)})
		})
	}
	sample()
	s.look()
	s.pass(time.Minute)
	sample()
	s.look()
	s.pass(lasts - time.Minute)
	sample()
	return s.look()
}

// looped is an old container that was restarted so often since it was first read, the last time so much later.
func looped(t *testing.T, times int, over time.Duration) *story {
	s := beginBoxes(t, loopsRule)
	began := s.wall
	for i := range times + 1 {
		s.pass(began.Add(over * time.Duration(i) / time.Duration(times)).Sub(s.wall))
		s.box("c1", "a", restarted(s, 1+i, 720*time.Hour, nil))
		s.look()
	}
	return s
}

// beyond is nothing, or a moment more.
func beyond(at bool) time.Duration {
	if at {
		return 0
	}
	return time.Millisecond
}

// TestStartsAreSuspectExactlyAtTheirLimit: starts alone never fire.
func TestStartsAreSuspectExactlyAtTheirLimit(t *testing.T) {
	for starts, want := range map[int]int{2: 0, 3: 1} {
		s := beginAgent(t)
		s.look()
		for range starts {
			s.pass(time.Minute)
			s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "process-restarted", Text: backend.Text("process restarted")})
			s.lines(backend.MetricAgentOOM, "", 0, "")
			s.look()
		}
		if got := s.alerts(agentRule); len(got) != want || want == 1 && got[0].State != alerts.StatePending {
			t.Errorf("%d starts: %s", starts, summary(s.board))
		}
	}
}
