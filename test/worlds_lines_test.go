package test

import (
	"fmt"
	"time"
)

const level = "a line is evidence only at its level, logger and shape"

// quietLines are logs in which the words of alarms stand without being one.
func quietLines() []world {
	heap := "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"
	talk := func(name string, say func(*worldSite)) world {
		return world{name: name, proves: level, reads: "helix logs", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.every(min1, 9*min1, 40*time.Second, func() { say(s) })
		}}
	}
	return []world{
		talk("info lines that quote an out of memory", func(s *worldSite) { s.writes(30, "s-1", "user asked: what means '"+heap+"'?") }),
		talk("debug lines that quote exhausted retries", func(s *worldSite) {
			s.writes(20, "s-1", "tool output: workspace tool: eviction retry exhausted")
		}),
		talk("info lines about a closed tmpdir that had failed", func(s *worldSite) {
			s.writes(30, "s-2", "docs say: tmpdir close failed means that a process holds files")
		}),
		talk("output of a command that ran out of memory", func(s *worldSite) {
			s.writes(30, "s-1", "command finished", "stdout", fmt.Sprintf("%q", heap), "exitCode", "134")
		}),
		talk("failed commands inside a sandbox that print an out of memory", func(s *worldSite) {
			s.writes(50, "s-1", "command failed", "stderr", fmt.Sprintf("%q", heap), "exitCode", "134")
		}),
		talk("a message of tool output at error level", func(s *worldSite) { s.writes(50, "s-1", "tool output: "+heap) }),
		talk("a grep for the words of a storm", func(s *worldSite) {
			s.writes(30, "s-3", "workspace tool: grep", "command", `"grep -rn 'eviction retry exhausted' ."`)
		}),
		talk("a text log at level INFO", func(s *worldSite) {
			s.write(s.clock.Format(time.RFC3339) + " INFO [agent] step says " + heap + " session=s-1")
		}),
		talk("a test suite that prints WorkspaceFailedError", func(s *worldSite) {
			s.writes(30, "s-1", "command finished", "stdout", `"expect(WorkspaceFailedError: max_instances reached).toThrow()"`)
		}),
		talk("single rejected commands", func(s *worldSite) {
			s.writes(40, "s-1", "workspace tool: shell metacharacter rejected", "workspace", `"box"`, "command", `"ls; id"`)
		}),
		talk("lines of daylight saving time", func(s *worldSite) {
			zone := time.FixedZone("CET", 3600)
			if s.clock.After(worldStart.Add(5 * min1)) {
				zone = time.FixedZone("CEST", 7200)
			}
			s.write(fmt.Sprintf(`{"level":40,"time":%q,"msg":"slow step","sessionId":"s-1"}`, s.clock.In(zone).Format(time.RFC3339)))
		}),
		talk("a log that is rotated", func(s *worldSite) {
			s.writes(40, "s-1", "slow step")
			if s.clock.Sub(worldStart)%(4*min1) < 40*time.Second {
				s.rotate()
			}
		}),
		talk("a log that is copied and truncated", func(s *worldSite) {
			s.writes(40, "s-1", "slow step")
			if s.clock.Sub(worldStart)%(4*min1) < 40*time.Second {
				s.truncate()
			}
		}),
		talk("lines that are no JSON and very long ones", func(s *worldSite) {
			s.write(`{"level":40,"msg":"cut off`)
			s.write(fmt.Sprintf("%0200000d", 7))
		}),
		talk("transient errors that go away", func(s *worldSite) {
			if s.clock.Sub(worldStart)%(6*min1) < 40*time.Second {
				s.writes(40, "s-2", "re-resolving", "error", `"WorkspaceEvictedError: sandbox instance is gone"`)
			}
		}),
		{name: "a log in which nothing is written for hours", proves: "absence is no alarm", reads: "helix logs", lasts: 5 * hour, step: 30 * time.Second, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.writes(30, "s-1", "started")
		}},
	}
}

const blip = "one ordinary restart never meets \"5 and half\" on a small fleet or at a 5 s poll"

