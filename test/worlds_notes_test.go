package test

import (
	"fmt"
	"time"
)

// notedWorlds are situations of which something is said that is no alarm, or is said in few lines.
func notedWorlds() []world {
	const calm = "^[a-z-]+ (warning|critical) (firing|held) "
	said := "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"
	pods := func(n int) world {
		return world{name: fmt.Sprintf("%d pods with one cause", n), proves: "400 pods of one cause are one line from the first State on", lasts: 5 * time.Second, make: func(s *worldSite) {
			for i := range n {
				a, b := rune('a'+i%26), rune('a'+i/26%26)
				w := s.old(2*min1, "failed", fmt.Sprintf("WorkspaceFailedError: pod agent-7f9c6d-%c%cx%cq is not ready", a, b, b))
				w.Attempt = s.ms(time.Duration(i%60) * time.Second)
				s.session(fmt.Sprintf("s-%d", i), w)
			}
		}, ends: []string{"^lines [12]$", fmt.Sprintf("^error-burst critical firing helix.*%d subjects", n)}}
	}
	return []world{
		{name: "a note about an agent that prints an out of memory", proves: "text inside a tool's output is the agent's word: at most pending, marked \"said by the agent\"", reads: "helix logs", lasts: 5 * min1, make: func(s *worldSite) {
			s.fleet(5, "s")
			s.at(2*min1, func() { s.writes(50, "s-1", "tool output: "+said) })
		}, finds: []string{"^agent-oom [a-z]+ pending .*said by the agent"}, never: []string{calm, "^exit [12]$"}},
		{name: "a note about a container that nobody lists", proves: "unlisted (a note)", reads: "helix docker", lasts: 15 * min1, make: func(s *worldSite) {
			s.fleet(3, "s")
			s.container("a1", "long-gone")
		}, finds: []string{"^wont-terminate info firing docker"}, never: []string{calm}},
		pods(400),
	}
}
