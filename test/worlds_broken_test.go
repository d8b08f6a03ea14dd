package test

import (
	"fmt"
	"strings"
	"time"
)

const dockerTrouble = "real Docker trouble: rules with the numbers (limit, usage, exit code, last lines of the container's log)"

// brokenEngines are containers that do not do what they should.
func brokenEngines() []world {
	one := func(name, proves string, lasts time.Duration, do func(*worldSite, *worldContainer), find ...string) world {
		return world{name: name, proves: proves, reads: "helix docker", lasts: lasts, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.container("b2", "s-1")
			c := s.container("a1", "s-0")
			c.output = []string{"agent: starting", "agent: fatal: cannot reach the model"}
			do(s, c)
		}, finds: find}
	}
	return []world{
		one("a container that cannot start", dockerTrouble, 10*min1, func(s *worldSite, c *worldContainer) {
			c.state, c.created, c.start, c.exit = "created", s.clock.Add(-min1), time.Time{}, 127
			c.failure = `exec: "agentd": executable file not found in $PATH`
		}, "^[a-z-]+ (warning|critical) firing docker: .*agentd.*executable file not found"),
		one("a container in a crash loop", dockerTrouble, 15*min1, func(s *worldSite, c *worldContainer) {
			c.policy, c.exit = "always", 1
			s.every(min1, hour, 30*time.Second, func() { c.restarts++; c.start, c.end = s.clock, s.clock.Add(-time.Second) })
		}, "(?i)^[a-z-]+ (warning|critical) firing docker: .*restart"),
		one("a container that is unhealthy for longer than its start period", dockerTrouble, 20*min1, func(s *worldSite, c *worldContainer) {
			c.health, c.startPeriod, c.start = "starting", min1, s.clock
			s.every(min1+10*time.Second, hour, 10*time.Second, func() {
				c.health, c.healthFails = "unhealthy", c.healthFails+1
				c.healthLog = []worldProbe{{s.clock, 1}}
			})
		}, "(?i)^[a-z-]+ (warning|critical) firing docker: .*unhealthy"),
		one("a container that exits non-zero while its session runs", dockerTrouble, 10*min1, func(s *worldSite, c *worldContainer) {
			s.at(2*min1, func() { c.stops(s, 3) })
		}, "(?i)^[a-z-]+ (warning|critical) firing docker: .*(code|exited|exit) .*\\b3\\b"),
		one("a container that is killed at its limit", dockerTrouble, 10*min1, func(s *worldSite, c *worldContainer) {
			c.memory, c.usage = 512<<20, 500<<20
			s.at(2*min1, func() { c.oom = true; c.stops(s, 137) })
		}, "^sandbox-oom (warning|critical) firing docker"),
		one("a container near its limit", dockerTrouble, 15*min1, func(s *worldSite, c *worldContainer) { c.memory, c.usage = 512<<20, 505<<20 }, "^sandbox-oom (warning|critical) firing docker"),
		{name: "the kernel kills what exceeds its container's limit", proves: "kills that a container's own limit explains are sandbox-oom of that container, never host-oom", reads: "helix docker host", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			c := s.container("a1", "s-0")
			c.memory, c.usage = 512<<20, 300<<20
			s.at(3*min1, func() { s.host.kills++; c.oom = true; c.stops(s, 137) })
		}, finds: []string{"^sandbox-oom (warning|critical) firing docker"}, never: []string{"^host-oom (warning|critical) (firing|held)"}},
		{name: "a container whose session has ended and that runs on", proves: "wont-terminate", reads: "helix docker", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(5, "s")
			yes := true
			of[0].Workspaces[0].Destroy = &yes
			s.container("a1", "s-0")
			s.at(3*min1, func() { ends(of[0]) })
		}, ends: []string{"^wont-terminate warning firing docker"}},
		{name: "a container at a cold start whose session is completed and whose end is declared", proves: "containers at a cold start whose session is completed (destroyOnClose declared: after its 30 s grace)", reads: "helix docker", lasts: 5 * min1,
			config: "[[declare]]\nsource = \"helix\"\nsession = \"*\"\nworkspace = \"*\"\ndestroy_on_close = true\n", make: func(s *worldSite) {
				s.fleet(3, "t")
				ends(s.fleet(1, "s")...)
				s.container("a1", "s-0")
			}, ends: []string{"^wont-terminate warning firing docker"}},
	}
}

