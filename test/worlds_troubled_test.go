package test

import (
	"fmt"
	"slices"
	"time"
)

// troubledWorlds are troubles that a console has to name.
func troubledWorlds() []world {
	return slices.Concat(lostSources(), troubledLists(), lostWorkspaces(), failingWorkspaces(), brokenEngines(), brokenHosts(), brokenAgents(), brokenNames(), clockTroubles(), notedWorlds(), troubledCron())
}

const (
	talksDown = "no source may talk another one down"
	emptyBody = "an empty or partial 200 is not health"
	staleBody = "stale bodies: a Date that does not advance between polls or an Age above three intervals"
)

// lostSources are sources that say too little, or what is not so.
func lostSources() []world {
	critical := func(s *worldSite) []*worldSession {
		of := s.fleet(20, "s")
		all(of[:1], s.fails("WorkspaceFailedError: Cannot find module '@helix/box'"))
		return of
	}
	fails := func(name, read string, n int, a worldAnswer, find string) world {
		return world{name: name, proves: "when a fifth of a source's sessions, or 5 of them, cannot be read it is degraded, a finding names them by kind of error, and check exits 3", reads: "health",
			lasts: 3 * min1, config: read, make: func(s *worldSite) {
				for i, x := range s.fleet(20, "s") {
					if i < n {
						s.at(min1, func() { s.answers["/healthz/"+x.ID] = a })
					}
				}
			}, finds: []string{find}, ends: []string{"^source health degraded", "^exit 3$"}}
	}
	return []world{
		{name: "an empty list after a critical alert", proves: emptyBody, lasts: 14 * min1, make: func(s *worldSite) {
			of := critical(s)
			s.at(12*min1, func() { vanish(of...) })
		}, finds: []string{"^failed-too-long critical firing"}, ends: []string{"^exit 2$", "^failed-too-long critical held", "^source helix degraded: .*(20|all)"}},
		{name: "an empty list beside running sandboxes", proves: "after 11 minutes the running sandboxes become wont-terminate with the advice to destroy them", reads: "helix docker", lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			for i, x := range of[:6] {
				s.container(fmt.Sprintf("%02x", i+16), x.ID)
			}
			s.at(5*min1, func() { vanish(of...) })
		}, ends: []string{"^source helix degraded", "^exit 3$"}, never: []string{"^wont-terminate .* (firing|held)"}},
		{name: "a list of 30 that loses 20 at once", proves: "a list of ten or more that loses half or more at once is suspect", lasts: 10 * min1, make: func(s *worldSite) {
			of := s.fleet(30, "s")
			s.at(5*min1, func() { vanish(of[:20]...) })
		}, ends: []string{"^source helix degraded: .*20", "^exit 3$"}},
		{name: "a list of 12 that is empty for one poll", proves: "held and named until the vanished sessions' own routes, or a second source, say that they ended", lasts: 8 * min1, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.at(5*min1, func() { s.answers["/operator/workspaces"] = worldAnswer{status: 200, body: `{"sessions":[]}`} })
			s.at(5*min1+5*time.Second, func() { delete(s.answers, "/operator/workspaces") })
		}, finds: []string{"^source-degraded warning firing helix"}, ends: []string{"^exit 0$", "^source helix ok"}, never: []string{"^exit [12]$", " ended helix"}},
		{name: "a session that no list ever named", proves: "a session that no list ever named is unknown, not over", reads: "helix docker", lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.container("a1", "elsewhere")
		}, ends: []string{"^exit 0$"}, never: []string{"^wont-terminate (warning|critical) (firing|held)"}},
		fails("a quarter of the sessions answers 500", "", 5, worldAnswer{status: 500, body: "{}"}, "(5|five) (of|sessions).*500|500.*5 "),
		fails("5 of 20 sessions answer 401", "", 5, worldAnswer{status: 401, body: "{}"}, "(?i)5 .*(401|unauthorised)"),
		fails("5 of 20 sessions answer an invalid body", "", 5, worldAnswer{status: 200, body: `{"workspaces":[{"name":"box","state":7}]}`}, "(?i)5 .*invalid"),
		{name: "5 of 20 sessions time out", proves: "500, timeout, 401, invalid body", reads: "health", limit: "200ms", step: 20 * time.Second, lasts: 2 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(20, "s") {
				if i < 5 {
					s.at(min1, func() { s.answers["/healthz/"+x.ID] = worldAnswer{status: 200, body: "{}", delay: time.Second} })
				}
			}
		}, finds: []string{"(?i)5 .*(timeout|timed out|no answer)"}, ends: []string{"^source health degraded", "^exit 3$"}},
		{name: "a pagination that never ends", proves: "a pagination that never ends is an error, not OK", lasts: 10 * time.Second, make: func(s *worldSite) {
			s.runs = time.Now() // a thousand requests a second are allowed
			s.answers["/operator/workspaces"] = worldAnswer{status: 200, body: `{"sessions":[],"next":"page-%d"}`}
		}, ends: []string{"^source helix (degraded|down): .*(cursor|page)", "^exit 3$"}},
		{name: "a lone surrogate in one session's error", proves: "a lone surrogate in one session's text must cost that session, not the source", lasts: 12 * min1, make: func(s *worldSite) {
			s.every(0, 12*min1, 5*time.Second, func() {
				s.answers["/operator/workspaces"] = worldAnswer{status: 200, body: fmt.Sprintf(`{"sessions":[{"sessionId":"bad","status":"running","workspaces":[{"name":"box","state":"failed","lastError":"\ud800 cut"}]},`+
					`{"sessionId":"s-0","status":"running","workspaces":[{"name":"box","state":"failed","lastError":"WorkspaceFailedError: Cannot find module 'x'","lastAttemptAt":%d,"lastSuccessAt":%d}]}]}`, s.ms(time.Second), worldStart.Add(-2*hour).UnixMilli())}
			})
		}, finds: []string{"^failed-too-long critical firing helix.*s-0/box"}, ends: []string{"^exit 2$"}, never: []string{"^source helix down"}},
		{name: "a Date that stands still", proves: staleBody, lasts: 10 * min1, make: func(s *worldSite) {
			of := s.fleet(10, "s")
			s.at(2*min1, func() { s.date = s.clock; all(of, nil) })
		}, ends: []string{"^source-stale warning firing helix"}},
		{name: "a cache that serves bodies of a minute ago", proves: staleBody, lasts: 5 * min1, make: func(s *worldSite) { s.fleet(10, "s"); s.age = "65" }, ends: []string{"^source-stale warning firing helix"}},
		{name: "a registry that is away", proves: "source trouble", lasts: 2 * min1, make: func(s *worldSite) { s.fleet(5, "s"); s.at(min1, func() { s.refuse = 502 }) }, ends: []string{"^source-down warning firing helix", "^exit 3$"}},
		{name: "an engine that is away", proves: "source trouble", reads: "helix docker", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.at(min1, func() { s.answers["/v1.41/containers/json"] = worldAnswer{status: 500, body: `{"message":"broken"}`} })
		}, ends: []string{"^source-down warning firing docker", "^exit 3$"}},
		{name: "running sessions that all answer 404", proves: "registry not published (pitfall 9)", reads: "health", lasts: 5 * min1, make: func(s *worldSite) {
			for _, x := range s.fleet(8, "s") {
				x.unpublished = true
			}
		}, ends: []string{"^registry-not-published warning firing health", "^exit 3$"}},
		{name: "10 of 30 running sessions that lost their registry", proves: "10 of 30 running sessions that had a registry, or have refs, and lost it", reads: "health", lasts: 15 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(30, "s") {
				if i < 10 {
					s.at(5*min1, func() { x.unpublished = true })
				}
			}
		}, ends: []string{"(?i)^registry-not-published warning firing health: .*10 of 30 ", "^exit 1$"}},
		{name: "30 of 30 running sessions that lost their registry", proves: "10 of 30 running sessions that had a registry, or have refs, and lost it", reads: "health", lasts: 15 * min1, make: func(s *worldSite) {
			for _, x := range s.fleet(30, "s") {
				s.at(5*min1, func() { x.unpublished = true })
			}
		}, ends: []string{"^registry-not-published warning firing health: .*30 of 30 ", "^exit 1$"}},
		{name: "a server that only has lastOpAt", proves: "the rule is listed as not evaluated", lasts: 10 * min1, make: func(s *worldSite) {
			for i := range 5 {
				s.session(fmt.Sprintf("s-%d", i), &worldWorkspace{Name: "box", State: "open", LastError: "WorkspaceFailedError: x", does: func(w *worldWorkspace) { w.Op = s.ms(0) }})
			}
		}, ends: []string{"^blind hammered-and-failing helix"}},
	}
}

