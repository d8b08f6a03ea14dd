package test

import (
	"fmt"
	"time"
)

// quietFleets are fleets at work, at rest and on the way from one to the other.
func quietFleets() []world {
	calm := func(n int, lasts, step time.Duration) world {
		return world{name: fmt.Sprintf("a calm fleet of %d", n), proves: "on fleets of 3, 10, 50 and 1,000 workspaces", lasts: lasts, step: step, make: func(s *worldSite) { s.fleet(n, "s") }}
	}
	return []world{
		calm(3, hour, 0), calm(10, 30*min1, 0), calm(50, 20*min1, 0), calm(1000, 5*min1, 0),
		{name: "an empty fleet", proves: "an empty 200 is not health, and no alarm either", lasts: 20 * min1, make: func(*worldSite) {}},
		{name: "a fleet that ends one by one", proves: "a finished batch whose sessions answer the documented 404 has ended", reads: "health", lasts: 20 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(20, "s") {
				s.at(time.Duration(i+2)*30*time.Second, func() { ends(x) })
				s.at(time.Duration(i+6)*30*time.Second, func() { vanish(x) })
			}
		}},
		{name: "a finished batch that leaves the list at once", proves: "a finished batch whose sessions answer the documented 404 has ended", reads: "health", lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			s.at(5*min1, func() { ends(of...) })
			s.at(6*min1, func() { vanish(of...) })
		}},
		{name: "a fleet of 4 whose sessions leave the list at their end", proves: "a list of ten or more that loses half or more at once is suspect", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(4, "s")
			s.at(5*min1, func() { vanish(of...) })
		}},
		{name: "a batch with containers that end after their sessions", proves: "after its 30 s grace", reads: "health docker", lasts: 20 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(12, "s") {
				c := s.container(fmt.Sprintf("%02x", i+16), x.ID)
				s.at(5*min1, func() { ends(x) })
				s.at(5*min1+25*time.Second, func() { s.remove(c) })
				s.at(7*min1, func() { vanish(x) })
			}
		}},
		{name: "a deploy that replaces 50 sessions", proves: "no alarm on ordinary situations", lasts: 15 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(50, "s") {
				s.at(5*min1+time.Duration(i)*3*time.Second, func() {
					ends(x)
					y := s.session("new-"+x.ID, &worldWorkspace{Name: "box", State: "opening", Provider: "docker", Attempt: s.ms(0), does: rests})
					y.StartedAt = s.ms(0)
					s.at(s.clock.Sub(s.began)+15*time.Second, func() { y.Workspaces[0].does = s.works })
				})
			}
		}},
		{name: "sessions that come and go all afternoon", proves: "no alarm on ordinary situations", lasts: hour, step: 15 * time.Second, make: func(s *worldSite) {
			n := 0
			s.every(0, 2*hour, 2*min1, func() {
				x := s.session(fmt.Sprintf("run-%d", n), s.box())
				x.StartedAt, n = s.ms(0), n+1
				s.at(s.clock.Sub(s.began)+12*min1, func() { ends(x) })
				s.at(s.clock.Sub(s.began)+20*min1, func() { vanish(x) })
			})
		}},
		{name: "a laptop that sleeps for 8 hours", proves: "laptops asleep and waking", reads: "helix docker host logs", lasts: hour, step: 15 * time.Second, make: func(s *worldSite) {
			of := s.fleet(2, "s")
			s.container("a1", "s-0")
			s.at(30*min1, func() { s.clock = s.clock.Add(8 * hour) })
			s.every(29*min1, 31*min1, 15*time.Second, func() { all(of, s.works) })
		}},
		{name: "paused sessions overnight", proves: "paused, asleep overnight", reads: "health docker", lasts: 10 * hour, step: 3 * min1, make: func(s *worldSite) {
			of := s.fleet(6, "s")
			s.at(hour, func() {
				for _, x := range of {
					x.Status, x.unpublished = "paused", true
				}
			})
			s.at(9*hour, func() {
				for _, x := range of {
					x.Status, x.unpublished = "running", false
				}
				all(of, s.works)
			})
		}},
		{name: "workspaces that nobody uses for hours", proves: "agents wait", lasts: 2 * hour, step: 30 * time.Second, make: func(s *worldSite) { all(s.fleet(8, "s"), rests) }},
		{name: "workspaces that were never opened", proves: "unknown is not failed", lasts: 15 * min1, make: func(s *worldSite) {
			for i := range 8 {
				s.session(fmt.Sprintf("s-%d", i), &worldWorkspace{Name: "box", State: "idle"})
			}
		}},
		{name: "sandboxes that sleep one after the other", proves: "sandboxes that sleep read evicted and are no storm", lasts: 2 * hour, step: 15 * time.Second, make: func(s *worldSite) {
			for i, x := range s.fleet(12, "s") {
				s.at(time.Duration(i+1)*5*min1, func() {
					x.Workspaces[0].does, x.Workspaces[0].State, x.Status = rests, "evicted", "paused"
				})
			}
		}},
		{name: "a server whose clock is 20 s ahead", proves: "clock skew", lasts: 15 * min1, make: func(s *worldSite) { s.skew = 20 * time.Second; s.fleet(10, "s") }},
		{name: "a console's clock that is set back by 3 s", proves: "clock skew", lasts: 15 * min1, make: func(s *worldSite) {
			s.fleet(10, "s")
			s.at(10*min1, func() { s.clock = s.clock.Add(-3 * time.Second) })
		}},
		{name: "two tenants at work", proves: "no alarm on ordinary situations", lasts: 15 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(10, "s") {
				x.Tenant = []string{"acme", "globex"}[i%2]
			}
		}},
		{name: "agents that declare no workspaces beside agents that do", proves: "10 of 30 running sessions that had a registry", reads: "health", lasts: 15 * min1, make: func(s *worldSite) {
			s.fleet(10, "s")
			for i := range 5 {
				s.session(fmt.Sprintf("plain-%d", i)).unpublished = true
			}
		}},
		{name: "one session of 30 that closes its registry", proves: "10 of 30 running sessions that had a registry and lost it", reads: "health", lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(30, "s")
			s.at(5*min1, func() { of[3].unpublished = true })
			s.at(6*min1, func() { of[3].Status = "completed" })
		}},
	}
}

