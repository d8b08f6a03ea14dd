package test

import (
	"fmt"
	"strings"
	"time"
)

// Cron worlds have no console that stays: each step is a process of its own that reads everything once, concludes, and leaves
// its state to the next one.

func quietCron() []world {
	return []world{
		{name: "a calm fleet under cron", proves: "no alarm on ordinary situations", reads: "helix docker host metrics logs", cron: true, step: 2 * min1, lasts: hour, make: func(s *worldSite) {
			for i, x := range s.fleet(8, "s") {
				if i < 3 {
					s.container([]string{"a1", "b2", "c3"}[i], x.ID)
				}
			}
			s.host.kills, s.counters[evictions], s.counters[retries] = 7, 900, 800
			s.every(0, hour, min1, func() { s.writes(40, "s-1", "slow step") })
		}},
		{name: "a check in the middle of a Docker restart", proves: blip, cron: true, step: min1, lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(8, "s")
			s.at(5*min1-5*time.Second, func() { all(of[:6], s.evicted) })
			s.at(5*min1+5*time.Second, func() { all(of[:6], s.works) })
		}},
		{name: "kills between two checks that lie an hour apart", proves: watched, reads: "host", cron: true, step: hour, lasts: 5 * hour, make: func(s *worldSite) {
			s.at(150*min1, func() { s.host.kills = 3 })
		}},
		{name: "a container that reached its own limit between two checks and is gone", proves: "kills that a container's own limit explains are never host-oom", reads: "helix docker host", cron: true, step: min1, lasts: 8 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.at(270*time.Second, func() { s.kills("") })
		}},
		{name: "a sandbox that was killed at its limit and removed, and whose session is over", proves: "old facts are old", reads: "helix docker host", cron: true, step: min1, lasts: 8 * min1, make: func(s *worldSite) {
			of := s.fleet(8, "s")
			s.at(270*time.Second, func() { s.kills("s-1"); of[1].Status, of[1].Workspaces = "completed", nil })
		}},
		{name: "a kill at a container's limit on a host with control groups of the first version", proves: "kills that a container's own limit explains are never host-oom", reads: "helix host", cron: true, step: min1, lasts: 8 * min1, make: func(s *worldSite) {
			s.host.first = true
			s.fleet(3, "s")
			s.at(270*time.Second, func() { s.kills("s-1") })
		}},
		{name: "evictions between two checks that lie half an hour apart", proves: watched, reads: "helix metrics", cron: true, step: 30 * min1, lasts: 3 * hour, make: func(s *worldSite) {
			s.fleet(12, "s")
			s.every(0, 3*hour, 30*min1, func() { s.counters[evictions] += 400; s.counters[retries] += 10 })
		}},
		{name: "old failures under cron on a server without a Date", proves: onset, cron: true, step: 2 * min1, lasts: 20 * min1, make: func(s *worldSite) {
			s.noDate = true
			s.fleet(20, "s")
			for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
				s.session(id, s.old(9*24*hour, "failed", "WorkspaceFailedError: read ECONNRESET")).Status = "paused"
			}
		}},
	}
}

func troubledCron() []world {
	return []world{
		{name: "a workspace that fails under cron", proves: "a cold start is the normal start", cron: true, step: 2 * min1, lasts: 30 * min1, make: func(s *worldSite) {
			of := s.fleet(8, "s")
			s.at(4*min1, func() { all(of[:1], s.fails("WorkspaceFailedError: disk I/O error")) })
		}, ends: []string{"^failed-too-long critical firing helix.*s-0/box", "^exit 2$"}},
		{name: "40 of 40 evicted under cron", proves: talksDown, reads: "helix metrics logs", cron: true, step: min1, lasts: 12 * min1, make: func(s *worldSite) {
			of := s.fleet(40, "s")
			s.counters[evictions], s.counters[retries] = 5, 5
			s.at(3*min1, func() { all(of, s.evicted) })
		}, ends: []string{"^eviction-storm critical firing helix", "^exit 2$"}},
		{name: "sandboxes that are killed at their limit and removed between two checks", proves: "kills that a container's own limit explains are sandbox-oom of that container", reads: "helix docker host", cron: true, step: 2 * min1, lasts: 20 * min1, make: func(s *worldSite) {
			s.fleet(8, "s")
			s.at(11*min1, func() { s.kills("s-1", "s-4", "s-5") })
		}, ends: []string{"^sandbox-oom warning firing docker: killed at its memory limit.*3 sandboxes", "^exit 1$"}, never: []string{"^host-oom"}},
		{name: "a sandbox that was killed at its limit and removed an hour ago", proves: "kills that a container's own limit explains are sandbox-oom of that container", reads: "helix docker", cron: true, step: 2 * min1, lasts: 80 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.at(5*min1, func() { s.kills("s-1") })
		}, finds: []string{"^sandbox-oom warning firing docker"}, ends: []string{"^exit 0$"}},
		{name: "a registry that was made anew between two checks", proves: "console and check agree", cron: true, step: 2 * min1, lasts: 20 * min1, make: func(s *worldSite) {
			of := s.fleet(3, "s")
			s.at(11*min1, func() {
				w := of[1].Workspaces[0]
				w.Success, w.Attempt, w.does = 0, 0, rests
			})
		}, finds: []string{"^files-vanished warning pending helix: provider docker was re-created.*s-1/box"}, ends: []string{"^files-vanished warning pending", "^exit 0$"}},
		{name: "one look at a counter", proves: "what one reading cannot tell is named as not evaluated", reads: "metrics", cron: true, make: func(s *worldSite) {
			s.counters[evictions], s.counters[retries] = 7, 7
		}, ends: []string{"^exit 0$", "^blind eviction-storm metrics: metrics was read once in the last 5m, and a rate needs two readings"}},
		{name: "two looks at a counter", proves: "what one reading cannot tell is named as not evaluated", reads: "metrics", cron: true, step: min1, lasts: 3 * min1, make: func(s *worldSite) {
			s.counters[evictions], s.counters[retries] = 7, 7
			s.every(min1, 3*min1, min1, func() { s.counters[evictions] += 60 })
		}, finds: []string{"^blind eviction-storm "}, ends: []string{"^exit 2$", "^eviction-storm critical firing metrics"}},
		{name: "a stored reference under cron that names a removed container", proves: "console and check agree", reads: "health docker refs", cron: true, step: 20 * time.Second, lasts: min1, make: func(s *worldSite) {
			for i, x := range s.fleet(12, "s") {
				c := s.container(fmt.Sprintf("%02x", i+16), x.ID)
				id := c.id
				if i == 0 {
					id = strings.Repeat("c6", 32)
				}
				s.refs = append(s.refs, worldRef{Session: x.ID, Status: "running", Name: "box", Sandbox: id, Schema: 3, Saved: s.clock.Add(-hour)})
			}
		}, ends: []string{"^exit 2$", "^ref-mismatch critical firing .*s-0/box"}},
		{name: "a kill that a check every minute sees", proves: watched, reads: "host", cron: true, step: min1, lasts: 8 * min1, make: func(s *worldSite) {
			s.at(5*min1, func() { s.host.kills = 3 })
		}, ends: []string{"^host-oom critical firing host", "^exit 2$"}},
		{name: "an empty list under cron", proves: emptyBody, cron: true, step: min1, lasts: 15 * min1, make: func(s *worldSite) {
			of := s.fleet(20, "s")
			s.at(8*min1, func() { vanish(of...) })
		}, ends: []string{"^exit 3$", "^source-degraded warning firing helix.*20"}},
	}
}
