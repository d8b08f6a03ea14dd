package runbook

import (
	"strings"
	"time"

	"sandglass/backend"
)

// listOf is the command that prints the rows of a kind which match a filter, as a shell takes it.
func listOf(kind string, terms ...string) backend.Safe {
	return backend.Textf("sandglass get %s --filter %s", backend.Clean(kind, 20), backend.ShellWord(strings.Join(terms, " ")))
}

// term is one condition of a filter on a value that a backend gave.
func term(field, operator, value string) string {
	if strings.ContainsAny(value, " \t'\"\\") {
		value = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	return field + operator + value
}

// unusedAfter is from when on a workspace that works counts as unused.
const unusedAfter = 30 * time.Minute

// makeRoom is the first step where no instance is left: which workspaces of the provider are unused, if some are.
func (s *subjectView) makeRoom(d *Diagnosis) {
	provider := s.provider()
	if x, ok := s.limitOfInstances(); ok && len(x.providers) == 1 {
		for p := range x.providers {
			provider = p.String()
		}
	}
	n, all := 0, 0
	for w := range s.State.Workspaces.All() {
		at, tried := w.LastAttemptAt.Get()
		if w.Condition(s.now, s.State.LongestOperation) == backend.CondWorking && tried && s.now.Sub(at) > unusedAfter {
			all++
			if provider == "" || w.Provider.String() == provider {
				n++
			}
		}
	}
	unused := listOf("ws", "works=working", "attempt>"+backend.Age(unusedAfter)) // short: it fits on one line of a narrow screen
	switch {
	case n == 1 && all == 1:
		d.do("Run: %s (lists the workspace that is idle for over %s). End its session in the app that started it. Or raise max_instances in the platform's configuration and redeploy that.", unused, spanText(unusedAfter))
	case n > 0 && n < all:
		d.do("Run: %s (%d workspaces idle over %s, %d on %s). End only the sessions of those %d, in the app that started them. Or raise max_instances in the platform's configuration and redeploy that.", unused, all, spanText(unusedAfter), n, backend.Clean(provider, 80), n)
	case n > 0:
		d.do("Run: %s (lists %d workspaces idle for over %s). End their sessions in the app that started them. Or raise max_instances in the platform's configuration and redeploy that.", unused, all, spanText(unusedAfter))
	default:
		d.do("Raise max_instances and redeploy, or end sessions. No workspace is known to be idle for over %s.", spanText(unusedAfter))
	}
}

// evictedOnes lists the evicted workspaces with their errors, by the registry's own word.
func (s *subjectView) evictedOnes() backend.Safe {
	for _, w := range s.workspaces {
		if w.Class == backend.ClassEvicted && !w.Reported.IsEmpty() {
			return listOf("ws", term("state", "=", w.Reported.String()))
		}
	}
	return listOf("ws", "works=failing")
}
