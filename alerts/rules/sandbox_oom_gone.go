package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// removedWith is how soon after a kill a sandbox is removed that ends with it, as one started with --rm does.
const removedWith = time.Minute

// JudgeGone keeps the alert about a sandbox that was killed and removed at once: its removal mends nothing.
func (r *sandboxOOM) JudgeGone(env *alerts.Env, gone *fleet.Departure, known alerts.Note) alerts.Verdict {
	b, ok := gone.Last.(*backend.Sandbox)
	if !ok || !b.Judged() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if r.sessionOver(env, b) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := r.noted(env, b, alerts.NoteAs[sandboxOOMNote](known))
	seen := latestOf(n.LastKill, env.Ours(b.FirstSeen)) // a kill before that was not seen by anybody
	if n.LastKill.IsZero() || env.Ours(gone.At).Sub(seen) > removedWith || env.Now.Sub(n.LastKill) > r.recent {
		return alerts.Verdict{Outcome: alerts.False}
	}
	return alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(&n), Runbook: "container", Session: b.Session, Provider: b.Provider,
		Cause: killedCause, Fingerprint: alerts.Fingerprint(killedCause.String()), Detail: r.killed(env, b, &n),
		Bounds: alerts.Bounds{Earliest: n.BeforeFirst, Latest: n.FirstKill}, Confirmed: n.LastKill, Recheck: n.LastKill.Add(r.recent + 1)}
}
