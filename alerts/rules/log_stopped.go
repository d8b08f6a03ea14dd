package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// logStopped reports whether the log that a session's lines came from has not grown since the newest of them, though the
// session still runs. Then that no line came proves nothing.
func logStopped(env *alerts.Env, session backend.Key, log string, last time.Time) (why backend.Safe, is bool) {
	if s := env.State.Session(session); s == nil || !s.MayRun() {
		return why, false
	}
	for _, m := range []backend.Metric{backend.MetricLogLines, backend.MetricLogBytes} {
		for x := range env.State.Windows.All(m) {
			if x.Source == log && !lastLine(env, []backend.Series{x}, last).IsZero() {
				return why, false
			}
		}
	}
	return backend.Textf("the log %s has not grown since %s, in the middle of the flood, and %s still runs", backend.Clean(log, 80), env.Clock(last), session.Safe()), true
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
