package runbook

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// longAttempt asks for attempts that run longer than any operation may. What runs has not failed.
func (s *subjectView) longAttempt() Check {
	q := question{"long-attempt", "Does an attempt run longer than it may?", "lastAttemptAt and lastSuccessAt in the snapshot"}
	n, dated := 0, 0
	var first *backend.Workspace
	var oldest time.Time
	for _, w := range s.workspaces {
		at, known := w.LastAttemptAt.Get()
		if known {
			dated++
		}
		if !s.runsLong(w) {
			continue
		}
		if n++; first == nil || at.Before(oldest) {
			first, oldest = w, at
		}
	}
	longest := spanText(s.State.LongestOperation)
	switch {
	case n == 1:
		return q.yes(s.from(&first.Meta), "the newest attempt of %s runs for %s, longer than longest_operation %s", first.Key.Safe(), backend.Age(s.now.Sub(oldest)), longest)
	case n > 1:
		return q.yes(s.from(&first.Meta), "%d attempts run longer than longest_operation %s, that of %s for %s", n, longest, first.Key.Safe(), backend.Age(s.now.Sub(oldest)))
	case dated == 0:
		return q.unsure("no workspace says when it was tried")
	case dated < len(s.workspaces):
		return q.unsure("%d of %s do not say when they were tried", len(s.workspaces)-dated, plural(len(s.workspaces), "workspace"))
	}
	return s.settle(q.no(s.newest(), "no attempt without an outcome is older than longest_operation %s", longest), q)
}

// evictedTogether asks whether an eviction is a part of a storm: that comes before every cause of one's own.
func (s *subjectView) evictedTogether() Check {
	q := question{"storm", "Was it evicted together with others?", "eviction metrics, log lines about evictions, or snapshots of several sessions"}
	n := 0
	for i := range s.errors {
		if s.errors[i].evicted() {
			n++
		}
	}
	evicted := n > 0 || slices.ContainsFunc(s.workspaces, func(w *backend.Workspace) bool { return w.Class == backend.ClassEvicted })
	v := s.verdict("eviction-storm")
	switch {
	case evicted && v.alert != nil:
		return q.yes(origin{v.alert.Source, v.alert.Confirmed}, "%s", beside(s.says(v.alert), figures(v.alert))).share(n, len(s.errors))
	case evicted && !v.off && v.blind.IsEmpty():
		return q.unsure("it is evicted, and no storm is seen")
	case len(s.workspaces) == 0:
		return q.unsure("no workspace of this subject is listed")
	case evicted:
		return q.unsure("it is evicted; whether others are is not read")
	}
	return s.settle(q.no(s.newest(), "none of %s is evicted", plural(len(s.workspaces), "workspace")), q)
}

// deletedBehind asks whether the sandbox behind the workspace was deleted. An eviction in a storm is none.
func (s *subjectView) deletedBehind(q question) Check {
	c := s.byErrors(q, alerts.NamesGone)
	if c.Mark != Confirmed || s.verdict("eviction-storm").alert == nil || slices.ContainsFunc(s.errors, func(e reportedError) bool { return e.cause&alerts.NamesGone != 0 && !e.evicted() }) {
		return c
	}
	return q.unsure("%s; an eviction storm comes before that", c.Fact)
}