// lostWorkspaces are evictions that do not recover.
func lostWorkspaces() []world {
	storm := func(name, reads string) world {
		return world{name: name, proves: talksDown, reads: reads, lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(40, "s")
			s.counters[evictions], s.counters[retries] = 7, 7
			s.at(2*min1, func() { all(of, s.evicted) })
			s.every(0, 15*min1, 30*time.Second, func() { s.writes(40, "s-1", "slow step") })
		}, ends: []string{"^eviction-storm critical firing helix", "^exit 2$"}}
	}
	return []world{
		storm("40 of 40 evicted beside a log without exhausted lines", "helix logs"),
		storm("40 of 40 evicted beside a flat eviction counter", "helix metrics"),
		storm("40 of 40 evicted beside both", "helix metrics logs"),
		{name: "3 of 3 evicted", proves: "small fleet all failing", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(3, "s")
			s.at(2*min1, func() { all(of, s.evicted) })
		}, ends: []string{"^(eviction-storm|evicted-sustained|hammered-and-failing) (warning|critical) firing helix.*s-0", "^exit [12]$"}},
		{name: "a storm that the counters tell", proves: "an eviction storm", reads: "helix metrics", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(40, "s")
			s.counters[evictions], s.counters[retries] = 7, 7
			s.every(2*min1, 10*min1, 5*time.Second, func() { s.counters[evictions] += 5 })
		}, ends: []string{"^eviction-storm critical firing"}},
		{name: "retries that are exhausted again and again", proves: "an eviction storm", reads: "helix logs", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(10, "s")
			s.every(2*min1, 10*min1, 20*time.Second, func() { s.writes(50, "s-1", "workspace tool: eviction retry exhausted") })
		}, ends: []string{"^eviction-storm critical firing"}},
		{name: "300 WorkspaceEvictedError lines without a metric", proves: "300 WorkspaceEvictedError lines without any metric", reads: "helix logs", lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(30, "s")
			n := 0
			s.every(5*min1, 20*min1, 3*time.Second, func() {
				n++
				s.writes(40, fmt.Sprintf("s-%d", n%30), "re-resolving", "error", `"WorkspaceEvictedError: sandbox instance is gone"`)
			})
		}, finds: []string{"(?i)^[a-z-]+ (warning|critical) firing (helix|logs): .*evict"}},
		{name: "evicted for a minute every 11", proves: "intermittent is not healthy", lasts: 3 * hour, step: 10 * time.Second, make: func(s *worldSite) {
			of := s.fleet(10, "s")
			s.every(10*min1, 3*hour, 11*min1, func() { all(of[:2], s.evicted) })
			s.every(11*min1, 3*hour, 11*min1, func() { all(of[:2], s.works) })
		}, finds: []string{"^[a-z-]+ (warning|critical) firing helix: .*s-0/box"}},
		{name: "one eviction a minute for 5 hours with none recovered", proves: "one eviction a minute for 5 h with none recovered", reads: "helix metrics", lasts: 5 * hour, step: 20 * time.Second, make: func(s *worldSite) {
			s.fleet(30, "s")
			s.counters[evictions], s.counters[retries] = 7, 7
			s.every(0, 5*hour, min1, func() { s.counters[evictions]++ })
		}, finds: []string{"(?i)^[a-z-]+ (warning|critical) firing (helix|metrics): .*evict"}},
		{name: "29 of 60 lost", proves: "29 of 60 lost below the 50 % line", lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(60, "s")
			s.at(3*min1, func() { all(of[:29], s.evicted) })
		}, ends: []string{"^[a-z-]+ (warning|critical) firing helix: .*29", "^exit [12]$"}},
		{name: "one workspace that stays evicted", proves: "real troubles are found", lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(30, "s")
			s.at(3*min1, func() { all(of[:1], s.tries("evicted", "WorkspaceEvictedError: killed", time.Hour)) })
		}, ends: []string{"^evicted-sustained warning firing helix.*s-0/box"}},
	}
}

