package test

import (
	"fmt"
	"slices"
	"time"
)

// ordinaryWorlds are situations that every installation meets. None of them may raise a warning or worse.
func ordinaryWorlds() []world {
	return slices.Concat(quietHosts(), quietCounters(), quietStarts(), quietLines(), quietBlips(), quietFleets(), quietOld(), quietNames(), quietEngines(),
		quietClocks(), quietFiles(), quietSources(), quietLists(), quietCron())
}

const (
	min1 = time.Minute
	hour = time.Hour
)

const watched = "an increment counts only between two readings less than recent apart"

func quietHosts() []world {
	return []world{
		{name: "kills while the console was off for 72 hours", proves: watched, reads: "helix host", lasts: 72*hour + 15*min1, off: []worldOff{{10 * min1, 72 * hour}}, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.host.kills = 2
			s.at(40*hour, func() { s.host.kills = 9 })
		}},
		{name: "kills while the source was out for 6 hours", proves: watched, reads: "helix host", lasts: 6*hour + 10*min1, step: min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.at(10*min1, func() { s.host.out = true })
			s.at(3*hour, func() { s.host.kills = 4 })
			s.at(6*hour, func() { s.host.out = false })
		}, never: []string{"^host-oom (warning|critical) (firing|held)"}, ends: []string{"^exit 0$"}},
		{name: "kills before the console on a host that booted 12 minutes ago", proves: watched, reads: "helix host", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.host.booted, s.host.kills = s.clock.Add(-12*min1), 3
		}},
		{name: "kills before the console on a host that has been up for a month", proves: watched, reads: "helix host", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.host.kills = 117
		}},
		{name: "a host that reboots", proves: "every rule that reads since-boot figures: what each does at the first reading and after a gap", reads: "host", lasts: 10 * min1, make: func(s *worldSite) {
			s.host.kills = 50
			s.at(5*min1, func() { s.host.out = true })
			s.at(5*min1+10*time.Second, func() { s.host.out, s.host.kills, s.host.booted = false, 0, s.clock.Add(-5*time.Second) })
		}},
		{name: "memory that a build takes and gives back", proves: "no alarm on ordinary situations", reads: "helix host", lasts: 30 * min1, step: 15 * time.Second, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.every(10*min1, 11*min1, 5*time.Second, func() { s.host.available = 0.08 })
			s.at(12*min1, func() { s.host.available = 0.6 })
		}},
		{name: "a disk at rest that is three quarters full", proves: "no alarm on ordinary situations", reads: "host", lasts: hour, step: min1, make: func(s *worldSite) { s.host.free = 0.25 }},
		{name: "a build that fills a tenth of the disk and is cleaned", proves: "a disk that will be full at a rate seen for 10 minutes", reads: "host", lasts: 30 * min1, step: 15 * time.Second, make: func(s *worldSite) {
			s.every(10*min1, 14*min1, 15*time.Second, func() { s.host.free -= 0.1 / 16 })
			s.at(20*min1, func() { s.host.free = 0.5 })
		}},
		{name: "a disk that fills a little every day", proves: "a disk that will be full within two hours", reads: "host", lasts: 2 * hour, step: min1, make: func(s *worldSite) {
			s.every(0, 2*hour, 30*time.Second, func() { s.host.free -= 0.000002 })
		}},
	}
}

const (
	evictions = `helix_workspace_evictions_total{provider="docker"}`
	retries   = `helix_workspace_eviction_retries_total{provider="docker"}`
	memory    = `process_resident_memory_bytes`
)

