package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// logStopped reports whether the log that a flood of lines came from has not grown since the newest of them, though what wrote
// it still runs. Then that no line came proves nothing.
func logStopped(env *alerts.Env, home string, series []backend.Series, last time.Time) (why backend.Safe, is bool) {
	if last.IsZero() || len(series) == 0 {
		return why, false
	}
	who, runs := writer(env, home, series)
	if !runs {
		return why, false
	}
	for _, s := range series {
		if logGrew(env, s, last) {
			return why, false
		}
	}
	return backend.Textf("the log %s has not grown since %s, in the middle of the flood, and %s still runs", backend.Clean(series[0].Source, 80), env.Clock(last), who), true
}

// logGrew reports whether the log of a series got any line after a moment: the file of its session, where its source tells, else
// any file of it.
func logGrew(env *alerts.Env, s backend.Series, last time.Time) bool {
	if h := env.State.Source(s.Source); h != nil && !s.Session.IsZero() {
		if _, stopped := slices.BinarySearchFunc(h.Stopped, s.Session, backend.ID.Compare); stopped {
			return false
		}
	}
	for _, m := range []backend.Metric{backend.MetricLogLines, backend.MetricLogBytes} {
		for x := range env.State.Windows.All(m) {
			if x.Source == s.Source && !lastLine(env, []backend.Series{x}, last).IsZero() {
				return true
			}
		}
	}
	return false
}

// writer is a session that runs and that the series name; where they name none, any of the source that lists sessions.
func writer(env *alerts.Env, home string, series []backend.Series) (who backend.Safe, runs bool) {
	named := false
	for _, s := range series {
		if s.Session.IsZero() {
			continue
		}
		named = true
		if x := env.State.Session(backend.Key{Kind: backend.KindSession, Source: home, ID: s.Session}); x != nil && x.MayRun() {
			return x.Key.Safe(), true
		}
	}
	if named {
		return who, false
	}
	for x := range env.State.Sessions.All() {
		if x.Key.Source == home && x.MayRun() {
			return x.Key.Safe(), true
		}
	}
	return who, false
}

// newestLine is when the series last counted something, as far as the windows reach or was known before.
func newestLine(env *alerts.Env, series []backend.Series, known time.Time) time.Time {
	return latestOf(known, lastLine(env, series, latestOf(known, env.Now.Add(-fleet.WindowSpan))))
}

// lastLine is when series counted last, more than nothing, after a moment; zero: they did not.
func lastLine(env *alerts.Env, series []backend.Series, after time.Time) time.Time {
	var last time.Time
	for _, x := range series {
		if env.Over(x, env.Now.Sub(after)).N == 0 {
			continue
		}
		for at, n := range env.State.Windows.Counts(x) {
			if at = env.Ours(at); n > 0 && at.After(after) {
				last = latestOf(last, at)
			}
		}
	}
	return last
}
