package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestAFlatCounterTalksNoLinesDown: 300 lines of evicted workspaces are a storm also where a counter of evictions stands still.
// Where the counter knows of them, it says how many were recovered.
func TestAFlatCounterTalksNoLinesDown(t *testing.T) {
	play := func(counted float64) *story {
		s := begin(t, stormRule)
		s.source("prom", backend.InputEvictions)
		s.source("app", backend.InputEvictionLogs)
		count := func(lines, counted float64) {
			s.evicts(counted, counted)
			s.lines(backend.MetricWorkspaceEvicted, "", lines, "WorkspaceEvictedError: gone")
			s.lines(backend.MetricEvictionExhausted, "", 0, "")
		}
		count(0, 0)
		s.look()
		return s.every(5*time.Second, 5*time.Minute, func() { count(5, counted) })
	}
	a := play(0).want(stormRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning {
		t.Errorf("severity %s: nothing says how many were recovered", a.Severity)
	}
	wantEvidence(t, a, "300 × WorkspaceEvictedError in the log", "counted no eviction in 5m; that disproves nothing")
	play(5).quiet(stormRule)
}

// TestALogThatIsOutTalksNoKillDown: what a kernel and a metrics page prove needs no log.
func TestALogThatIsOutTalksNoKillDown(t *testing.T) {
	for name, out := range map[string]func(s *story){
		"down": func(s *story) { s.down("app", "no such file") },
		"silent": func(s *story) {
			s.health("app", func(h *fleet.SourceHealth) {
				h.Inputs, h.Missing = nil, []backend.MissingInput{{Input: backend.InputEvictionLogs, Why: backend.Text("no log file can be read")}}
			})
		},
	} {
		s := beginAgent(t)
		s.look()
		out(s)
		s.after(5 * time.Second)
		s.pass(time.Minute)
		s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](5) })
		s.look()
		s.pass(20 * time.Second)
		s.happened = append(s.happened, backend.Event{Kind: backend.EventChange, At: s.wall, Source: "prom", Name: "process-restarted", Text: backend.Text("process restarted")})
		if a := s.look().alerts(agentRule); len(a) != 1 || a[0].State != alerts.StateFiring {
			t.Errorf("%s: %v", name, a)
		}
	}
}

// TestRoomOfOneLimitTalksNoRefusalDown: an error that names 3 of 60 in use says nothing of the limit that others reach.
func TestRoomOfOneLimitTalksNoRefusalDown(t *testing.T) {
	s := begin(t, capacityRule)
	for i := range 4 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: "max_instances reached", attempt: time.Minute, success: time.Hour, provider: "blaxel"})
	}
	s.reads("a/box", reading{state: "evicted", err: "WorkspaceEvictedError: container lost: 3/60 in use", attempt: time.Second, success: time.Hour, provider: "blaxel"})
	if a := s.look().want(capacityRule, alerts.StateFiring); a.Severity != alerts.SeverityCritical {
		t.Errorf("severity %s", a.Severity)
	}
}

// TestRootsThatCannotBeListedFillAllTheSame: free space is read without a list of the scratch directories.
func TestRootsThatCannotBeListedFillAllTheSame(t *testing.T) {
	s, free := beginPile(t), 60e9
	s.plainly = true
	s.look()
	s.health("scratch", func(h *fleet.SourceHealth) {
		h.Inputs = []backend.Input{backend.InputHost}
		h.Missing = []backend.MissingInput{{Input: backend.InputTmpdirs, Why: backend.Text("permission denied")}}
	})
	s.fills(&free, 0.6e9, 11*time.Minute)
	if a := s.want(pileupRule, alerts.StateFiring); a.Cause.String() != "the disk below scratch directories fills up" {
		t.Errorf("cause %q", a.Cause)
	}
	s.restart()
	s.fills(&free, 0.6e9, time.Minute)
	s.want(pileupRule, alerts.StateFiring)
}

// TestAMissingSampleEndsNothing: memory that was not sampled once is not low.
func TestAMissingSampleEndsNothing(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	uses := func(mem int64) func(*backend.Sandbox) {
		return func(b *backend.Sandbox) {
			b.Usage = backend.Known(backend.Usage{At: s.wall, Mem: backend.Known(mem), MemLimit: backend.Known[int64](1e9)})
		}
	}
	s.box("c1", "a", uses(97e7))
	s.look()
	s.every(time.Minute, 3*time.Minute, func() { s.box("c1", "a", uses(98e7)) })
	s.want(boxOOMRule, alerts.StateFiring)
	s.pass(time.Minute)
	s.box("c1", "a", func(b *backend.Sandbox) { b.Usage = backend.Unknown[backend.Usage]() })
	s.look().want(boxOOMRule, alerts.StateHeld)
	s.pass(time.Minute)
	s.box("c1", "a", uses(98e7))
	s.look().want(boxOOMRule, alerts.StateFiring)
}