// quietBlips are restarts that workspaces survive.
func quietBlips() []world {
	restart := func(s *worldSite, of []*worldSession, from, long time.Duration, state string) {
		s.at(from, func() {
			all(of, s.tries(state, map[string]string{"evicted": "WorkspaceEvictedError: sandbox instance is gone", "failed": "WorkspaceFailedError: Cannot connect to the Docker daemon"}[state], 10*time.Second))
		})
		s.at(from+long, func() { all(of, s.works) })
	}
	evicted := func(name string, fleet, lost int, reads string) world {
		return world{name: name, proves: blip, reads: reads, lasts: 12 * min1, make: func(s *worldSite) {
			restart(s, s.fleet(fleet, "s")[:lost], 5*min1+2*time.Second, 12*time.Second, "evicted")
			s.counters[evictions], s.counters[retries] = 5, 5
			s.at(5*min1+2*time.Second, func() { s.counters[evictions] += float64(lost) })
			s.at(5*min1+14*time.Second, func() { s.counters[retries] += float64(lost) })
		}}
	}
	rolling := func(name, state string, fleet, group int, each time.Duration) world {
		return world{name: name, proves: blip, lasts: 25 * min1, make: func(s *worldSite) {
			of := s.fleet(fleet, "s")
			for i := 0; i < fleet; i += group {
				restart(s, of[i:min(i+group, fleet)], 3*min1+time.Duration(i/group)*each, 12*time.Second, state)
			}
		}}
	}
	return []world{
		evicted("6 of 8 workspaces evicted for 12 s by a Docker restart", 8, 6, "helix"),
		evicted("the same with metrics", 8, 6, "helix metrics"),
		evicted("the same with a log that says nothing of it", 8, 6, "helix logs"),
		evicted("3 of 3 workspaces evicted for 12 s", 3, 3, "helix"),
		evicted("10 of 10 workspaces evicted for 12 s", 10, 10, "helix"),
		evicted("40 of 50 workspaces evicted for 12 s", 50, 40, "helix metrics"),
		rolling("a rolling restart that evicts 5 of 50 at a time", "evicted", 50, 5, min1),
		rolling("a rolling restart that fails 4 of 12 at a time", "failed", 12, 4, 3*min1),
		{name: "5 of 8 workspaces failed for 12 s by a Docker restart", proves: "error-burst likewise", lasts: 12 * min1, make: func(s *worldSite) {
			restart(s, s.fleet(8, "s")[:5], 5*min1+2*time.Second, 12*time.Second, "failed")
		}},
		{name: "two Docker restarts within half an hour", proves: blip, lasts: 45 * min1, make: func(s *worldSite) {
			of := s.fleet(8, "s")
			restart(s, of[:6], 5*min1, 12*time.Second, "evicted")
			restart(s, of[:6], 30*min1, 12*time.Second, "evicted")
		}},
		{name: "a laptop of one container that restarts Docker", proves: blip, reads: "helix docker", lasts: 12 * min1, make: func(s *worldSite) {
			of := s.fleet(1, "s")
			c := s.container("a1", "s-0")
			restart(s, of, 5*min1, 12*time.Second, "evicted")
			s.at(5*min1, func() { c.stops(s, 0) })
			s.at(5*min1+10*time.Second, func() { c.starts(s) })
		}},
		{name: "a Docker restart of a minute in which the engine is away", proves: blip, reads: "helix docker", lasts: 12 * min1, make: func(s *worldSite) {
			restart(s, s.fleet(8, "s")[:6], 5*min1, 12*time.Second, "evicted")
			c := s.container("a1", "s-0")
			s.at(5*min1, func() { s.answers["/v1.41/containers/json"] = worldAnswer{status: 503, body: `{"message":"starting"}`} })
			s.at(5*min1+10*time.Second, func() { delete(s.answers, "/v1.41/containers/json"); c.starts(s) })
		}},
		{name: "first attempts that fail once", proves: "a blip is not a storm", lasts: 35 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			for i, x := range of {
				restart(s, []*worldSession{x}, time.Duration(i+2)*90*time.Second, 20*time.Second, "failed")
			}
		}},
		{name: "single evictions in a fleet of 1,000", proves: "on fleets of 3, 10, 50 and 1,000 workspaces", lasts: 20 * min1, step: 10 * time.Second, make: func(s *worldSite) {
			of := s.fleet(1000, "s")
			for i := range 30 {
				restart(s, of[i*31:i*31+1], time.Duration(i)*35*time.Second, 12*time.Second, "evicted")
			}
		}},
	}
}

