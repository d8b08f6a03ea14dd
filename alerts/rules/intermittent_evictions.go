package rules

import (
	"iter"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// lostOver is how far back evictions are counted: that is how long counts are kept.
const lostOver = time.Hour

// lostEvictions are the counters of one provider.
type lostEvictions struct {
	evictions, retries []backend.Series
}

// evictions judges the providers whose evictions are counted: too slow for a storm, and not recovered for long.
func (r *intermittent) evictions(env *alerts.Env) iter.Seq2[backend.Key, alerts.Verdict] {
	sites := map[siteID]*lostEvictions{}
	for _, m := range []backend.Metric{backend.MetricEvictions, backend.MetricEvictionRetries} {
		for s := range env.State.Windows.All(m) {
			id := siteID{env.HomeOf(s), s.Provider}
			if id.home == "" {
				continue
			}
			x := sites[id]
			if x == nil {
				x = &lostEvictions{}
				sites[id] = x
			}
			if m == backend.MetricEvictions {
				x.evictions = append(x.evictions, s)
			} else {
				x.retries = append(x.retries, s)
			}
		}
	}
	return func(yield func(backend.Key, alerts.Verdict) bool) {
		for id, x := range sites {
			key := backend.Key{Kind: backend.KindSource, Source: id.home, ID: backend.MustID(id.home + "/evictions/" + backend.Clean(id.provider, 200).String())}
			if len(x.evictions) > 0 && !yield(key, r.judgeEvictions(env, id, x)) {
				return
			}
		}
	}
}

func (r *intermittent) judgeEvictions(env *alerts.Env, id siteID, x *lostEvictions) alerts.Verdict {
	via := x.evictions[0].Source
	v := alerts.Verdict{Outcome: alerts.False, Source: id.home, Via: via, Runbook: "7"}
	if o, why, gap := env.Gap(via); gap {
		v.Outcome, v.Why = o, why
		return v
	}
	if why, is := env.Silent(via, backend.InputEvictions); is {
		v.Outcome, v.Why = alerts.SourceError, why
		return v
	}
	evicted, retried := env.Rate(x.evictions, lostOver), env.Rate(x.retries, lostOver)
	if !evicted.Known {
		v.Outcome, v.Why = alerts.NoData, backend.Text("too little of the last hour was read")
		return v
	}
	lost := evicted.N - min(retried.N, evicted.N)
	first, last, parts := spreadOf(env, x.evictions)
	if lost < r.lost || !atShare(lost, r.attempts, evicted.N) || parts < failedInParts || last.Sub(first) < lostOver/3 || env.Now.Sub(last) > lostOver/3 {
		return v
	}
	what := backend.Text("evictions go on for long, and many are not recovered")
	v.Outcome, v.Cause, v.Fingerprint, v.Confirmed = alerts.True, what, alerts.Fingerprint("evictions not recovered for long")+"-"+id.provider, env.Ours(evicted.Last)
	if id.provider != "" {
		v.Provider = backend.Clean(id.provider, 60)
		v.Cause = backend.Textf("%s: %s", v.Provider, what)
	}
	v.Detail, v.Bounds = v.Cause, alerts.Bounds{Latest: first}
	v.Listing = listingOf[flakeNote](env, alerts.Notes{}, id.home)
	v.Evidence = []alerts.Evidence{{
		Text: backend.Textf("%s of %s evictions in the %s that were watched were not recovered by a retry (alert from %s, and from %s %%)",
			number(lost), number(evicted.N), span(evicted.Covered), number(r.lost), number(100*r.attempts)),
		Value: backend.Known(lost / evicted.N), Unit: "share", Source: via, At: evicted.Last,
	}}
	if len(x.retries) == 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Text("no retry was counted: either none was made, or the server does not count them"), Source: via, At: evicted.Last})
	}
	return v
}

// spreadOf is when the first and the newest eviction of the last hour were counted, and in how many five-minute parts of the
// hour there were some.
func spreadOf(env *alerts.Env, series []backend.Series) (first, last time.Time, parts int) {
	seen := map[int64]bool{}
	for _, s := range series {
		for at, n := range env.State.Windows.Counts(s) {
			at = env.Ours(at)
			if n == 0 || env.Now.Sub(at) > lostOver {
				continue
			}
			if first.IsZero() || at.Before(first) {
				first = at
			}
			last = latestOf(last, at)
			seen[at.Unix()/300] = true
		}
	}
	return first, last, len(seen)
}
