package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// answersAfterEnd is the verdict about a sandbox that is reported to be over, and of which a probe listed / since; false: it is none.
func (r *contradiction) answersAfterEnd(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (alerts.Verdict, bool) {
	x, read := b.Inside()
	if !read || !onPlatform(b) || !x.AgentSees.Or(false) || b.Class != backend.SandboxExited && b.Class != backend.SandboxRemoving || x.At.Before(b.KnownSince) {
		return alerts.Verdict{}, false
	}
	v := r.verdict(b, n)
	v.Severity = alerts.SeverityWarning
	v.Cause = backend.Textf("reported %s, but / of it was listed since", reported(b))
	v.Detail, v.Confirmed = v.Cause, env.Ours(x.At)
	v.Bounds = alerts.Bounds{Earliest: env.Ours(b.KnownSince), Latest: env.Ours(x.At)}
	return v, true
}
