package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// stormInput names the inputs by which a storm is seen. Each proves what it sees, and none disproves another.
type stormInput uint8

const (
	stormCounters stormInput = 1 << iota
	stormLines
	stormStates
)

// opinion is what one input says of a storm.
type opinion struct {
	by        stormInput
	outcome   alerts.Outcome
	suspected bool
	why       backend.Safe
}

// judge asks the counters, the log lines and the registry about one provider, each by itself. Any of them can prove a storm.
// It is over when all that proved it say so.
func (r *evictionStorm) judge(env *alerts.Env, id siteID, s *site, firing bool, proved stormInput) (alerts.Verdict, stormInput) {
	m := storm{
		evictions: env.Rate(s.evictions, r.over), retries: env.Rate(s.retries, r.over), exhausted: env.Rate(s.exhausted, r.over), lines: env.Rate(s.lines, r.over),
	}
	opinions := [...]opinion{r.byCounters(env, id, s, &m, firing), r.byLines(env, s, &m), r.byStates(env, id, s, &m)}
	v := alerts.Verdict{Outcome: alerts.False, Source: id.home, Via: s.via(id.home)}
	var by, suspects stormInput
	var why backend.Safe
	for _, o := range opinions {
		switch {
		case o.outcome == alerts.True && !o.suspected:
			by |= o.by
		case o.outcome == alerts.True:
			suspects |= o.by
			if why.IsEmpty() {
				why = o.why
			}
		case o.outcome != alerts.False && o.by&proved != 0:
			v.Outcome, v.Why = o.outcome, o.why
		case o.outcome != alerts.False && proved == 0 && v.Outcome == alerts.False && o.by == stormCounters:
			v.Outcome, v.Why = o.outcome, o.why // nothing is known of a storm by now
		}
	}
	if by|suspects == 0 {
		return v, 0
	}
	v.Outcome, v.Why = alerts.True, backend.Safe{}
	if by == 0 {
		by, v.Suspected, v.Why = suspects, true, why
	}
	if (by|proved)&(stormCounters|stormLines) == 0 {
		v.Via = "" // the registry alone shows it
	}
	if by == stormLines && m.exhausted.N < r.exhausted {
		v.Severity = milder(r.meta.Severity) // nothing says how many were recovered
	}
	r.tell(env, id, s, &m, &v)
	return v, by
}

func (r *evictionStorm) byCounters(env *alerts.Env, id siteID, s *site, m *storm, firing bool) opinion {
	x := opinion{by: stormCounters, outcome: alerts.NoData, why: backend.Textf("too little of the last %s was read", text(r.over))}
	limit := r.rate
	if firing {
		limit *= r.leave
	}
	if len(s.evictions) == 0 {
		x.outcome = alerts.False
		return x
	}
	if x.outcome, x.suspected = m.evictions.Reaches(limit); x.outcome == alerts.True && m.recovered() >= r.recovery {
		x.outcome = alerts.False
	}
	if x.outcome == alerts.True {
		x.why = backend.Textf("fires when the rate holds: %s of the window of %s were read", text(m.evictions.Covered.Round(time.Second)), text(r.over))
		if why, is := r.elsewhere(env, id, s); is {
			x.suspected, x.why = true, why
		}
		return x
	}
	return x.unlessSilent(env, s.evictions, backend.InputEvictions)
}

// elsewhere reports whether a count of evictions may be of another registry: its source speaks about several, and this one is
// read and shows none.
func (r *evictionStorm) elsewhere(env *alerts.Env, id siteID, s *site) (why backend.Safe, is bool) {
	via := s.evictions[0].Source
	n := id.count(env)
	if n == 0 || s.evicted.Len() > 0 || via == id.home || len(env.HomesOf(via)) < 2 {
		return backend.Safe{}, false
	}
	if _, _, gap := env.Gap(id.home); gap {
		return backend.Safe{}, false
	}
	return backend.Textf("fires when one is evicted: %s counts for several servers, and none of %s here is evicted", backend.Clean(via, 80), plural(n, "workspace")), true
}

func (r *evictionStorm) byLines(env *alerts.Env, s *site, m *storm) opinion {
	x := opinion{by: stormLines, outcome: alerts.NoData, why: backend.Textf("too little of the last %s was read", text(r.over))}
	switch {
	case m.exhausted.N >= r.exhausted, m.lines.N >= r.rate*r.over.Seconds() && uncounted(m.evictions.N, m.lines.N):
		x.outcome = alerts.True
		return x
	case m.exhausted.Known || m.lines.Known, len(s.exhausted)+len(s.lines) == 0:
		x.outcome = alerts.False
	}
	return x.unlessSilent(env, slices.Concat(s.exhausted, s.lines), backend.InputEvictionLogs)
}

