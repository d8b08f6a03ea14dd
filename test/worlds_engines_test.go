package test

import (
	"fmt"
	"time"
)

const silent = "a healthy one-shot job, docker stop, paused by hand, slow start stay silent"

// quietEngines are containers that somebody stops, starts and pauses.
func quietEngines() []world {
	one := func(name string, do func(*worldSite, *worldContainer)) world {
		return world{name: name, proves: silent, reads: "helix docker", lasts: 12 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			c := s.container("a1", "s-0")
			s.container("b2", "s-1")
			do(s, c)
		}}
	}
	return []world{
		one("a one-shot job that ends well", func(s *worldSite, c *worldContainer) { s.at(5*min1, func() { c.stops(s, 0) }) }),
		one("docker stop of a container that must be killed", func(s *worldSite, c *worldContainer) { s.at(5*min1, func() { c.stops(s, 137) }) }),
		one("docker stop of a container that heeds it", func(s *worldSite, c *worldContainer) { s.at(5*min1, func() { c.stops(s, 143) }) }),
		one("a container that is paused by hand", func(s *worldSite, c *worldContainer) {
			s.at(5*min1, func() { c.state = "paused" })
			s.at(10*min1, func() { c.state = "running" })
		}),
		one("a slow start within its start period", func(s *worldSite, c *worldContainer) {
			c.health, c.startPeriod, c.start, c.created = "starting", 5*min1, s.clock, s.clock
			s.every(10*time.Second, 4*min1, 10*time.Second, func() { c.healthLog = []worldProbe{{s.clock, 1}} })
			s.at(4*min1, func() { c.health, c.healthLog = "healthy", []worldProbe{{s.clock, 0}} })
		}),
		one("one failed health check", func(s *worldSite, c *worldContainer) {
			c.health, c.healthLog = "healthy", []worldProbe{{s.clock, 0}}
			s.at(5*min1, func() { c.healthFails, c.healthLog = 1, []worldProbe{{s.clock, 1}} })
			s.at(5*min1+10*time.Second, func() { c.healthFails, c.healthLog = 0, []worldProbe{{s.clock, 0}} })
		}),
		one("a container that is restarted by hand", func(s *worldSite, c *worldContainer) { s.at(5*min1, func() { c.starts(s) }) }),
		one("a container that its policy restarted once", func(s *worldSite, c *worldContainer) {
			c.policy = "always"
			s.at(5*min1, func() { c.restarts = 1; c.starts(s) })
		}),
		one("a container that restarted 40 times before the console", func(s *worldSite, c *worldContainer) { c.policy, c.restarts = "always", 40 }),
		one("a job that failed three days ago", func(s *worldSite, c *worldContainer) {
			x := s.container("c3", "gone")
			x.start, x.created = s.clock.Add(-74*hour), s.clock.Add(-74*hour)
			x.state, x.exit, x.end = "exited", 1, s.clock.Add(-73*hour)
		}),
		one("a container that fails after its session has ended", func(s *worldSite, c *worldContainer) {
			s.at(5*min1, func() { ends(s.sessions[0]) })
			s.at(5*min1+10*time.Second, func() { c.stops(s, 1) })
		}),
		one("a developer's database that crash loops", func(s *worldSite, c *worldContainer) {
			x := s.container("d4", "")
			x.policy = "always"
			s.every(min1, 20*min1, 30*time.Second, func() { x.restarts++; x.start = s.clock })
		}),
		one("a killed process that left its container alive", func(s *worldSite, c *worldContainer) { c.memory, c.usage = 512<<20, 200<<20 }),
		one("a container that was just created", func(s *worldSite, c *worldContainer) {
			s.at(5*min1, func() { x := s.container("e5", "s-2"); x.state, x.created, x.start = "created", s.clock, time.Time{} })
			s.at(5*min1+10*time.Second, func() { s.boxes[len(s.boxes)-1].starts(s) })
		}),
		{name: "a laptop with one container and nothing else", proves: "one-container laptops", reads: "docker", lasts: 2 * hour, step: 30 * time.Second, make: func(s *worldSite) { s.container("a1", "mine") }},
		{name: "an engine without containers", proves: "empty fleets", reads: "docker", lasts: hour, step: 30 * time.Second, make: func(*worldSite) {}},
		{name: "references that agree with their containers", proves: "a container created after its ref was written is another sandbox", reads: "helix docker refs", lasts: 10 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(4, "s") {
				c := s.container(fmt.Sprintf("%02x", i+32), x.ID)
				s.refs = append(s.refs, worldRef{Session: x.ID, Status: "running", Name: "box", Sandbox: c.id, Schema: 3, Saved: s.clock.Add(-2 * hour)})
			}
		}},
		{name: "a reference that is saved a few seconds before its container", proves: "a container created after its ref was written is another sandbox", reads: "helix docker refs", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(2, "s")
			c := s.container("a1", "s-0")
			s.refs = []worldRef{{Session: "s-0", Status: "running", Name: "box", Sandbox: c.id, Schema: 3, Saved: c.created.Add(-3 * time.Second)}}
		}},
	}
}

