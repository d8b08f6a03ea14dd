package test

import (
	"fmt"
	"strings"
	"time"
)

const emptyRegistry = "an empty 200 is not health: what vanishes from the registry of a running session is held until something positive says that it ended"

const gradually = "a list that loses half or more within minutes is suspect, also a few at a time: who left it is asked"

// shrinks lets a list of 30 lose five sessions on each of three steps.
func shrinks(w world, lose func(...*worldSession)) world {
	w.proves, w.reads, w.lasts = gradually, "health", 10*min1
	step := max(w.step, worldStepLength)
	w.make = func(s *worldSite) {
		of, n := s.fleet(30, "s"), 0
		all(of[:3], s.fails("WorkspaceFailedError: Cannot find module 'x'"))
		s.every(3*min1, 3*min1+2*step, step, func() {
			lose(of[n : n+5]...)
			n += 5
		})
	}
	return w
}

// comeAndGo lets sessions of a minute follow one another, 20 at a time; a list names none that ended.
func (s *worldSite) comeAndGo(lasts time.Duration) {
	n := 0
	var now []*worldSession
	s.every(0, lasts, 3*time.Second, func() {
		if now = append(now, s.session(fmt.Sprintf("s-%d", n), s.box())); len(now) > 20 {
			vanish(now[0])
			now = now[1:]
		}
		n++
	})
}

// emptied lets sessions go on with an empty registry: an explicit empty list on their own routes, none in the list.
func emptied(of ...*worldSession) {
	for _, x := range of {
		x.Workspaces = []*worldWorkspace{}
	}
}

// emptyAggregate is an aggregate route that lists running sessions with empty registries.
func emptyAggregate(s *worldSite) {
	var rows []string
	for _, x := range s.sessions {
		rows = append(rows, fmt.Sprintf(`{"sessionId":%q,"status":"running","workspaces":[]}`, x.ID))
	}
	s.answers["/operator/workspaces"] = worldAnswer{status: 200, body: `{"sessions":[` + strings.Join(rows, ",") + `]}`}
}

// quietLists are lists that become shorter for a good reason.
func quietLists() []world {
	several := func(s *worldSite, n int) []*worldSession {
		var out []*worldSession
		for i := range n {
			a, b := s.box(), s.box()
			a.Name, b.Name = "a", "b"
			out = append(out, s.session(fmt.Sprintf("s-%d", i), a, b))
		}
		return out
	}
	return []world{
		{name: "a session that closes one of its workspaces", proves: emptyRegistry, reads: "health", lasts: 10 * min1, make: func(s *worldSite) {
			of := several(s, 12)
			s.at(5*min1, func() { of[0].Workspaces, of[1].Workspaces = of[0].Workspaces[:1], of[1].Workspaces[1:] })
		}},
		{name: "a session that closes its only workspace and goes on", proves: emptyRegistry, reads: "health", lasts: 10 * min1, make: func(s *worldSite) {
			of := s.fleet(12, "s")
			s.at(5*min1, func() { emptied(of[0]) })
		}},
		{name: "sessions that never had a workspace", proves: emptyRegistry, reads: "health", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			for i := range 12 {
				s.session(fmt.Sprintf("bare-%d", i)).Workspaces = []*worldWorkspace{}
			}
		}},
		{name: "an agent server that answers 404 for all sessions at one poll", proves: "a blip is not a storm", reads: "health", lasts: 8 * min1, make: func(s *worldSite) {
			of := s.fleet(12, "s")
			publish := func(is bool) {
				for _, x := range of {
					x.unpublished = !is
				}
			}
			s.at(5*min1, func() { publish(false) })
			s.at(5*min1+5*time.Second, func() { publish(true) })
		}},
		{name: "a batch of 30 sessions whose opens take 100 seconds", proves: "sessions that start together are no restart-storm", reads: "health", lasts: 3 * min1, make: func(s *worldSite) {
			s.fleet(20, "s")
			for i := range 30 {
				w := s.box()
				w.State, w.Attempt, w.Success, w.does = "opening", s.ms(0), 0, rests
				x := s.session(fmt.Sprintf("new-%d", i), w)
				x.StartedAt = s.ms(0)
				s.at(100*time.Second, func() { w.does = s.works })
			}
		}},
		{name: "a framework restart that empties all registries for half a minute", proves: emptyRegistry, reads: "health", lasts: 10 * min1, make: func(s *worldSite) {
			of := several(s, 12)
			full := make([][]*worldWorkspace, len(of))
			s.at(5*min1, func() {
				for i, x := range of {
					full[i] = x.Workspaces
				}
				emptied(of...)
			})
			s.at(5*min1+30*time.Second, func() {
				for i, x := range of {
					x.Workspaces = full[i]
				}
			})
		}},
		{name: "a finished batch with failures whose sessions answer the documented 404", proves: "a finished batch whose sessions answer the documented 404 has ended", reads: "health", cron: true, step: min1, lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			s.at(8*min1, func() { vanish(of...) })
		}},
		{name: "sessions whose routes answer a moment longer than their list names them, under cron", proves: "one look must not page", reads: "health", cron: true, step: min1, lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(3, "s")
			s.at(8*min1, func() { unlist(of...) })
			s.at(8*min1+30*time.Second, func() { vanish(of...) })
		}},
		{name: "sessions that left their list with closed workspaces", proves: "one look must not page", reads: "health", lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(3, "s")
			s.at(8*min1, func() {
				unlist(of...)
				emptied(of...)
			})
		}},
		shrinks(world{name: "a batch that ends little by little, each session with the documented 404"}, vanish),
		shrinks(world{name: "a batch that ends little by little under cron", cron: true, step: min1}, vanish),
		{name: "sessions of a minute that come and go", proves: gradually, reads: "health", lasts: 12 * min1, make: func(s *worldSite) { s.comeAndGo(12 * min1) }},
		{name: "sessions of a minute that come and go under cron", proves: gradually, reads: "health", cron: true, step: min1, lasts: 12 * min1, make: func(s *worldSite) { s.comeAndGo(12 * min1) }},
		{name: "20 containers that are removed at once", proves: "absence in one answer is no proof: each container is asked for by its id", reads: "helix docker", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			for i := range 20 {
				s.container(fmt.Sprintf("%02x", i+16), "")
			}
			s.at(5*min1, func() { s.boxes = nil })
		}},
		{name: "an agent server whose counters begin anew without series", proves: "absence in one answer is no proof", reads: "helix metrics", lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(10, "s")
			s.counters["process_start_time_seconds"] = float64(worldStart.Add(-3 * hour).Unix())
			s.counters[evictions], s.counters[retries] = 7, 7
			s.at(5*min1, func() {
				s.counters["process_start_time_seconds"] = float64(s.clock.Unix())
				delete(s.counters, evictions)
				delete(s.counters, retries)
			})
		}},
		{name: "20 containers that are removed between two checks", proves: "absence in one answer is no proof: each container is asked for by its id", reads: "helix docker", cron: true, step: 2 * min1, lasts: 10 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			for i := range 20 {
				s.container(fmt.Sprintf("%02x", i+16), "")
			}
			s.at(5*min1, func() { s.boxes = nil })
		}},
	}
}