// uncounted reports whether a counter knows nothing of most evictions that lines tell of. Where it does, it also says how many
// of them were recovered.
func uncounted(counted, lines float64) bool { return 2*counted < lines }

// unlessSilent takes back what an input says that its source does not deliver now.
func (x opinion) unlessSilent(env *alerts.Env, series []backend.Series, in backend.Input) opinion {
	for _, c := range series {
		if why, is := env.Silent(c.Source, in); is {
			x.outcome, x.why = alerts.SourceError, why
		}
		if _, why, is := env.Gap(c.Source); is {
			x.outcome, x.why = alerts.SourceError, why
		}
	}
	return x
}

// byStates judges by what the polls saw: a lower bound. Only what was evicted or tried while it was watched proves anything:
// a sandbox that sleeps can read evicted too.
func (r *evictionStorm) byStates(env *alerts.Env, id siteID, s *site, m *storm) opinion {
	x := opinion{by: stormStates, outcome: alerts.False}
	if o, why, gap := env.Gap(id.home); gap {
		x.outcome, x.why = o, why
		return x
	}
	if s.evicted.Len() < r.evicted {
		return x
	}
	h := env.State.Source(id.home)
	doubtful := h == nil || h.Status != fleet.StatusOK // only then can some be stale, and looking them up takes time
	unread := 0
	for k, n := range each[evictedNote](s.evicted) {
		if !n.inUse(env, r.over) {
			continue
		}
		if doubtful {
			if w := env.State.Workspace(k); w == nil || w.Stale {
				unread++
				continue
			}
		}
		m.lost++
		ago := env.Now.Sub(n.Evicted)
		switch {
		case n.Evicted.IsZero() || ago > r.gap() || ago > r.over && n.After.IsZero():
		case n.After.IsZero():
			m.seen++
			m.churned++
		default: // readings far apart: some time after the former
			m.seen++
			if m.since.IsZero() || n.After.Before(m.since) {
				m.since = n.After
			}
		}
	}
	m.total = id.count(env) - s.evicted.Len() + m.lost + unread
	many := func(lost int) bool {
		return lost >= r.evicted && within(float64(m.total-lost), r.recovery, float64(m.total))
	}
	switch {
	case many(m.lost):
	case many(m.lost + unread):
		x.outcome, x.why = alerts.NoData, backend.Textf("%s that were evicted cannot be read now", plural(unread, "workspace"))
		return x
	default:
		return x
	}
	m.least, x.outcome = true, alerts.True
	if float64(m.churned)/r.over.Seconds() < r.rate && 2*m.seen < m.lost {
		x.suspected = true
		x.why = backend.Textf("%d of %d are evicted now, %d of them were seen to become so: fires when half of them are seen to be evicted or to fail again",
			m.lost, m.total, m.seen)
	}
	return x
}

// inUse reports whether an evicted workspace is missed: it was evicted or tried while it was watched; or shortly before, and
// what failed then within the last hour.
func (n *evictedNote) inUse(env *alerts.Env, over time.Duration) bool {
	if n.Attempt.After(n.Success) {
		over = max(over, fleet.WindowSpan)
	}
	return !n.Evicted.IsZero() || !n.Attempt.IsZero() && env.Now.Sub(n.Attempt) <= over
}

// asleep reports whether a workspace that turned evicted fell asleep: its sandbox sleeps, or its last use succeeded and lies
// back for as long as it takes, and no error is told.
func (r *evictionStorm) asleep(env *alerts.Env, w *backend.Workspace, f facts) bool {
	if f.failing() {
		return false
	}
	for _, b := range env.State.SandboxesOf(w.Key.Parent) {
		if b.Class == backend.SandboxAsleep && (b.Workspace.IsZero() || b.Workspace == w.Key.ID) {
			return true
		}
	}
	idle := f.read.Sub(latestOf(f.attempt, f.success))
	if after, ok := w.SleepAfter.Get(); ok && !f.success.IsZero() && idle >= after {
		return true
	}
	return w.LastError.IsEmpty() && !f.success.IsZero() && idle > r.over
}
