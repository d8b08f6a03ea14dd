package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
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

// makeRoom is the first step where no instance is left: to end sessions where enough are unused, else to raise the limit.
func (s *subjectView) makeRoom(d *Diagnosis) {
	provider := s.provider()
	x, limited := s.limitOfInstances()
	if limited && len(x.providers) == 1 {
		for p := range x.providers {
			provider = p.String()
		}
	}
	now := backend.Safe{}
	if limited {
		now = backend.Textf(" (now %d)", x.instances)
	}
	if provider == "" && s.ofApplication() { // only these can have a container there
		provider = "cloudflare-sandbox"
	}
	where := backend.Text("the platform's configuration")
	if strings.HasPrefix(provider, "cloudflare-") {
		where = backend.Text("the Wrangler configuration")
	}
	waiting := 0
	for _, e := range s.errors {
		if e.cause&alerts.NamesQuota != 0 {
			waiting++
		}
	}
	n, list := s.unusedOn(provider)
	idle := backend.Textf("%s for over %s: %s", areUnused(n), spanText(unusedAfter), list)
	switch {
	case n == 0:
		d.do("Raise max_instances%s in %s and redeploy. Or end sessions. No workspace is known to be unused for over %s.", now, where, spanText(unusedAfter))
	case n >= waiting:
		d.do("End unused sessions, in the app that started them. It needs no deploy. %s", idle)
		d.do("Raise max_instances%s in %s and redeploy.", now, where)
	default:
		d.do("Raise max_instances%s in %s and redeploy. Until then end unused sessions, in their app. %s", now, where, idle)
	}
}

// noneToGive reports whether the alert is that the platform itself has no container for a command.
func (s *subjectView) noneToGive() bool {
	a := s.ledBy("capacity")
	return a != nil && strings.Contains(a.Cause.String(), "not your limit")
}

// refused reports whether an alert of capacity tells of a start or a command that a limit refused: a full application has refused nothing
// yet, and a platform without a container to give refuses by no limit of its user.
func refused(a *alerts.Alert) bool {
	return !strings.Contains(a.Cause.String(), "not your limit") && slices.ContainsFunc(a.Evidence, func(e alerts.Evidence) bool { return strings.Contains(e.Text.String(), "refused") })
}

// refusedByLimit asks whether new containers are refused for a limit, as errors and the alert of capacity tell.
func (s *subjectView) refusedByLimit() Check {
	q := question{"quota", "Does a quota or an instance limit refuse new containers?", "the platform's count of running instances against max_instances"}
	c := s.byErrors(q, alerts.NamesQuota)
	a := s.ledBy("capacity")
	switch {
	case a == nil || c.Mark == Confirmed || refused(a):
		return c
	case s.noneToGive():
		return q.no(origin{a.Source, a.Confirmed}, "a command was refused because the platform has no container to give, which is no limit of yours")
	}
	c = q.unsure("%s, and nothing that was read shows a refusal", a.Cause)
	c.WouldTell = backend.Text("a start or a command that is refused: its error says why")
	return c
}

// ofApplication reports whether the alert is about an application of a cloud platform that is full, as its source counts it.
func (s *subjectView) ofApplication() bool {
	return slices.ContainsFunc(s.led, func(a *alerts.Alert) bool {
		h := s.State.Source(a.Source)
		return a.Rule == "capacity" && h != nil && len(h.Pools) > 0
	})
}

// areUnused counts workspaces that had no attempt for long: each use of one is an attempt.
func areUnused(n int) backend.Safe {
	if n == 1 {
		return backend.Text("1 workspace had no attempt to use it")
	}
	return backend.Textf("%d workspaces had no attempt to use them", n)
}

// unusedOn counts the workspaces of a provider that work and were not used for long, and gives the command that lists exactly them.
func (s *subjectView) unusedOn(provider string) (int, backend.Safe) {
	n, quiet, failing, states := 0, 0, 0, map[string]int{} // of all that were not tried for long
	word, mixed := "", false
	for w := range s.State.Workspaces.All() {
		at, tried := w.LastAttemptAt.Get()
		if !tried || s.now.Sub(at) <= unusedAfter || provider != "" && s.State.WithStoredProvider(w).Provider.String() != provider {
			continue
		}
		quiet++
		states[w.Reported.String()]++
		works := w.Condition(s.now, s.State.LongestOperation)
		if works == backend.CondFailing {
			failing++
		}
		if works == backend.CondWorking {
			mixed = mixed || n > 0 && w.Reported.String() != word
			word = w.Reported.String()
			n++
		}
	}
	terms := []string{"attempt>" + backend.Age(unusedAfter)}
	if provider != "" {
		terms = append([]string{term("provider", "=", provider)}, terms...)
	}
	switch { // the registry's word says more than ours
	case quiet == n:
	case !mixed && word != "" && states[word] == n:
		terms = append(terms, term("state", "=", word))
	case quiet == n+failing:
		terms = append(terms, "!works=failing")
	default:
		terms = append(terms, "works=working")
	}
	return n, listOf("ws", terms...)
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
