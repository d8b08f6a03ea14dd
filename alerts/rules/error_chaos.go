package rules

import (
	"cmp"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// ChaosOptions are the keys of `[rules.error-chaos]`.
type ChaosOptions struct {
	Common
	Causes   int              `toml:"causes" doc:"different causes of one source"`
	Sessions int              `toml:"sessions" doc:"sessions that must have them"`
	Share    float64          `toml:"share" doc:"… and their share of the source's workspaces (0 to 1; 0: any)"`
	Over     backend.Duration `toml:"over" doc:"the window in which their failures must have begun"`
}

func chaosDefaults() *ChaosOptions {
	o := &ChaosOptions{Common: common(alerts.SeverityWarning), Causes: 8, Sessions: 5, Share: 0.01, Over: backend.Duration(10 * time.Minute)}
	o.KeepFiringFor = backend.Duration(time.Minute)
	return o
}

func (o *ChaosOptions) build() (alerts.Rule, error) {
	f, err := newFailures("error-chaos", &o.Common, o.Share, o.Over)
	r := &errorChaos{failures: f, causes: o.Causes, sessions: o.Sessions}
	return r, cmp.Or(refuse(o.Causes < 2, "causes", "must be at least 2: one cause is error-burst"), atLeast("sessions", o.Sessions, 1), err)
}

type errorChaos struct {
	failures
	causes, sessions int
}

// restartPasses is how long so few causes must last: by then an ordinary restart is over.
const restartPasses = time.Minute

// kindOfError is one cause with what has it.
type kindOfError struct {
	cause  backend.Safe
	young  alerts.Notes
	newest time.Time
	// The first of them began to fail after worked, zero: not known, and by failed.
	worked, failed time.Time
}

func (r *errorChaos) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	places := map[string]int{}
	for bucket := range known.Buckets {
		home, _, _ := strings.Cut(bucket, "\x00")
		places[home]++
	}
	seen := map[backend.Key]bool{}
	var out []alerts.Found
	for home, n := range places {
		key := sourceKey(env.State, home)
		if n < min(r.causes, r.sessions) && known.Finding(key) == "" {
			continue
		}
		seen[key] = true
		v := r.judge(env, home, r.young(env, known, home))
		if v.Outcome == alerts.True || known.Finding(key) != "" {
			out = append(out, alerts.Found{Key: key, Verdict: v})
		}
	}
	return append(out, unmentioned(env, known, seen)...)
}

// young lists the causes whose failures began within the window, the most frequent first.
func (r *errorChaos) young(env *alerts.Env, all alerts.Known, home string) []kindOfError {
	var out []kindOfError
	for bucket, notes := range all.Buckets {
		if !strings.HasPrefix(bucket, home+"\x00") {
			continue
		}
		k := kindOfError{young: notes.Where(func(_ backend.Key, n alerts.Note) bool {
			return env.Now.Sub(alerts.NoteAs[failureNote](n).proved()) <= r.over
		})}
		known := false
		for _, n := range each[failureNote](k.young) {
			if at := latestOf(n.LastAttempt, n.Seen); at.After(k.newest) {
				k.newest, k.cause = at, n.Cause
			}
			if at := n.proved(); k.failed.IsZero() || at.Before(k.failed) {
				k.failed = at
			}
			if at := n.earliest(); !known || at.Before(k.worked) { // a zero one is before all others
				k.worked, known = at, true
			}
		}
		if k.young.Len() > 0 {
			out = append(out, k)
		}
	}
	stable.Sort(out, func(a, b kindOfError) int { return cmp.Compare(b.young.Len(), a.young.Len()) })
	return out
}

// sessionsOfCauses counts sessions so that each cause counts for one of them at most: one session that fails in many ways
// next to others that share one trouble is no chaos.
func sessionsOfCauses(causes []kindOfError) int {
	seen := map[backend.ID]bool{}
	for _, k := range causes {
		for _, n := range each[failureNote](k.young) {
			if !seen[n.Session] {
				seen[n.Session] = true
				break
			}
		}
	}
	return len(seen)
}

func (r *errorChaos) judge(env *alerts.Env, home string, causes []kindOfError) alerts.Verdict {
	if v, gap := gapOf(env, home); gap {
		return v
	}
	var all alerts.Notes
	var newest time.Time
	var worked, failed []time.Time
	for _, k := range causes {
		all = all.With(k.young)
		newest = latestOf(newest, k.newest)
		worked, failed = append(worked, k.worked), append(failed, k.failed)
	}
	apart, enough := sessionsOfCauses(causes), r.causes
	if len(causes) < r.causes && 2*all.Len() >= ofSource(env, home) { // on a small fleet
		enough = min(r.causes, r.sessions)
	}
	if len(causes) < enough || apart < r.sessions || r.few(env, home, apart) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	l := listingOf[failureNote](env, all, home)
	seen := backend.Text("began")
	if env.Now.Sub(nth(worked, enough)) > r.over {
		seen = backend.Text("were first seen") // they may have begun before
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Source: home, Cause: backend.Text("workspaces fail for many different causes at once"),
		Fingerprint: alerts.Fingerprint("many different causes at once"), Runbook: "1", Confirmed: newest, Listing: l,
		Detail: backend.Text("many different causes"), Bounds: alerts.Bounds{Earliest: nth(worked, enough), Latest: nth(failed, enough)},
		Evidence: []alerts.Evidence{{
			Text:  backend.Textf("%d different causes in %s %s in the last %s (alert from %d)", len(causes), plural(l.Sessions, "session"), seen, text(r.over), enough),
			Value: backend.Known(float64(len(causes))), Unit: "causes", Source: home, At: env.Display(newest),
		}},
	}
	for _, k := range causes[:min(len(causes), 3)] {
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text: backend.Textf("%d × %s", k.young.Len(), k.cause), Value: backend.Known(float64(k.young.Len())), Unit: "workspaces", Source: home, At: env.Display(k.newest),
		})
	}
	long := !v.Bounds.Earliest.IsZero() && env.Now.Sub(v.Bounds.Earliest) >= r.over // none succeeded for so long
	if due := v.Bounds.Latest.Add(restartPasses); enough < r.causes && !long && env.Now.Before(due) {
		v.Suspected, v.Recheck = true, due
		v.Why = backend.Textf("fires when they still fail at %s", env.Clock(due))
	}
	return v
}