const clocks = "a clock that is set, and a machine that sleeps, are no news"

// sets sets the clock of the machine, on which the server runs too.
func (s *worldSite) sets(at, by time.Duration) {
	s.at(at, func() { s.set += by; s.skew += by })
}

// sleeps lets the machine sleep: its wall clock jumps when it wakes, and the clock of the process stood still.
func (s *worldSite) sleeps(at, long time.Duration) {
	s.at(at, func() { s.clock = s.clock.Add(long); s.slept += long })
}

// quietClocks are ordinary days on which a clock jumps.
func quietClocks() []world {
	day := func(name string, jump func(*worldSite)) world {
		return world{name: name, proves: clocks, reads: "helix docker logs", lasts: 25 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(8, "s") {
				if i < 3 {
					s.container([]string{"a1", "b2", "c3"}[i], x.ID)
				}
			}
			s.every(0, 10*hour, min1, func() { s.writes(40, "s-1", "slow step") })
			jump(s)
		}}
	}
	return []world{
		day("a laptop that sleeps for eight hours", func(s *worldSite) { s.sleeps(5*min1, 8*hour) }),
		day("a clock that is set back by two minutes", func(s *worldSite) { s.sets(5*min1, -2*min1) }),
		day("a clock that is set ahead by two minutes", func(s *worldSite) { s.sets(5*min1, 2*min1) }),
	}
}

// clockTroubles are troubles that a jump of the clock must not hide.
func clockTroubles() []world {
	fails := func(name string, jump func(*worldSite)) world {
		return world{name: name, proves: "a jump of the clock hides no trouble", lasts: 16 * min1, finds: []string{"^failed-too-long critical firing helix"}, make: func(s *worldSite) {
			of := s.fleet(8, "s")
			s.at(2*min1, func() { all(of[:4], s.fails("WorkspaceFailedError: read ECONNRESET")) })
			jump(s)
		}}
	}
	return []world{
		fails("failures on a laptop that sleeps", func(s *worldSite) { s.sleeps(5*min1, 8*hour) }),
		fails("failures while the clock is set back", func(s *worldSite) { s.sets(5*min1, -2*min1) }),
		fails("failures while the clock is set ahead", func(s *worldSite) { s.sets(5*min1, 2*min1) }),
		{name: "a flood whose log is rotated by renaming", proves: "a rotation hides no flood", reads: "helix logs", lasts: 8 * min1, finds: []string{"^audit-saturation warning firing"}, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.every(min1, 8*min1, 5*time.Second, func() { s.floods(40) })
			s.every(2*min1, 8*min1, min1, s.rotate)
		}},
		{name: "a flood whose log is rotated and compressed", proves: "a rotation hides no flood", reads: "helix logs", lasts: 8 * min1, finds: []string{"^audit-saturation warning firing"}, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.every(min1, 8*min1, 5*time.Second, func() { s.floods(40) })
			s.every(2*min1, 8*min1, min1, s.compress)
		}},
		{name: "a flood whose log is rotated and compressed between checks", proves: "a rotation hides no flood", reads: "helix logs", cron: true, step: min1, lasts: 8 * min1, ends: []string{"^audit-saturation warning firing"}, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.every(min1, 8*min1, 5*time.Second, func() { s.floods(40) })
			s.at(270*time.Second, s.compress)
		}},
		{name: "a flood whose log is copied and truncated", proves: "a rotation hides no flood", reads: "helix logs", lasts: 8 * min1, finds: []string{"^audit-saturation warning firing"}, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.every(min1, 8*min1, 5*time.Second, func() { s.floods(40) })
			s.every(2*min1, 8*min1, min1, s.truncate)
		}},
	}
}

// floods writes rejected commands of one session.
func (s *worldSite) floods(n int) {
	for range n * 5 {
		s.writes(40, "s-1", "workspace tool: shell metacharacter rejected", "workspace", `"box"`, "command", `"ls; id"`)
	}
}
