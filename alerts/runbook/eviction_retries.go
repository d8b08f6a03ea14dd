package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// retriesOnTop asks whether retries feed the storm: many attempts for few recoveries, or retries that were exhausted.
func (s *subjectView) retriesOnTop() Check {
	q := question{"retries", "Do retries on top make it worse?", "eviction metrics, or attempt and success times of the workspaces"}
	over, judged := s.span(stormOver)
	if !judged {
		return q.off(stormOver)
	}
	evictions, retries, exhausted := s.tally(backend.MetricEvictions, over), s.tally(backend.MetricEvictionRetries, over), s.tally(backend.MetricEvictionExhausted, over)
	switch {
	case evictions.in.Samples > 1 && retries.in.N > evictions.in.N && evictions.in.N > 0:
		return q.yes(retries.from, "%s retries for %s evictions in %s: more than one for each", number(retries.in.N), number(evictions.in.N), s.watched(retries, over))
	case s.toldOf("retry exhausted") != nil:
		e := s.toldOf("retry exhausted")
		return q.yes(origin{e.Source, e.At}, "%s: each of these evictions was retried in vain to the end", e.Text)
	case exhausted.in.N > 0:
		return q.yes(exhausted.from, "retries were exhausted %s in %s: each of these evictions was retried in vain to the end", times(exhausted.in.N), s.watched(exhausted, over))
	}
	attempts, recoveries, dated := 0, 0, 0
	for _, w := range s.workspaces {
		attempt, ok := w.LastAttemptAt.Get()
		if s.ofAlert() && !s.onPage(w) {
			continue
		}
		if ok {
			dated++
		}
		if !ok || s.now.Sub(attempt) > time.Minute {
			continue
		}
		if s.failing(w) || w.TriedSince() && !w.LastError.IsEmpty() {
			attempts++
		} else if s.recoveredLately(w, over) {
			recoveries++
		}
	}
	span := min(time.Minute, s.now.Sub(s.firstTry()))
	many, _ := s.number(stormEvicted)
	recovery, _ := s.number(stormRecovery)
	switch vain := float64(recoveries) < recovery*float64(attempts+recoveries); {
	case dated == 0:
		return q.unsure("no attempt of the last minute is known")
	case span < time.Minute:
		return q.unsure("%s within the last minute; recoveries are watched for %s only", some(attempts, "failed attempt"), backend.Age(span))
	case float64(attempts) >= many && vain:
		return q.yes(s.newest(), "at least %.2f attempts/s without success against %.2f recoveries/s in the last minute", float64(attempts)/60, float64(recoveries)/60)
	case attempts == 0 && recoveries == 0:
		return s.settle(q.no(s.newest(), "no attempt of the last minute failed, as far as polls saw"), q)
	case !vain:
		return s.settle(q.no(s.newest(), "%s against %s in the last minute", plural(recoveries, "recovery"), some(attempts, "failed attempt")), q)
	}
	return q.unsure("%s in the last minute, too few to tell", plural(attempts, "failed attempt"))
}

// some writes a number with its noun, and no for none.
func some(n int, noun string) string {
	if n == 0 {
		return "no " + noun
	}
	return plural(n, noun)
}

// times writes how often something happened.
func times(n float64) string {
	if n == 1 {
		return "once"
	}
	return number(n) + " times"
}

// recoveredLately reports whether a workspace that works now was seen evicted or failed within the last minutes, and has
// succeeded since. One that never was broken has not recovered.
func (s *subjectView) recoveredLately(w *backend.Workspace, over time.Duration) bool {
	success, ok := w.LastSuccessAt.Get()
	if !ok || s.now.Sub(success) > time.Minute {
		return false
	}
	return slices.ContainsFunc(w.History, func(c backend.StatusChange) bool {
		word := strings.ToLower(c.Status.String())
		return (word == "evicted" || word == "failed") && s.now.Sub(c.At) <= over && !c.At.After(success)
	})
}

// firstTry is since when the registry of the subject is read, now when it is not.
func (s *subjectView) firstTry() time.Time {
	if h := s.delivers(backend.InputRegistry); h != nil && !h.FirstTry.IsZero() {
		return h.FirstTry
	}
	return s.now
}