// troubledLists are answers that say nothing about what they said before.
func troubledLists() []world {
	const find = "^failed-too-long critical firing"
	broken := func(name, reads string, n int, empty func(*worldSite, []*worldSession), ends ...string) world {
		return world{name: name, proves: emptyRegistry, reads: reads, lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(n, "s")
			all(of[:n/3], s.fails("WorkspaceFailedError: Cannot find module 'x'"))
			s.at(15*min1, func() { empty(s, of) })
		}, finds: []string{find}, ends: append(ends, "^exit 2$", "^failed-too-long critical held", "^source-degraded warning firing .*workspaces? (is|are) held.*s-0/box", "^source [a-z]+ degraded"), never: []string{"^[a-z-]+ [a-z]+ ended "}}
	}
	some := func(s *worldSite, of []*worldSession) { emptied(of...) }
	failing := func(s *worldSite, of []*worldSession) { emptied(of[:len(of)/3]...) }
	worlds := []world{
		broken("3 running sessions with an empty registry on their routes", "health", 3, func(_ *worldSite, of []*worldSession) { emptied(of[0]) }),
		broken("30 running sessions with an empty registry on their routes", "health", 30, some),
		broken("10 failing sessions of 30 whose registries become empty", "health", 30, failing),
		broken("30 running sessions with an empty registry in the aggregate", "helix", 30, func(s *worldSite, _ []*worldSession) { emptyAggregate(s) }),
		broken("30 running sessions without a registry in the aggregate", "helix", 30, some),
		broken("3 running sessions without a registry in the aggregate", "helix", 3, some),
	}
	cron := func(name, reads string, empty func(*worldSite, []*worldSession)) world {
		w := broken(name, reads, 30, empty)
		w.cron, w.step, w.lasts = true, min1, 20*min1
		w.ends = []string{"^exit 2$", "^failed-too-long critical held", "^source-degraded warning firing .*empty since the last run: s-0", "^source [a-z]+ "}
		return w
	}
	few := func(name string, cron bool) world {
		w := world{name: name, proves: "sessions whose end nothing proves are unknown", reads: "health", cron: cron, lasts: 12 * min1, make: func(s *worldSite) {
			of := s.fleet(3, "s")
			s.at(8*min1, func() {
				unlist(of...)
				for _, x := range of {
					s.answers["/healthz/"+x.ID] = worldAnswer{status: 502, body: "bad gateway"}
				}
			})
		}, ends: []string{"^exit 3$", "^source-degraded warning firing health: .*3 sessions left the list, and their own routes cannot be read"}, never: []string{"^exit [12]$"}}
		if cron {
			w.step = min1
		}
		return w
	}
	suspect := []string{"^exit 2$", "^source-degraded warning firing health: .* sessions run that no list names", "^failed-too-long critical firing health: .*s-0/box"}
	return append(worlds, []world{
		shrinks(world{name: "a list that shrinks little by little while what left it still answers", ends: suspect}, unlist),
		shrinks(world{name: "a list that shrinks from check to check while what left it still answers", cron: true, step: min1, ends: suspect}, unlist),
		cron("empty registries on their routes under cron", "health", some),
		cron("empty registries in the aggregate under cron", "helix", func(s *worldSite, _ []*worldSession) { emptyAggregate(s) }),
		{name: "5 of 20 sessions that answer 500 under cron", proves: "a finding names them by kind of error, and check exits 3", reads: "health", cron: true, step: min1, lasts: 5 * min1, make: func(s *worldSite) {
			for i, x := range s.fleet(20, "s") {
				if i < 5 {
					s.answers["/healthz/"+x.ID] = worldAnswer{status: 500, body: "{}"}
				}
			}
		}, ends: []string{"^exit 3$", "^source-degraded warning firing health: .*5 sessions failed"}},
		{name: "a metrics page whose series are suddenly gone", proves: "absence in one answer is no proof", reads: "helix metrics", lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(40, "s")
			s.counters["process_start_time_seconds"] = float64(worldStart.Add(-3 * hour).Unix())
			s.counters[evictions], s.counters[retries] = 7, 7
			s.every(2*min1, 8*min1, 5*time.Second, func() { s.counters[evictions] += 5 })
			s.at(8*min1+5*time.Second, func() { delete(s.counters, evictions); delete(s.counters, retries) })
		}, finds: []string{"^eviction-storm critical firing"}, ends: []string{"^exit 2$", "^eviction-storm critical held", "^source-degraded warning firing metrics: .*are gone, and the process is the same"}},
		{name: "a metrics page that is empty", proves: "absence in one answer is no proof", reads: "helix metrics", lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(40, "s")
			s.counters[evictions], s.counters[retries] = 7, 7
			s.every(2*min1, 8*min1, 5*time.Second, func() { s.counters[evictions] += 5 })
			s.at(8*min1+5*time.Second, func() { s.answers["/metrics"] = worldAnswer{status: 200} })
		}, finds: []string{"^eviction-storm critical firing"}, ends: []string{"^exit 2$", "^eviction-storm critical held", "^source-down warning firing metrics"}},
		{name: "references of running sessions that vanish at once", proves: "absence in one answer is no proof", reads: "health refs", lasts: 10 * min1, make: func(s *worldSite) {
			for _, x := range s.fleet(20, "s") {
				s.refs = append(s.refs, worldRef{Session: x.ID, Status: "running", Name: "box", Sandbox: "c-" + x.ID, Schema: 3, Saved: s.clock.Add(-2 * hour)})
			}
			s.at(5*min1, func() { s.refs = nil })
		}, ends: []string{"^exit 3$", "^source-degraded warning firing refs: .*20 of 20"}, never: []string{"^exit [12]$"}},
		{name: "held workspaces end with their session", proves: emptyRegistry, reads: "health", lasts: 25 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			all(of[:5], s.fails("WorkspaceFailedError: Cannot find module 'x'"))
			s.at(12*min1, func() { emptied(of...) })
			s.at(20*min1, func() {
				for _, x := range of[:5] {
					x.Status, x.unpublished = "completed", true
				}
				for _, x := range of[5:] {
					x.Workspaces = []*worldWorkspace{s.box()}
				}
			})
		}, finds: []string{find, "^failed-too-long critical held"}, ends: []string{"^exit 0$", "^source health ok"}},
		{name: "an engine that lists nothing for 20 running containers", proves: "absence in one answer is no proof: each container is asked for by its id", reads: "helix docker", lasts: 10 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			for i, x := range of {
				s.container(fmt.Sprintf("%02x", i+16), x.ID)
			}
			s.at(5*min1, func() { s.answers["/v1.41/containers/json"] = worldAnswer{status: 200, body: "[]"} })
		}, ends: []string{"^exit 3$", "^source-degraded warning firing docker: .*leaves out 20 containers", "^source docker degraded"}, never: []string{"^exit [12]$"}},
		{name: "an engine that lists nothing between two checks", proves: "absence in one answer is no proof: each container is asked for by its id", reads: "helix docker", cron: true, step: min1, lasts: 10 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			for i, x := range of {
				s.container(fmt.Sprintf("%02x", i+16), x.ID)
			}
			s.at(5*min1, func() { s.answers["/v1.41/containers/json"] = worldAnswer{status: 200, body: "[]"} })
		}, ends: []string{"^exit 3$", "^source-degraded warning firing docker: .*leaves out 20 containers"}, never: []string{"^exit [12]$"}},
		few("3 sessions that an empty list names no more and whose routes cannot be read", false),
		few("3 sessions under cron that an empty list names no more and whose routes cannot be read", true),
		{name: "an empty list under cron that the sessions' own routes contradict", proves: "held until the vanished sessions' own routes say that they ended", reads: "health", cron: true, step: min1, lasts: 15 * min1, make: func(s *worldSite) {
			s.fleet(20, "s")
			s.at(8*min1, func() { s.answers["/operator/sessions"] = worldAnswer{status: 200, body: `{"sessions":[]}`} })
		}, ends: []string{"^exit 3$", "^source-degraded warning firing health: .*20 sessions run that no list names"}},
	}...)
}
