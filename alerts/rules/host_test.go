package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

const (
	hostOOMRule     = "host-oom"
	hostRestartRule = "host-restarted"
	rootRule        = "tmpdir-root-unusable"
)

func TestHostOOMFiresWhenTheCounterRises(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	s.look().quiet(hostOOMRule) // old kills say nothing
	s.pass(10 * time.Second)
	s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](6) })
	a := s.look().want(hostOOMRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Runbook != "host" || !a.Bounds.Earliest.Equal(noon) || !a.Bounds.Latest.Equal(noon.Add(10*time.Second)) {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "2 processes killed for lack of memory", "6 processes killed since box-1 booted", "8 GB of 16 GB memory available")
	s.every(30*time.Second, 14*time.Minute, func() { s.host(nil) })
	s.want(hostOOMRule, alerts.StateFiring)
	s.after(2 * time.Minute).quiet(hostOOMRule)
	s.wantTransitions("firing resolved")
}

// TestHostOOMColdStartIsNoNews: a counter that runs since the boot does not say when, however young the boot is.
func TestHostOOMColdStartIsNoNews(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	s.host(func(h *backend.Host) { h.BootedAt = backend.Known(s.wall.Add(-12 * time.Minute)) })
	s.look().quiet(hostOOMRule)
	s.wantRemark("4 processes for lack of memory before 12:00:00Z; when is not known")
	s.every(10*time.Second, time.Minute, func() { s.host(nil) }).quiet(hostOOMRule)
}

// TestHostOOMAcrossAGapIsARemark: the console was off for three days, or its source out for six hours.
func TestHostOOMAcrossAGapIsARemark(t *testing.T) {
	for _, gap := range []time.Duration{15 * time.Minute, 6 * time.Hour, 72 * time.Hour} {
		s := beginHost(t, hostOOMRule)
		s.look()
		if gap > 24*time.Hour {
			s.off(gap)
		} else {
			s.down("scratch", "no answer")
			s.look()
			s.up("scratch")
			s.pass(gap)
		}
		s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](7) })
		s.look().quiet(hostOOMRule)
		s.wantRemark("killed 3 processes for lack of memory between ")
		s.pass(10 * time.Second)
		s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](8) }) // this one was watched
		wantEvidence(t, s.look().want(hostOOMRule, alerts.StateFiring), "1 process killed for lack of memory")
	}
	s := beginHost(t, hostOOMRule)
	s.look()
	s.pass(15*time.Minute - time.Second)
	s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](7) })
	s.look().want(hostOOMRule, alerts.StateFiring)
}

func (s *story) wantRemark(part string) {
	s.t.Helper()
	if r := backend.Join(s.board.Remarks(hostKey()), "; "); !strings.Contains(r.String(), part) {
		s.t.Errorf("remarks %q, want %q", r, part)
	}
}

// TestHostOOMOfAContainerIsNoHosts: what a container's own limit explains is sandbox-oom's, however it is told.
func TestHostOOMOfAContainerIsNoHosts(t *testing.T) {
	kill := func(s *story, more int64) { s.host(func(h *backend.Host) { h.OOMKills = backend.Known(4 + more) }) }
	for name, told := range map[string]func(s *story){
		"event of the engine": func(s *story) {
			s.counted("docker", backend.MetricLimitKills, 1, func(c *backend.Count) { c.Series.Sandbox = boxKey("c1").ID })
		},
		"line of the kernel": func(s *story) {
			s.counted("docker", backend.MetricLimitKills, 1, nil)
		},
		"state of the container": func(s *story) { s.box("c1", "a", killedBefore(s, 0)) },
	} {
		s := beginHost(t, hostOOMRule, boxOOMRule)
		s.source("docker", backend.InputContainers)
		s.box("c1", "a", nil)
		s.lag = time.Second
		s.look()
		s.pass(5 * time.Second)
		kill(s, 3) // one limit kills three processes, and this is read before the engine is
		s.look()
		if a := s.want(hostOOMRule, alerts.StatePending); !strings.Contains(a.Why.String(), "docker tells whether a container reached its own limit") {
			t.Errorf("%s: why %q", name, a.Why)
		}
		told(s)
		s.after(time.Second).quiet(hostOOMRule)
		s.every(5*time.Second, time.Minute, func() { kill(s, 3) }).quiet(hostOOMRule)
		if name != "line of the kernel" {
			s.want(boxOOMRule, alerts.StateFiring)
		}
		s.restart()
		s.counts = nil // the windows are empty
		s.box("c1", "a", nil)
		kill(s, 3)
		s.after(5 * time.Second).quiet(hostOOMRule)
	}
}