// brokenHosts are machines that run out of something.
func brokenHosts() []world {
	return []world{
		{name: "kills of the kernel while the console looks", proves: "a host ran out of memory", reads: "helix host", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.at(2*min1, func() { s.host.kills++ })
		}, ends: []string{"^host-oom critical firing host", "^exit 2$"}},
		{name: "a host that is nearly out of memory", proves: "a host ran out of memory", reads: "helix host", lasts: 6 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.at(2*min1, func() { s.host.available = 0.01 })
		}, ends: []string{"^host-oom critical firing host"}},
		{name: "a disk that will be full within two hours", proves: "a disk that will be full within two hours at a rate seen for 10 minutes, whatever fills it", reads: "helix host", lasts: 30 * min1, step: 10 * time.Second, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.every(0, hour, 10*time.Second, func() { s.host.free -= 0.5 / 540 })
		}, finds: []string{"(?i)^[a-z-]+ (warning|critical) firing host: .*full"}},
		{name: "a disk that is full", proves: "no scratch directory can be made", reads: "helix host", lasts: 2 * min1, make: func(s *worldSite) { s.fleet(3, "s"); s.at(min1, func() { s.host.free = 0 }) }, ends: []string{"^tmpdir-root-unusable critical firing host"}},
		{name: "120 scratch directories that nobody owns", proves: "scratch directories pile up", reads: "helix host", lasts: min1, step: 20 * time.Second, make: func(s *worldSite) { s.fleet(3, "s"); s.scratches(0, 120, hour) }, ends: []string{"^tmpdir-pileup warning firing host"}},
		{name: "scratch directories that grow within 2 minutes of the start, sessions asked one by one", proves: "growth alone raises it", reads: "health host", lasts: 3 * min1, step: 15 * time.Second, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.scratches(0, 5, hour)
			n := 5
			s.every(15*time.Second, min1, 15*time.Second, func() { s.scratches(n, 20, 0); n += 20 })
		}, ends: []string{"^tmpdir-pileup warning firing host"}},
		{name: "scratch directories that grow by 4 a minute", proves: "tmpdir-pileup says how fast directories grow and over which watched span, also when growth alone raised it", reads: "helix host", lasts: 12 * min1, step: 30 * time.Second, make: func(s *worldSite) {
			s.fleet(3, "s")
			n := 0
			s.every(0, 12*min1, 30*time.Second, func() { s.scratches(n, 2, 0); n += 2 })
		}, ends: []string{"^tmpdir-pileup warning firing host.*(4 a minute|4/min|a minute|an hour|/h).*"}},
	}
}

// brokenAgents are the agents' own troubles.
func brokenAgents() []world {
	reads := func(name, proves string, lasts time.Duration, do func(*worldSite), find ...string) world {
		return world{name: name, proves: proves, reads: "helix logs", lasts: lasts, make: func(s *worldSite) { s.fleet(10, "s"); do(s) }, finds: find}
	}
	tail := `{"outcome":"exceededMemory","scriptName":"agent","eventTimestamp":%d,"event":{"request":{"url":"https://agents.example/run","headers":{"x-partykit-room":"s-1"}}},"exceptions":[],"logs":[]}`
	return []world{
		reads("a heap that overflows", "the agent ran out of memory", 5*min1, func(s *worldSite) {
			s.at(2*min1, func() { s.write("FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory") })
		}, "^agent-oom critical firing"),
		reads("a tail event whose own logs are empty", "a tail event whose own logs are empty (its event time counts)", 5*min1, func(s *worldSite) {
			s.at(2*min1, func() { s.write(fmt.Sprintf(tail, s.ms(0))) })
		}, "^agent-oom critical firing helix.*s-1"),
		{name: "memory of an agent that rises to 94 % before a restart", proves: "memory of an agent at 94 % and rising, then a restart", reads: "helix metrics", lasts: hour, step: 10 * time.Second, make: func(s *worldSite) {
			s.fleet(10, "s")
			up := func(begun time.Time) {
				s.counters["process_start_time_seconds"] = float64(begun.Unix())
				s.counters[memory] = 2e8
			}
			up(s.clock.Add(-hour))
			s.every(0, 30*min1, 10*time.Second, func() { s.counters[memory] = min(s.counters[memory]+1e7, 0.94*(1<<30)) })
			s.at(30*min1+5*time.Second, func() { up(s.clock) })
		}, finds: []string{"(?i)^agent-oom (warning|critical) firing .*memory"}},
		reads("a flood of rejected commands", "the audit log is flooded", 10*min1, func(s *worldSite) {
			s.every(2*min1, hour, 5*time.Second, func() {
				s.writes(40, "s-1", "[rate-limited] workspace tool: shell metacharacter rejected", "workspace", `"box"`, "command", `"ls; id"`, "suppressedCount", "100")
			})
		}, "^audit-saturation warning firing .*s-1"),
		{name: "a flood whose log stops", proves: "a log file that stops growing in the middle of a flood, while its session runs, holds that alert until the session ends or a line arrives", reads: "helix logs", lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(10, "s")
			s.every(2*min1, 6*min1, 5*time.Second, func() {
				s.writes(40, "s-1", "[rate-limited] workspace tool: shell metacharacter rejected", "workspace", `"box"`, "command", `"ls; id"`, "suppressedCount", "100")
			})
		}, finds: []string{"^audit-saturation warning firing "}, ends: []string{"^audit-saturation warning held .*s-1"}},
		reads("a tmpdir that cannot be removed", "scratch directories pile up", 5*min1, func(s *worldSite) {
			s.at(2*min1, func() {
				s.writes(50, "s-1", "tmpdir close failed", "cause", `"EBUSY: resource busy or locked, rmdir '/tmp/helix-ws-1'"`)
			})
		}, "^tmpdir-close-failed warning firing"),
		reads("a sub-agent that loses its files at a save", "real troubles are found", 5*min1, func(s *worldSite) {
			s.at(2*min1, func() { s.writes(50, "s-1", "failed to persist snapshot: disk quota exceeded") })
		}, "^persist-failed critical firing"),
	}
}

