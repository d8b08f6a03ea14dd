package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// lineSlack is by how much the clocks behind a log and behind a registry may differ after both were corrected.
const lineSlack = 5 * time.Second

// withLogFailures adds the failed attempts that log lines tell of, before those that polls saw: a registry names its
// newest attempt only. old is the remembered note, n the updated one.
func withLogFailures[N any, P runNote[N]](env *alerts.Env, w *backend.Workspace, f facts, old, n P) P {
	if n == old && !startingUp(env) || n.run().FirstAttempt.IsZero() {
		return n
	}
	first, lines, _ := failedLines(env, w, f)
	if first.IsZero() || !first.Before(n.run().FirstAttempt.Add(-lineSlack)) {
		return n
	}
	n = own(old, n)
	r := n.run()
	r.FirstAttempt, r.Attempts = first, max(r.Attempts, int32(min(lines, 1e6)), 2)
	return n
}

// failedLines is when the first line since the last success said that an operation on a workspace failed, how many such
// lines there are, and the source that read them. A line that names no workspace counts where its session has no other one.
func failedLines(env *alerts.Env, w *backend.Workspace, f facts) (first time.Time, lines float64, from string) {
	if !w.LastSuccessAt.IsKnown() && !w.LastSuccessAt.IsNotApplicable() {
		return first, 0, "" // it may have worked in between
	}
	after := latestOf(f.success, f.worked)
	for _, h := range env.State.Sources {
		if !h.Delivers(backend.InputEvictionLogs) || !h.ReportsOn(w.Key.Source) {
			continue
		}
		for _, id := range []backend.ID{w.Key.ID, {}} {
			if id.IsZero() && !alone(env, w) {
				continue
			}
			for _, m := range []backend.Metric{backend.MetricWorkspaceFailed, backend.MetricWorkspaceEvicted} {
				for at, n := range env.State.Windows.Counts(backend.Series{Source: h.Key.Source, Name: m, Session: w.Key.Parent, Workspace: id}) {
					at = env.Ours(at)
					if n == 0 || !at.After(after.Add(lineSlack)) || at.After(f.attempt.Add(lineSlack)) {
						continue
					}
					if lines += n; first.IsZero() || at.Before(first) {
						first, from = at, h.Key.Source
					}
				}
			}
		}
	}
	return first, lines, from
}

// alone reports whether a workspace is the only one of its session.
func alone(env *alerts.Env, w *backend.Workspace) bool {
	for x := range env.State.Workspaces.Of(backend.KindWorkspace, w.Key.Source, w.Key.Parent) {
		if x.Key != w.Key {
			return false
		}
	}
	return true
}

// soon is when to look again at what a log may still tell more about: the sources are read one after another, and what they
// tell of the past comes with the first of their readings.
func soon(env *alerts.Env, at time.Time) time.Time {
	if !startingUp(env) || !slices.ContainsFunc(env.State.Sources, func(h *fleet.SourceHealth) bool {
		return h.Status == fleet.StatusStarting || h.Watches(backend.InputEvictionLogs)
	}) {
		return at
	}
	if next := env.Now.Add(lookSoon); at.IsZero() || next.Before(at) {
		return next
	}
	return at
}

const lookSoon = 3 * time.Second