// TestHostOOMByControlGroups: memory.events tells the kills at limits from those of the host, also where no engine is read.
func TestHostOOMByControlGroups(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	reads := func(kills, limits int64) {
		s.host(func(h *backend.Host) { h.OOMKills, h.LimitKills = backend.Known(kills), backend.Known(limits) })
	}
	reads(4, 1)
	s.look()
	for _, x := range [][2]int64{{5, 2}, {5, 3}, {6, 3}, {8, 5}} { // the third reading brings the kill whose limit the second one saw
		s.pass(5 * time.Second)
		reads(x[0], x[1])
		s.look().quiet(hostOOMRule)
	}
	s.pass(5 * time.Second)
	reads(10, 6)
	wantEvidence(t, s.look().want(hostOOMRule, alerts.StateFiring), "1 process killed for lack of memory")
}

// TestHostOOMWithoutALimitIsTheHosts: a container without a limit of its own dies of the host's lack of memory.
func TestHostOOMWithoutALimitIsTheHosts(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	s.source("docker", backend.InputContainers)
	s.box("c1", "a", func(b *backend.Sandbox) {
		b.Usage = backend.Known(backend.Usage{At: s.wall, Mem: backend.Known[int64](1e9), MemLimit: backend.NotApplicable[int64]()})
	})
	s.look()
	s.pass(5 * time.Second)
	s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](5) })
	s.box("c1", "a", killedBefore(s, time.Second))
	s.look()
	s.after(5*time.Second).want(hostOOMRule, alerts.StateFiring)
}

func TestHostOOMMemoryMustStayLow(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	low := func(h *backend.Host) { h.MemAvailable = backend.Known[int64](3e8) }
	s.host(low)
	s.look().want(hostOOMRule, alerts.StatePending)
	s.pass(30 * time.Second)
	s.host(func(h *backend.Host) { h.MemAvailable = backend.Known[int64](9e9) })
	s.look().quiet(hostOOMRule)
	s.pass(30 * time.Second)
	s.host(low)
	s.look().want(hostOOMRule, alerts.StatePending)
	s.every(10*time.Second, time.Minute, func() { s.host(low) })
	a := s.want(hostOOMRule, alerts.StateFiring)
	if a.Cause.String() != "memory is nearly exhausted" {
		t.Errorf("cause %q", a.Cause)
	}
}

// TestHostOOMLowMemoryNeedsNoOtherSource: a kill that a container's limit may still explain talks proved lack of memory not down.
func TestHostOOMLowMemoryNeedsNoOtherSource(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	s.source("docker", backend.InputContainers)
	s.box("c1", "a", nil)
	low := func(h *backend.Host) { h.MemAvailable = backend.Known[int64](3e8) }
	s.lag = time.Second
	s.every(10*time.Second, 2*time.Minute, func() { s.host(low) })
	s.want(hostOOMRule, alerts.StateFiring)
	s.pass(5 * time.Second)
	s.host(func(h *backend.Host) { low(h); h.OOMKills = backend.Known[int64](5) })
	if a := s.look().want(hostOOMRule, alerts.StateFiring); a.Cause.String() != "memory is nearly exhausted" {
		t.Errorf("cause %q", a.Cause)
	}
}

// TestHostOOMPressureIsNoAlert: tasks that wait for memory are evidence for a diagnosis and page nobody.
func TestHostOOMPressureIsNoAlert(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	press := func() { s.host(func(h *backend.Host) { h.MemPressure = backend.Known(0.4) }) }
	press()
	s.look().quiet(hostOOMRule)
	s.every(10*time.Second, 2*time.Minute, press)
	s.quiet(hostOOMRule)
}