// brokenNames are things that belong to two sessions, or to none.
func brokenNames() []world {
	return []world{
		{name: "one sandbox behind two tenants", proves: "a leak between tenants", lasts: 5 * min1, make: func(s *worldSite) {
			for i, tenant := range []string{"acme", "globex"} {
				w := s.box()
				w.Provider, w.Sandbox = "cloudflare-sandbox", "shared-box"
				s.session(fmt.Sprintf("s-%d", i), w).Tenant = tenant
			}
		}, ends: []string{"^possible-leak critical firing helix.*shared-box"}},
		{name: "a container that its label gives to one session and a ref to another", proves: "a container that its label gives to one session and a ref to another raises possible-leak", reads: "helix docker refs", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			c := s.container("a1", "s-0")
			s.refs = []worldRef{{Session: "s-1", Status: "running", Name: "box", Sandbox: c.id, Schema: 3, Saved: s.clock.Add(-hour)}}
		}, ends: []string{"^possible-leak (warning|critical) firing .*s-1"}},
		{name: "a container that was made after its ref was saved", proves: "a container created after its ref was written is another sandbox (ref-mismatch, files-vanished): both times, joined by name or id", reads: "helix docker refs", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			c := s.container("a1", "s-0")
			c.created, c.start = s.clock.Add(-10*min1), s.clock.Add(-10*min1)
			s.refs = []worldRef{{Session: "s-0", Status: "running", Name: "box", Sandbox: c.id, Schema: 3, Saved: s.clock.Add(-5 * hour)}}
		}, ends: []string{"^(ref-mismatch|files-vanished) (warning|critical) firing .*s-0"}},
		{name: "a container that was deleted under a running session", proves: "a stored reference and its container disagree", reads: "helix docker refs", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(3, "s")
			s.container("b2", "s-1")
			s.refs = []worldRef{{Session: "s-0", Status: "running", Name: "box", Sandbox: strings.Repeat("c6", 32), Schema: 3, Saved: s.clock.Add(-hour)}}
			all(of[:1], s.fails("WorkspaceFailedError: No such container: c6c6c6c6c6c6"))
		}, ends: []string{"^ref-mismatch critical firing .*s-0/box"}},
		{name: "files that a cleaner took", proves: "files vanished", lasts: 5 * min1, make: func(s *worldSite) {
			of := s.fleet(3, "s")
			of[0].Workspaces[0].Provider = "local-bash"
			all(of[:1], s.tries("failed", "WorkspaceFailedError: ENOENT: no such file or directory, scandir '/tmp/helix-ws-Qq12Zz'", 30*time.Second))
		}, finds: []string{"^files-vanished (warning|critical) firing helix.*s-0/box"}},
	}
}