const intermittent = "one rule on the share of failed time and of failed attempts per cause over a long window, across sessions that end"

// failingWorkspaces are attempts that fail.
func failingWorkspaces() []world {
	trouble := func(name, text, find string, fleet, failing int) world {
		return world{name: name, proves: "real troubles are found", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(fleet, "s")
			for i, x := range of {
				x.Tenant = []string{"acme", "globex", "initech"}[i%3]
			}
			s.at(2*min1, func() { all(of[:failing], s.fails(text)) })
		}, finds: []string{find}, ends: []string{"^exit [12]$"}}
	}
	old := func(name string) world {
		return world{name: name, proves: "a cold start is the normal start", lasts: 10 * time.Second, make: func(s *worldSite) {
			s.fleet(8, "s")
			x := s.session("bad", s.old(40*min1, "failed", "WorkspaceFailedError: Cannot find module 'x'"))
			x.Workspaces[0].Success = s.ms(45 * min1)
		}, ends: []string{"^failed-too-long critical firing helix.*bad/box"}}
	}
	return []world{
		trouble("3 of 3 workspaces fail", "WorkspaceFailedError: read ECONNRESET", "^(error-burst|failed-too-long) critical firing helix.*ECONNRESET", 3, 3),
		trouble("10 of 10 workspaces fail", "WorkspaceFailedError: read ECONNRESET", "^error-burst critical firing helix.*ECONNRESET", 10, 10),
		trouble("one workspace of 50 fails", "WorkspaceFailedError: disk I/O error", "^failed-too-long critical firing helix.*s-0/box", 50, 1),
		trouble("200 of 1,000 workspaces fail", "WorkspaceFailedError: D1_ERROR: no such table", "^error-burst critical firing helix.*no such table", 1000, 200),
		trouble("a quota that is used up", "WorkspaceFailedError: max_instances reached (20 of 20)", "^(capacity|error-burst) (warning|critical) firing helix.*max_instances", 30, 12),
		trouble("an image that cannot be pulled", "WorkspaceFailedError: failed to pull image registry.example/agent:7: manifest unknown", "^(error-burst|failed-too-long|misclassified-transient) (warning|critical) firing helix.*manifest unknown", 12, 6),
		trouble("a snapshot without a bucket", "WorkspaceFailedError: snapshot is declared but no backupR2Binding is configured", "^capability-mismatch critical firing helix", 12, 2),
		trouble("a sharing assertion of round 4", "WorkspaceFailedError: cloudflare-sandbox: id 'box' requires shareAcrossSessions: true", "^capability-mismatch critical firing helix", 12, 2),
		trouble("a schema version that is too new", "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3", "^ref-mismatch critical firing helix.*schemaVersion", 12, 2),
		old("a failure that is 40 minutes old at a cold start"),
		{name: "one tenant of five fails", proves: "one tenant", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(50, "s")
			for i, x := range of {
				x.Tenant = fmt.Sprintf("tenant-%d", i/10)
			}
			s.at(2*min1, func() { all(of[10:20], s.fails("WorkspaceFailedError: 403 Forbidden")) })
		}, finds: []string{"^(error-burst|failed-too-long) critical firing helix.*403"}},
		{name: "uses that fail while the state says open", proves: "hammered and failing", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(10, "s")
			s.at(2*min1, func() { all(of[:2], s.tries("open", "Error: write EPIPE", 20*time.Second)) })
		}, ends: []string{"^hammered-and-failing warning firing helix.*s-0/box"}},
		{name: "a build of 7 minutes", proves: "a 7-minute build fires as what it is (\"one attempt runs for 7m, longer than longest_operation 5m\"), never as \"started and never finished\"", lasts: 7*min1 + 10*time.Second, make: func(s *worldSite) {
			s.fleet(10, "s")
			x := s.session("build", s.box())
			s.at(5*time.Second, func() { x.Workspaces[0].Attempt, x.Workspaces[0].does = s.ms(0), rests })
		}, finds: []string{"^hammered-and-failing warning firing helix.*(one attempt runs|has been running) for [56]m.*longest_operation"}, never: []string{"never finished"}},
		{name: "every second attempt fails for 2 hours", proves: intermittent, lasts: 2*hour + 10*min1, step: 10 * time.Second, make: func(s *worldSite) {
			of := s.fleet(10, "s")
			n := 0
			s.every(0, 3*hour, 30*time.Second, func() {
				n++
				all(of[:3], func(w *worldWorkspace) {
					if t := s.ms(0) / 30000 * 30000; t == w.Attempt {
						return
					} else if w.Attempt, w.LastError = t, "Error: read ECONNRESET"; n%2 == 0 {
						w.Success, w.LastError = t, ""
					}
				})
			})
		}, finds: []string{"^[a-z-]+ (warning|critical) firing helix: .*ECONNRESET"}},
		{name: "failing for 4 of every 5 minutes", proves: intermittent, lasts: 2 * hour, step: 10 * time.Second, make: func(s *worldSite) {
			of := s.fleet(10, "s")
			s.every(10*min1, 3*hour, 5*min1, func() { all(of[:3], s.fails("WorkspaceFailedError: read ECONNRESET")) })
			s.every(14*min1, 3*hour, 5*min1, func() { all(of[:3], s.works) })
		}, finds: []string{"^[a-z-]+ (warning|critical) firing helix: .*ECONNRESET"}},
		{name: "sessions that fail for 5 to 8 minutes and end", proves: intermittent, lasts: 90 * min1, step: 10 * time.Second, make: func(s *worldSite) {
			n := 0
			s.every(0, 2*hour, 3*min1, func() {
				x := s.session(fmt.Sprintf("run-%d", n), &worldWorkspace{Name: "box", Provider: "docker", does: s.fails("WorkspaceFailedError: no such image agent:9")})
				x.StartedAt = s.ms(0)
				s.at(s.clock.Sub(s.began)+time.Duration(5+n%4)*min1, func() { ends(x); vanish(x) })
				n++
			})
		}, finds: []string{"^[a-z-]+ (warning|critical) firing helix: .*no such image"}},
		{name: "resets that do not help", proves: "real troubles are found", lasts: 30 * min1, make: func(s *worldSite) {
			of := s.fleet(10, "s")
			s.every(2*min1, hour, 5*min1, func() { all(of[:1], s.fails("WorkspaceFailedError: Cannot find module 'x'")) })
			s.every(6*min1, hour, 5*min1, func() { all(of[:1], s.tries("opening", "", hour)) })
		}, finds: []string{"^(reset-loop|failed-too-long) (warning|critical) firing helix.*s-0/box"}},
		{name: "a deploy whose sessions do not open", proves: "after a change many workspaces are opened at once and do not get through", lasts: 15 * min1, make: func(s *worldSite) {
			s.fleet(10, "s")
			s.at(2*min1, func() {
				for i := range 30 {
					x := s.session(fmt.Sprintf("new-%d", i), &worldWorkspace{Name: "box", Provider: "docker", does: s.fails("WorkspaceFailedError: container start was throttled")})
					x.StartedAt = s.ms(0)
				}
			})
		}, finds: []string{"^(restart-storm|error-burst) (warning|critical) firing helix"}},
	}
}
