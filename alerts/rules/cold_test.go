package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// Each of these looks once, at something that began before: both bounds come from what is read.

func TestColdStartOfChaosIsBoundedByItsCauses(t *testing.T) {
	s := begin(t, chaosRule)
	for i := range 9 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: manyCauses(i), attempt: time.Duration(9-i) * time.Minute, success: time.Duration(20-i) * time.Minute})
	}
	s.began(s.look().want(chaosRule, alerts.StateFiring), 13*time.Minute, 2*time.Minute) // of nine causes the eighth makes it many
}

func TestColdStartOfALackOfRoomIsTheOldestRefusedStart(t *testing.T) {
	s := begin(t, capacityRule)
	for i := range 3 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "evicted", err: full(i), attempt: time.Duration(i+4) * time.Minute, success: time.Hour, provider: "cloudflare-sandbox"})
	}
	s.began(s.look().want(capacityRule, alerts.StateFiring), 0, 6*time.Minute)
	s.pass(time.Minute)
	s.reads("s2/box", reading{state: "evicted", err: full(2), attempt: time.Second, success: time.Hour, provider: "cloudflare-sandbox"}) // tried again
	s.began(s.look().want(capacityRule, alerts.StateFiring), 0, 7*time.Minute)
	s.restart()
	s.began(s.after(time.Second).want(capacityRule, alerts.StateFiring), 0, 7*time.Minute+time.Second)
}

func TestColdStartOfAKillIsBoundedByItsRun(t *testing.T) {
	s := beginBoxes(t, boxOOMRule)
	s.box("c1", "a", killedBefore(s, 40*time.Minute))
	s.began(s.look().want(boxOOMRule, alerts.StateFiring), 40*time.Minute, 40*time.Minute)
	s = beginBoxes(t, boxOOMRule) // the engine does not tell when it ended
	s.box("c1", "a", func(b *backend.Sandbox) {
		b.Class, b.OOMKilled, b.FinishedAt = backend.SandboxExited, backend.Known(true), backend.Unknown[time.Time]()
	})
	s.began(s.look().want(boxOOMRule, alerts.StateFiring), 3*time.Hour, 0)
}

func TestColdStartOfASandboxThatRunsOnIsBoundedByWhatItsSessionDid(t *testing.T) {
	begins := func() *story {
		s := beginBoxes(t, terminateRule)
		s.source("app", backend.InputEvictionLogs)
		s.session("a", func(x *backend.Session) {
			x.Running, x.StartedAt = backend.Known(false), backend.Known(s.wall.Add(-2*time.Hour))
		})
		s.box("c1", "a", nil)
		s.past("app", backend.MetricCloseTimeout, "a", 0, 5*time.Minute, time.Hour, 40*time.Minute)
		return s
	}
	s := begins()
	s.past("app", backend.MetricNamed, "a", 1, time.Minute, time.Hour, 42*time.Minute)
	s.past("app", backend.MetricCloseTimeout, "a", 1, time.Hour, 40*time.Minute, 0)
	s.began(s.look().want(terminateRule, alerts.StateFiring), 43*time.Minute, 40*time.Minute)

	s = begins() // the line is new, however long it was looked for: the sandbox has its grace
	s.lines(backend.MetricCloseTimeout, "a", 1, "workspace close timed out")
	s.began(s.look().want(terminateRule, alerts.StatePending), 2*time.Hour, 0)
}

func TestColdStartOfAFullRootIsBoundedByTheNewestDirectory(t *testing.T) {
	s := beginHost(t, rootRule)
	s.dir("old", time.Hour, func(d *backend.Tmpdir) { d.Born = backend.Known(s.wall.Add(-2 * time.Hour)) })
	s.dir("new", time.Hour, func(d *backend.Tmpdir) { d.Born = backend.Known(s.wall.Add(-40 * time.Minute)) })
	s.root(func(r *backend.Root) { r.BytesFree = backend.Known[int64](4096) })
	s.began(s.look().want(rootRule, alerts.StateFiring), 40*time.Minute, 0)

	s = beginHost(t, rootRule)
	s.dir("new", time.Hour, func(d *backend.Tmpdir) { d.Born = backend.Known(s.wall.Add(-40 * time.Minute)) })
	s.root(func(r *backend.Root) { r.Writable = backend.Known(false) })
	s.began(s.look().want(rootRule, alerts.StateFiring), 0, 0) // for another user it may have been writable all the time
}
