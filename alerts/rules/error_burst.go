package rules

import (
	"cmp"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// BurstOptions are the keys of `[rules.error-burst]`.
type BurstOptions struct {
	Common
	Sessions int              `toml:"sessions" doc:"sessions that must fail with one cause"`
	Share    float64          `toml:"share" doc:"… and their share of the source's workspaces (0 to 1; 0: any)"`
	Over     backend.Duration `toml:"over" doc:"age of their failures at most; older ones belong to failed-too-long"`
	Settled  int              `toml:"settled" doc:"workspaces failed for longer than over from which failed-too-long takes over"`
}

func burstDefaults() *BurstOptions {
	o := &BurstOptions{Common: common(alerts.SeverityCritical), Sessions: 5, Share: 0.01, Over: backend.Duration(10 * time.Minute), Settled: 3}
	o.For = backend.Duration(time.Minute) // an ordinary restart is over by then
	o.KeepFiringFor = backend.Duration(time.Minute)
	return o
}

func (o *BurstOptions) build() (alerts.Rule, error) {
	f, err := newFailures("error-burst", &o.Common, o.Share, o.Over)
	r := &errorBurst{failures: f, sessions: o.Sessions, settled: o.Settled}
	r.meta.Inhibits, r.meta.OwnFor = sameCause("failed-too-long", "hammered-and-failing"), true
	return r, cmp.Or(refuse(o.Sessions < 2, "sessions", "must be at least 2: one session is no burst"), atLeast("settled", o.Settled, 1), err)
}

type errorBurst struct {
	failures
	sessions, settled int
}

func (r *errorBurst) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	seen := map[backend.Key]bool{}
	var out []alerts.Found
	for bucket, notes := range known.Buckets {
		home, fp, _ := strings.Cut(bucket, "\x00")
		key := (&site{}).key(siteID{home, fp})
		if notes.Len() < r.sessions && known.Finding(key) == "" {
			continue
		}
		seen[key] = true
		if v := r.judge(env, home, fp, notes); v.Outcome == alerts.True || known.Finding(key) != "" {
			out = append(out, alerts.Found{Key: key, Verdict: v})
		}
	}
	return append(out, unmentioned(env, known, seen)...)
}

// burst is what the failures of one cause add up to.
type burst struct {
	young, settled, undated int
	began                   []time.Time // of the young sessions, when each was proved to fail
	success, first, last    time.Time   // the earliest success, the first and the newest onset
	newest                  *failureNote
}

func (r *errorBurst) add(env *alerts.Env, notes alerts.Notes) burst {
	var b burst
	var young backend.ID
	for _, n := range each[failureNote](notes) {
		began, at, dated := n.onset()
		if !dated {
			b.undated++
			continue
		}
		old := env.Now.Sub(at) > r.over
		if env.Now.Sub(at) > 2*r.over {
			continue // another outage with the same cause, that failed-too-long has told for long
		}
		if old || !began.IsZero() && env.Now.Sub(began) > r.over {
			if b.settled++; b.settled >= r.settled {
				break // it is over whatever the others say
			}
		}
		if old {
			continue
		}
		if n.Session != young {
			young = n.Session
			b.young++
			b.began = append(b.began, at)
		} else if k := len(b.began) - 1; at.Before(b.began[k]) {
			b.began[k] = at
		}
		if worked := n.worked(); !worked.IsZero() && (b.success.IsZero() || worked.Before(b.success)) {
			b.success = worked
		}
		if b.first.IsZero() || at.Before(b.first) {
			b.first = at
		}
		if b.newest == nil || at.After(b.last) {
			b.last, b.newest = at, n
		}
	}
	return b
}

func (r *errorBurst) judge(env *alerts.Env, home, fp string, notes alerts.Notes) alerts.Verdict {
	if v, gap := gapOf(env, home); gap {
		return v
	}
	b := r.add(env, notes)
	if b.young < r.sessions || b.settled >= r.settled || r.few(env, home, b.young) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := b.newest
	held := nth(b.began, min(r.enough(env, home), b.young))
	what := env.Names(n.Cause)
	if what&alerts.NamesPermanent != 0 {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Source: home, Cause: n.Cause, Fingerprint: fp, Runbook: "1", Detail: n.Cause, Confirmed: latestOf(n.LastAttempt, n.Seen),
		Bounds: alerts.Bounds{Earliest: b.success, Latest: b.first}, Listing: listingOf[failureNote](env, notes, home),
	}
	v.Listing.Variants = variantsOf(env, notes)
	if what&alerts.NamesQuota != 0 {
		v.Runbook = "7"
	}
	v.Evidence = []alerts.Evidence{
		{
			Text:  backend.Textf("%s began to fail with this cause in the last %s (alert from %d)", plural(b.young, "session"), text(r.over), r.sessions),
			Value: backend.Known(float64(b.young)), Unit: "sessions", Source: home, At: env.Display(b.last),
		},
		{Text: backend.Textf("the first known failure was at %s, the newest began at %s", env.Clock(b.first), env.Clock(b.last)), Source: home, At: env.Display(b.last)},
		{Text: backend.Textf("lastError: %s", n.Cause), Source: home, At: env.Display(latestOf(n.LastAttempt, n.Seen))},
	}
	if b.undated > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("%s more fail with this cause; since when is not known", plural(b.undated, "workspace")),
			Value: backend.Known(float64(b.undated)), Unit: "workspaces", Source: home, At: env.Display(env.Now)})
	}
	if env.Now.Sub(env.Watching) >= r.over { // readings show how it went; what one reading tells is no trend
		v.Trend, v.TrendSpan = r.onsets(env, notes), r.over
	}
	if due := env.Now.Add(r.meta.For - env.Watched(home, held)); env.Now.Before(due) {
		v.Suspected, v.Recheck = true, due
		v.Why = backend.Textf("fires when they still fail at %s", env.Clock(due))
	}
	return v
}

// enough is how many sessions make a burst on a source.
func (r *errorBurst) enough(env *alerts.Env, home string) int {
	return max(r.sessions, ofShare(r.share, ofSource(env, home)))
}

// onsets is how many began to fail in each part of the window, oldest first.
func (r *errorBurst) onsets(env *alerts.Env, notes alerts.Notes) []float64 {
	out := make([]float64, trendParts)
	for _, n := range each[failureNote](notes) {
		if _, at, dated := n.onset(); !dated {
			continue
		} else if age := env.Now.Sub(at); age >= 0 && age < r.over {
			out[trendParts-1-int(int64(age)*trendParts/int64(r.over))]++
		}
	}
	return out
}
