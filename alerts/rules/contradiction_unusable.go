package rules

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// unusable is the verdict about a sandbox on which a session runs, and in which nothing can be used: its platform set it aside, or it
// answered nothing to a probe, so that its agent's check fails too; false: it is none. When to look again is in either verdict.
func (r *contradiction) unusable(env *alerts.Env, b *backend.Sandbox, n *contradictionNote) (alerts.Verdict, bool) {
	x, is := env.State.BeliefOn(b)
	if !is || !onPlatform(b) || x.Told != nil || !x.Differs.IsEmpty() {
		return alerts.Verdict{}, false
	}
	v := r.verdict(b, n)
	runs, known := x.Runs.Get()
	what, hangs := unheard(b)
	switch {
	case b.Class == backend.SandboxPaused && strings.HasSuffix(b.Reported.String(), "disabled"):
		v.Cause = backend.Textf("its session runs, but it is %s and refuses connections", b.Reported)
	case b.Class == backend.SandboxPaused:
		v.Cause = backend.Textf("its session runs, but it is reported %s: nothing runs in it until its platform brings it back", b.Reported)
		v.Severity = alerts.SeverityWarning
	case mayAnswer(b) && known && !runs && hangs:
		v.Cause = backend.Textf("reported %s, but nothing in it answered a probe: %s", reported(b), what)
		v.Severity = alerts.SeverityWarning // our way to it may be at fault
	default:
		return alerts.Verdict{}, false
	}
	s, none := liveOn(env, b)
	if none.Note = v.Note; s == nil {
		return none, none.Outcome != alerts.False
	}
	v.Detail, v.Session, v.Tenant, v.Confirmed, v.Recheck = v.Cause, s.Key.ID, s.Tenant, env.Ours(x.At), recheckOf(env, b.Key)
	v.Bounds = alerts.Bounds{Earliest: env.Time(&b.Meta, b.CreatedAt), Latest: env.Ours(b.KnownSince)}
	if hangs && mayAnswer(b) {
		v.Bounds.Latest = env.Ours(x.At)
	}
	return v, true
}

// mayAnswer reports whether a sandbox is expected to answer: one that sleeps wakes for a request.
func mayAnswer(b *backend.Sandbox) bool {
	return b.Class == backend.SandboxRunning || b.Class == backend.SandboxAsleep
}

// unheard is what the newest probe says of a sandbox that did not list its root, for no reason that is known.
func unheard(b *backend.Sandbox) (backend.Safe, bool) {
	o, _ := b.Proved()
	v, tried := o.Of(backend.PlaneList)
	return v.What, tried && v.Outcome == backend.OutcomeUnknown && v.Kind == "" && !v.Past
}