// quietFiles are scratch directories in use.
func quietFiles() []world {
	return []world{
		{name: "scratch directories that come and go", proves: "no alarm on ordinary situations", reads: "helix host", lasts: 15 * min1, step: 30 * time.Second, make: func(s *worldSite) {
			s.fleet(5, "s")
			n := 0
			s.every(0, 30*min1, 30*time.Second, func() {
				s.scratches(n, 2, 0)
				if n += 2; n > 10 {
					s.unscratch(n-12, 2)
				}
			})
		}},
		{name: "leftovers of two crashes", proves: "no alarm on ordinary situations", reads: "helix host", lasts: 5 * min1, step: 30 * time.Second, make: func(s *worldSite) { s.fleet(2, "s"); s.scratches(0, 2, 5*hour) }},
		{name: "a fleet of local-bash workspaces with one directory each", proves: "no alarm on ordinary situations", reads: "helix host", lasts: 5 * min1, step: 30 * time.Second, make: func(s *worldSite) {
			for _, x := range s.fleet(25, "s") {
				x.Workspaces[0].Provider = "local-bash"
			}
			s.scratches(0, 25, 0)
		}},
	}
}

// quietSources are sources that stumble.
func quietSources() []world {
	stumble := func(name string, do func(*worldSite)) world {
		return world{name: name, proves: "scrape gaps", reads: "helix metrics docker", lasts: 8 * min1, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.counters[evictions], s.counters[retries] = 5, 5
			do(s)
		}}
	}
	broken := func(s *worldSite, path string, a worldAnswer, polls int) {
		s.at(5*min1, func() { s.answers[path] = a })
		s.at(5*min1+time.Duration(polls)*worldStepLength, func() { delete(s.answers, path) })
	}
	return []world{
		stumble("a registry that answers one 500", func(s *worldSite) { broken(s, "/operator/workspaces", worldAnswer{status: 500}, 1) }),
		stumble("a registry that answers half a body twice", func(s *worldSite) {
			broken(s, "/operator/workspaces", worldAnswer{status: 200, body: `{"sessions":[{"sessionId":"s-1"`}, 2)
		}),
		stumble("a metrics page that is away for two polls", func(s *worldSite) { broken(s, "/metrics", worldAnswer{status: 503}, 2) }),
		stumble("an engine that answers two 500", func(s *worldSite) {
			broken(s, "/v1.41/containers/json", worldAnswer{status: 500, body: `{"message":"busy"}`}, 2)
		}),
		stumble("an agent server that restarts in 10 s", func(s *worldSite) {
			s.at(5*min1, func() { s.refuse = 503 })
			s.at(5*min1+10*time.Second, func() { s.refuse = 0 })
		}),
		{name: "a list of 8 that is empty for one poll", proves: "a list of ten or more that loses half or more at once is suspect", lasts: 8 * min1, make: func(s *worldSite) {
			s.fleet(8, "s")
			broken(s, "/operator/workspaces", worldAnswer{status: 200, body: `{"sessions":[]}`}, 1)
		}},
		{name: "two sessions of 30 whose health route fails", proves: "when a fifth of a source's sessions, or 5 of them, cannot be read it is degraded", reads: "health", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(30, "s")
			for _, id := range []string{"s-3", "s-4"} {
				s.answers["/healthz/"+id] = worldAnswer{status: 500, body: "{}"}
			}
		}},
	}
}