// TestOldFailuresTalkNoBurstDown: three workspaces that have failed since yesterday hide no outage of sixty with their cause.
func TestOldFailuresTalkNoBurstDown(t *testing.T) {
	s := begin(t, burstRule)
	for i := range 3 {
		s.reads(fmt.Sprintf("old%d/box", i), reading{state: "failed", err: oneCause(i), attempt: 20 * time.Hour, success: 21 * time.Hour, provider: "docker"})
	}
	s.look()
	s.pass(time.Minute)
	failNow(s, 60, oneCause)
	s.look()
	s.every(5*time.Second, 2*time.Minute, nil)
	s.want(burstRule, alerts.StateFiring)
}

// TestTimeOutOfSightCountsNothing: while a source is out nothing is known to last, so that an ordinary restart of its server
// meets no limit of time.
func TestTimeOutOfSightCountsNothing(t *testing.T) {
	out := func(s *story, source string, d time.Duration) {
		s.down(source, "connection refused")
		s.every(10*time.Second, d, func() { s.down(source, "connection refused") })
		s.up(source)
	}
	firing := func(s *story, rule string) bool {
		for _, a := range s.alerts(rule) {
			if a.State == alerts.StateFiring {
				return true
			}
		}
		return false
	}
	t.Run(stormRule, func(t *testing.T) {
		s := begin(t, stormRule)
		all := func(state string, attempt, success time.Duration) {
			for i := range 8 {
				err := ""
				if state == "evicted" {
					err = "WorkspaceEvictedError: gone"
				}
				s.reads(fmt.Sprintf("s%d/box", i), reading{state: state, err: err, attempt: attempt, success: success, provider: "docker"})
			}
		}
		all("open", time.Second, time.Second)
		s.look()
		s.pass(10 * time.Second)
		all("evicted", time.Second, 11*time.Second)
		s.look()
		out(s, "helix", 90*time.Second)
		all("evicted", time.Second, 100*time.Second)
		s.look()
		s.pass(5 * time.Second)
		all("evicted", time.Second, 110*time.Second)
		if s.look(); firing(s, stormRule) {
			t.Error("it fires though it was seen to last for 15s only")
		}
		for range 12 {
			s.pass(5 * time.Second)
			all("evicted", time.Second, 3*time.Minute)
			s.look()
		}
		s.want(stormRule, alerts.StateFiring)
	})
	t.Run(burstRule, func(t *testing.T) {
		s := begin(t, burstRule)
		s.reads("ok/box", reading{state: "open", attempt: time.Second, success: time.Second})
		s.look()
		s.pass(5 * time.Second)
		for i := range 6 {
			s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: oneCause(i), attempt: time.Second, success: time.Minute, provider: "docker"})
		}
		s.look()
		out(s, "helix", 2*time.Minute)
		s.restart()
		if s.after(5 * time.Second); firing(s, burstRule) {
			t.Error("it fires though it was seen to last for 10s only")
		}
		s.every(5*time.Second, time.Minute, nil)
		s.want(burstRule, alerts.StateFiring)
	})
	t.Run(hostOOMRule, func(t *testing.T) {
		s := beginHost(t, hostOOMRule)
		low := func(h *backend.Host) { h.MemAvailable = backend.Known[int64](3e8) }
		s.host(low)
		s.look()
		out(s, "scratch", 5*time.Minute)
		s.host(low)
		if s.look(); firing(s, hostOOMRule) {
			t.Error("it fires by two readings with an outage between them")
		}
		s.every(10*time.Second, time.Minute, func() { s.host(low) })
		s.want(hostOOMRule, alerts.StateFiring)
	})
	t.Run(boxOOMRule, func(t *testing.T) {
		s := beginBoxes(t, boxOOMRule)
		near := func(b *backend.Sandbox) {
			b.Usage = backend.Known(backend.Usage{At: s.wall, Mem: backend.Known[int64](97e7), MemLimit: backend.Known[int64](1e9)})
		}
		s.box("c1", "a", near)
		s.look()
		out(s, "docker", 5*time.Minute)
		s.box("c1", "a", near)
		if s.look(); firing(s, boxOOMRule) {
			t.Error("it fires by two samples with an outage between them")
		}
	})
}