func TestHostOOMGapRestartAndBlind(t *testing.T) {
	s := beginHost(t, hostOOMRule)
	s.look()
	s.pass(time.Second)
	s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](5) })
	s.look().want(hostOOMRule, alerts.StateFiring)
	s.wantHeldThenBack(hostOOMRule, "scratch", func() { s.host(nil) })
	s.wantSameAfterRestart(hostOOMRule, "scratch", func() { s.host(nil) })
	s.pass(time.Second)
	s.host(func(h *backend.Host) {
		h.OOMKills, h.BootedAt = backend.Known[int64](1), backend.Known(s.wall.Add(-time.Minute))
	}) // booted anew and killed again
	wantEvidence(t, s.look().want(hostOOMRule, alerts.StateFiring), "2 processes killed for lack of memory")
	b := begin(t, hostOOMRule)
	b.look()
	if why := b.blindWhy(hostOOMRule, ""); why != "no configured source reports host memory and disk" {
		t.Errorf("blind because %q", why)
	}
}

func TestHostRestartedWhileWatched(t *testing.T) {
	s := beginHost(t, hostRestartRule)
	s.look().quiet(hostRestartRule)
	s.pass(2 * time.Minute)
	s.host(func(h *backend.Host) { h.BootedAt = backend.Known(s.wall.Add(-40 * time.Second)) })
	a := s.look().want(hostRestartRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityInfo || a.Runbook != "2" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "box-1 booted at 12:01:20Z")
	s.every(time.Minute, 14*time.Minute, func() { s.host(nil) })
	s.want(hostRestartRule, alerts.StateFiring)
	s.after(time.Minute).quiet(hostRestartRule)
}