func quietCounters() []world {
	return []world{
		{name: "an eviction counter of 4,800 at the first reading", proves: watched, reads: "helix metrics", lasts: 15 * min1, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.counters[evictions], s.counters[retries] = 4800, 200
		}},
		{name: "an eviction counter that begins again at zero", proves: "the same for every rule that reads since-start figures", reads: "helix metrics", lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.counters[evictions], s.counters[retries] = 4800, 200
			s.at(6*min1, func() { s.counters[evictions], s.counters[retries] = 0, 0 })
			s.at(8*min1, func() { s.counters[evictions], s.counters[retries] = 3, 3 })
		}},
		{name: "evictions in a scrape gap of 40 minutes", proves: watched, reads: "helix metrics", lasts: hour, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.counters[evictions], s.counters[retries] = 100, 90
			s.at(5*min1, func() { s.answers["/metrics"] = worldAnswer{status: 502} })
			s.at(45*min1, func() { delete(s.answers, "/metrics"); s.counters[evictions] = 400; s.counters[retries] = 91 })
		}, never: []string{"^eviction-storm .* (firing|held)"}, ends: []string{"^exit 0$"}},
		{name: "evictions while the console was off overnight", proves: watched, reads: "helix metrics", lasts: 9*hour + 10*min1, off: []worldOff{{10 * min1, 8*hour + 50*min1}}, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.counters[evictions], s.counters[retries] = 100, 90
			s.at(5*hour, func() { s.counters[evictions] = 900 })
		}},
		{name: "single evictions that recover all day", proves: "a blip is not a storm", reads: "helix metrics", lasts: 2 * hour, step: 15 * time.Second, make: func(s *worldSite) {
			s.fleet(30, "s")
			s.counters[evictions], s.counters[retries] = 10, 10
			s.every(10*min1, 3*hour, 9*min1, func() { s.counters[evictions] += 2 })
			s.every(10*min1+15*time.Second, 3*hour, 9*min1, func() { s.counters[retries] += 2 })
		}},
		{name: "an agent's memory that garbage collection saws", proves: "no alarm on ordinary situations", reads: "helix metrics", lasts: hour, step: 15 * time.Second, make: func(s *worldSite) {
			s.fleet(5, "s")
			n := 0
			s.every(0, 2*hour, 15*time.Second, func() { n++; s.counters[memory] = float64(400+n%20*15) * 1e6 })
		}},
		{name: "a deploy that restarts the agent once", proves: "the same for every rule that reads since-start figures", reads: "helix metrics", lasts: 30 * min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.counters["process_start_time_seconds"], s.counters[memory] = float64(s.clock.Add(-5*hour).Unix()), 6e8
			s.at(10*min1, func() { s.refuse = 503 })
			s.at(10*min1+10*time.Second, func() {
				s.refuse = 0
				s.counters["process_start_time_seconds"], s.counters[memory] = float64(s.clock.Unix()), 2e8
			})
		}},
	}
}

const onset = "without a usable clock there is no \"began in the last 10m\""