// quietOld are cold starts that meet what ended long ago.
func quietOld() []world {
	return []world{
		{name: "one failure of yesterday in an idle session", proves: "old facts are old", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.session("old", s.old(26*hour, "failed", "WorkspaceFailedError: read ECONNRESET")).Status = "suspended"
		}},
		{name: "a container whose session completed just now", proves: "containers at a cold start whose session is completed: after its 30 s grace", reads: "helix docker", lasts: 2 * min1, make: func(s *worldSite) {
			ends(s.fleet(1, "s")...)
			c := s.container("a1", "s-0")
			s.at(20*time.Second, func() { s.remove(c) })
		}},
		{name: "containers at a cold start whose session is completed", proves: "destroyOnClose declared: after its 30 s grace; else a note", reads: "helix docker", lasts: 15 * min1, make: func(s *worldSite) {
			ends(s.fleet(3, "s")...)
			s.container("a1", "s-0")
		}},
		{name: "containers at a cold start that no list names", proves: "containers at a cold start whose session is unlisted (a note)", reads: "helix docker", lasts: 15 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.container("a1", "long-gone")
		}},
		{name: "exhausted retries in a log of this morning", proves: "old facts are old", reads: "helix logs", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			for i := range 30 {
				s.write(fmt.Sprintf(`{"level":50,"time":%d,"msg":"workspace tool: eviction retry exhausted","sessionId":"s-%d"}`, s.ms(6*hour), i%5))
			}
		}},
	}
}

// quietNames are names that are alike and things that are not.
func quietNames() []world {
	pair := func(name string, a, b worldWorkspace) world {
		return world{name: name, proves: "possible-leak compares ids within one provider and namespace only", lasts: 10 * min1, make: func(s *worldSite) {
			for i, w := range []worldWorkspace{a, b} {
				w.Name, w.State, w.does = "box", "open", s.works
				s.session(fmt.Sprintf("s-%d", i), &w).Tenant = []string{"acme", "globex"}[i]
			}
		}}
	}
	missing := func(name, text string) world {
		return world{name: name, proves: "files-vanished does not follow from a plain ENOENT below a scratch path", lasts: 15 * min1, make: func(s *worldSite) {
			for _, x := range s.fleet(3, "s") {
				x.Workspaces[0].Provider = "local-bash"
				s.at(3*min1, func() { x.Workspaces[0].LastError, x.Workspaces[0].does = text, rests })
			}
		}}
	}
	return []world{
		pair("box of docker and box of cloudflare", worldWorkspace{Provider: "docker", Sandbox: "box"}, worldWorkspace{Provider: "cloudflare-sandbox", Sandbox: "box"}),
		pair("one id in two namespaces", worldWorkspace{Provider: "cloudflare-filestore", Sandbox: "box", Namespace: "a"}, worldWorkspace{Provider: "cloudflare-filestore", Sandbox: "box", Namespace: "b"}),
		pair("a namespace that is called like an id", worldWorkspace{Provider: "cloudflare-filestore", Namespace: "main"}, worldWorkspace{Provider: "cloudflare-sandbox", Sandbox: "main"}),
		missing("an agent that opens a file that is not there", "ENOENT: no such file or directory, open '/tmp/helix-ws-Qq12Zz/config.json'"),
		missing("an agent that stats a directory that is not there", "ENOENT: no such file or directory, stat '/tmp/helix-ws-Qq12Zz/node_modules/left-pad'"),
		{name: "an in-memory provider that restarts", proves: "an in-memory provider that restarts loses files by design: information", reads: "helix metrics", lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(5, "s")
			for _, x := range of {
				x.Workspaces[0].Provider = "in-memory"
			}
			s.counters["process_start_time_seconds"] = float64(s.clock.Add(-5 * hour).Unix())
			s.at(5*min1, func() {
				s.counters["process_start_time_seconds"] = float64(s.clock.Unix())
				for i := range s.sessions {
					s.sessions[i].StartedAt = s.ms(0)
				}
			})
		}},
	}
}
