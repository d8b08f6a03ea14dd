package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// answersAfterEnd is the verdict about a sandbox that is reported to be over, and of which a probe listed / since; false: it is none.
func (r *contradiction) answersAfterEnd(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (alerts.Verdict, bool) {
	at, is := fleet.ListedAfterEnd(b)
	if !is || !onPlatform(b) {
		return alerts.Verdict{}, false
	}
	v := r.verdict(b, n)
	if s, _ := liveOn(env, b); s == nil { // under a running session it stands for the saved state whose sandbox seems to be gone
		v.Severity = alerts.SeverityWarning
	}
	v.Cause = backend.Textf("reported %s, but / of it was listed since", reported(b))
	v.Detail, v.Confirmed = v.Cause, env.Ours(at)
	v.Bounds = alerts.Bounds{Earliest: env.Ours(b.KnownSince), Latest: env.Ours(at)}
	return v, true
}