func quietStarts() []world {
	failures := func(s *worldSite, status string, ago time.Duration) {
		s.fleet(60, "s")
		for i := range 8 {
			s.session(fmt.Sprintf("old-%d", i), s.old(ago+time.Duration(i)*min1, "failed", "WorkspaceFailedError: read ECONNRESET")).Status = status
		}
	}
	opened := func(s *worldSite, n int, ago time.Duration) {
		for i := range n {
			x := s.session(fmt.Sprintf("new-%d", i), &worldWorkspace{Name: "box", State: "opening", Provider: "docker", Attempt: s.ms(ago), does: rests})
			x.StartedAt = s.ms(ago)
			s.at(20*time.Second, func() { x.Workspaces[0].does = s.works })
		}
	}
	return []world{
		{name: "old failures on a server without a Date", proves: onset, lasts: 5 * min1, make: func(s *worldSite) { s.noDate = true; failures(s, "paused", 9*24*hour) }},
		{name: "failures on a server without a Date whose clock is ahead", proves: onset, lasts: 5 * min1, make: func(s *worldSite) {
			s.noDate = true
			for i := range 6 {
				s.session(fmt.Sprintf("a-old-%d", i), s.old(3*time.Second, "failed", "WorkspaceFailedError: boom"))
			}
			for i := range 60 {
				s.session(fmt.Sprintf("s-%d", i), s.old(-2*hour, "open", ""))
			}
		}},
		{name: "old failures behind a cache", proves: onset, lasts: 2 * min1, make: func(s *worldSite) { s.age = "8"; failures(s, "paused", 9*24*hour) }},
		{name: "calm behind a cache of a few seconds", proves: "an Age above three intervals", lasts: 10 * min1, make: func(s *worldSite) { s.age = "8"; s.fleet(10, "s") }},
		{name: "failed 9 days ago in completed sessions", proves: "old facts are old", lasts: 5 * min1, make: func(s *worldSite) { failures(s, "completed", 9*24*hour) }},
		{name: "failed 9 days ago in paused sessions", proves: "old facts are old", lasts: 5 * min1, make: func(s *worldSite) { failures(s, "paused", 9*24*hour) }},
		{name: "sandboxes asleep overnight in paused sessions", proves: "sandboxes asleep overnight: not critical at a cold start", lasts: 15 * min1, make: func(s *worldSite) {
			for i := range 12 {
				s.session(fmt.Sprintf("night-%d", i), s.old(13*hour, "evicted", "")).Status = "paused"
			}
		}},
		{name: "30 sessions opened 3 seconds ago at a cold start", proves: "30 sessions opened 3 s ago at a cold start are no restart-storm", lasts: 12 * min1, make: func(s *worldSite) { opened(s, 30, 3*time.Second) }},
		{name: "one session with 12 workspaces opened at once", proves: "one session with 12 workspaces is no restart-storm", lasts: 12 * min1, make: func(s *worldSite) {
			x := s.session("wide")
			x.StartedAt = s.ms(3 * time.Second)
			for i := range 12 {
				x.Workspaces = append(x.Workspaces, &worldWorkspace{Name: fmt.Sprintf("w%d", i), State: "opening", Provider: "docker", Attempt: s.ms(2 * time.Second)})
			}
			s.at(25*time.Second, func() { all([]*worldSession{x}, s.works) })
		}},
		{name: "a cold start in the middle of a batch", proves: "30 sessions opened at a cold start are no restart-storm", lasts: 20 * min1, make: func(s *worldSite) {
			for i := range 40 {
				x := s.session(fmt.Sprintf("job-%d", i), s.box())
				x.StartedAt = s.ms(time.Duration(i) * 15 * time.Second)
				if i < 4 {
					x.Workspaces[0] = &worldWorkspace{Name: "box", State: "opening", Provider: "docker", Attempt: s.ms(2 * time.Second)}
					s.at(30*time.Second, func() { all([]*worldSession{x}, s.works) })
				}
			}
		}},
		{name: "a batch that starts while it is watched", proves: "30 sessions opened at once are no restart-storm", lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(4, "s")
			s.at(5*min1, func() { opened(s, 30, time.Second) })
		}},
		{name: "a console that is restarted twice", proves: "a cold start is the normal start", reads: "helix metrics logs", lasts: 30 * min1, off: []worldOff{{10 * min1, 20 * time.Second}, {20 * min1, 3 * min1}}, make: func(s *worldSite) {
			s.fleet(20, "s")
			s.counters[evictions], s.counters[retries] = 40, 40
			s.every(0, 30*min1, 20*time.Second, func() { s.writes(30, "s-1", "step done") })
		}},
		{name: "builds of 4 minutes, one after the other", proves: "a 7-minute build fires as what it is", lasts: 20 * min1, make: func(s *worldSite) { builds(s, 4*min1) }},
		{name: "builds of 7 minutes where 10 are usual", proves: "configured values are taken literally", config: "longest_operation = \"10m\"\n[rules.hammered-and-failing]\nafter = \"12m\"\n", lasts: 25 * min1, make: func(s *worldSite) { builds(s, 7*min1) }},
	}
}

// builds lets three workspaces run one operation after the other, each so long.
func builds(s *worldSite, long time.Duration) {
	for i := range 3 {
		s.session(fmt.Sprintf("build-%d", i), &worldWorkspace{Name: "box", State: "open", Provider: "docker", Attempt: s.ms(0), Success: s.ms(time.Second), does: func(w *worldWorkspace) {
			if s.ms(0)-w.Attempt >= long.Milliseconds() {
				w.Success = s.ms(0)
				w.Attempt = s.ms(0) + 1
			}
		}})
	}
}