func TestHostRestartedIsAWarningWhereATmpfsLostItsContent(t *testing.T) {
	s := beginHost(t, hostRestartRule)
	s.root(func(r *backend.Root) { r.FSType = backend.Text("tmpfs") })
	s.look()
	s.pass(2 * time.Minute)
	s.host(func(h *backend.Host) { h.BootedAt = backend.Known(s.wall.Add(-time.Minute)) })
	a := s.look().want(hostRestartRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning {
		t.Errorf("severity %s", a.Severity)
	}
	wantEvidence(t, a, "a tmpfs, emptied by it: /tmp")
	s.restart()
	s.after(time.Second)
	if b := s.want(hostRestartRule, alerts.StateFiring); b.ID != a.ID || b.Severity != a.Severity {
		t.Errorf("after a restart %+v", b)
	}
}

func TestHostRestartedDoesNotFireForAClockThatMoves(t *testing.T) {
	s := beginHost(t, hostRestartRule)
	s.look()
	for _, boot := range []time.Duration{-72*time.Hour + 3*time.Second, -71 * time.Hour, time.Hour} {
		s.pass(time.Minute)
		s.host(func(h *backend.Host) { h.BootedAt = backend.Known(noon.Add(boot)) })
		s.look().quiet(hostRestartRule)
	}
}

func TestHostRestartedColdStart(t *testing.T) {
	young := func(s *story) {
		s.host(func(h *backend.Host) { h.BootedAt = backend.Known(s.wall.Add(-5 * time.Minute)) })
	}
	s := beginHost(t, hostRestartRule)
	young(s)
	s.session("a", func(x *backend.Session) {
		x.Running, x.StartedAt = backend.Known(true), backend.Known(s.wall.Add(-time.Minute))
	})
	s.look().quiet(hostRestartRule)
	s = beginHost(t, hostRestartRule)
	young(s)
	s.session("a", func(x *backend.Session) {
		x.Running, x.StartedAt = backend.Known(true), backend.Known(s.wall.Add(-time.Hour))
	})
	wantEvidence(t, s.look().want(hostRestartRule, alerts.StateFiring), "the oldest since 11:00:00Z")
	s.wantHeldThenBack(hostRestartRule, "scratch", func() { s.host(nil) })
}

func TestRootUnusable(t *testing.T) {
	for want, edit := range map[string]func(*backend.Root){
		"the root does not exist": func(r *backend.Root) { *r = backend.Root{Path: r.Path, Exists: backend.Known(false)} },
		"the file system is read-only": func(r *backend.Root) {
			r.ReadOnly, r.Writable = backend.Known(true), backend.Known(false)
		},
		"the agent's user may not write there": func(r *backend.Root) { r.Writable = backend.Known(false) },
		"the file system is full":              func(r *backend.Root) { r.BytesFree = backend.Known[int64](4096) },
		"no inodes are left":                   func(r *backend.Root) { r.InodesFree = backend.Known[int64](0) },
	} {
		s := beginHost(t, rootRule)
		s.look().quiet(rootRule)
		s.root(edit)
		a := s.after(10*time.Second).want(rootRule, alerts.StateFiring)
		if a.Cause.String() != want || a.Severity != alerts.SeverityCritical {
			t.Errorf("cause %q, want %q", a.Cause, want)
		}
		wantEvidence(t, a, "/tmp on box-1: "+want)
		if full := strings.Contains(want, "full") || strings.Contains(want, "inodes"); (a.Runbook == "5") != full {
			t.Errorf("%s: runbook %s", want, a.Runbook)
		}
		s.hosts = map[backend.Key]*backend.Host{}
		s.pass(time.Second)
		s.host(nil)
		s.look().quiet(rootRule)
	}
}

func TestRootUnusableGapColdStartRestart(t *testing.T) {
	s := beginHost(t, rootRule)
	gone := func(r *backend.Root) { *r = backend.Root{Path: r.Path, Exists: backend.Known(false)} }
	s.root(gone)
	s.look().want(rootRule, alerts.StateFiring) // a cold start needs no history
	s.wantHeldThenBack(rootRule, "scratch", func() { s.root(gone) })
	s.wantSameAfterRestart(rootRule, "scratch", func() { s.root(gone) })
	s.pass(time.Second)
	s.root(func(r *backend.Root) {
		*r = backend.Root{Path: r.Path, Problem: backend.Text("the file system did not answer in time")}
	})
	if a := s.look().want(rootRule, alerts.StateHeld); !strings.Contains(a.Why.String(), "did not answer in time") {
		t.Errorf("why %q", a.Why)
	}
}

func TestRootUnusableDoesNotJudgeWhatCannotBeDecided(t *testing.T) {
	s := beginHost(t, rootRule)
	s.root(func(r *backend.Root) {
		r.Writable, r.InodesFree = backend.Unknown[bool](), backend.NotApplicable[int64]()
	})
	s.look().quiet(rootRule)
}

// TestHostOOMWhereNothingTellsOfLimits: control groups of the first version take their counts with them, and an engine tells
// only of its own containers, so that a kill is pending until memory is low.
func TestHostOOMWhereNothingTellsOfLimits(t *testing.T) {
	for name, host := range map[string]func(*backend.Host){
		"cgroup v1":        func(h *backend.Host) { h.LimitKillsCut = true },
		"no control group": func(h *backend.Host) { h.LimitKills = backend.Unknown[int64]() },
	} {
		s := beginHost(t, hostOOMRule)
		s.host(host)
		s.look()
		s.pass(10 * time.Second)
		s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](6) })
		a := s.look().want(hostOOMRule, alerts.StatePending)
		if !strings.Contains(a.Cause.String(), "whether a container's own limit did it is not known") || a.Why.IsEmpty() {
			t.Errorf("%s: %s; %s", name, a.Cause, a.Why)
		}
		s.every(30*time.Second, 14*time.Minute, func() { s.host(nil) })
		s.want(hostOOMRule, alerts.StatePending)
		s.host(func(h *backend.Host) { h.OOMKills, h.MemAvailable = backend.Known[int64](7), backend.Known[int64](3e8) })
		s.after(10*time.Second).want(hostOOMRule, alerts.StateFiring)

		s = beginHost(t, hostOOMRule)
		s.host(host)
		s.source("docker", backend.InputContainers)
		s.look()
		s.pass(10 * time.Second)
		s.host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](6) })
		s.look()
		s.after(10*time.Second).want(hostOOMRule, alerts.StatePending)
		s.pass(10 * time.Second)
		s.host(func(h *backend.Host) { h.LimitKillsCut, h.LimitKills = false, backend.Known[int64](0) }) // its log reaches back again
		s.want(hostOOMRule, alerts.StatePending)
	}
}
