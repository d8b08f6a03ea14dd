package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestOldFactsAreOld: what a session that rests failed with long ago is history, at a cold start and later; what runs, or
// was tried lately, is not.
func TestOldFactsAreOld(t *testing.T) {
	rests := func(runs bool) func(*backend.Session) {
		return func(x *backend.Session) { x.ListedRunning = backend.Known(runs) }
	}
	broken := map[string]reading{
		failedRule:            {state: "failed", err: "read ECONNRESET"},
		hammeredRule:          {state: "evicted", err: "sandbox is gone"},
		sustainedRule:         {state: "evicted", err: "sandbox is gone"},
		"capability-mismatch": {state: "failed", err: noBucket},
		"ref-mismatch":        {state: "failed", err: "ref schemaVersion 9 is not supported"},
	}
	for rule, r := range broken {
		for name, x := range map[string]struct {
			runs  bool
			tried time.Duration // 0: the clock of the server is not known
			want  bool
		}{
			"rests since 9 days":          {false, 9 * 24 * time.Hour, false},
			"rests since this night":      {false, 13 * time.Hour, false},
			"rests, and nothing is dated": {false, 0, false},
			"was tried lately":            {false, 20 * time.Minute, true},
			"runs":                        {true, 13 * time.Hour, true},
		} {
			if rule == sustainedRule && x.want {
				continue // the polls must find it so for long
			}
			s := begin(t, rule)
			r.attempt, r.success, r.edit = x.tried, x.tried+10*time.Minute, nil
			if x.tried == 0 {
				r.edit = func(w *backend.Workspace) {
					w.LastAttemptAt, w.LastSuccessAt = backend.Unknown[time.Time](), backend.Unknown[time.Time]()
				}
			}
			s.session("a", rests(x.runs))
			s.reads("a/box", r)
			s.look()
			if got := len(s.alerts(rule)) > 0; got != x.want {
				t.Errorf("%s, %s: %v, want %v:\n%s", rule, name, got, x.want, summary(s.board))
			}
			if s.every(10*time.Minute, 20*time.Minute, nil); !x.want {
				s.quiet(rule)
			}
		}
	}
	// It fires while it is used, is history an hour after its session stopped, and fires again once that is resumed.
	s := begin(t, failedRule)
	s.session("a", rests(true))
	s.reads("a/box", reading{state: "failed", err: "read ECONNRESET", attempt: 20 * time.Minute, success: time.Hour})
	s.look().want(failedRule, alerts.StateFiring)
	s.session("a", rests(false))
	s.after(30*time.Minute).want(failedRule, alerts.StateFiring)
	s.after(30 * time.Minute).quiet(failedRule)
	s.session("a", rests(true))
	s.after(time.Minute).want(failedRule, alerts.StateFiring)
}
