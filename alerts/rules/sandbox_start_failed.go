package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// StartFailedOptions are the keys of `[rules.sandbox-start-failed]`.
type StartFailedOptions struct {
	Common
}

func startFailedDefaults() *StartFailedOptions {
	return &StartFailedOptions{Common: common(alerts.SeverityWarning)}
}

func (o *StartFailedOptions) build() (alerts.Rule, error) {
	return &startFailed{troubleBase(&o.Common, "sandbox-start-failed")}, nil
}

type startFailed struct{ sandboxTrouble }

// Judge goes by the engine's error, which a later start that works removes.
func (r *startFailed) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if failedUntold(env, b) {
		return unexplained(env, b)
	}
	if b.StartError.IsEmpty() || b.Class != backend.SandboxCreated && !b.Class.Ended() {
		return alerts.Verdict{Outcome: alerts.False}
	}
	since := latestOf(env.Time(&b.Meta, b.CreatedAt), endedAt(env, b))
	v := failing(b, backend.Safe{}, alerts.Bounds{Earliest: since, Latest: since}, backend.Textf("cannot start: %s", backend.Clean(b.StartReason().String(), 300)))
	cause, fp := env.Cause(b.StartReason())
	v.Cause, v.Fingerprint, v.Values = backend.Textf("cannot start: %s", cause), fp, env.Values(b.StartReason(), fp)
	return until(env, v, since)
}

// failedUntold reports whether a platform calls a sandbox failed and tells no cause.
func failedUntold(env *alerts.Env, b *backend.Sandbox) bool {
	h := env.State.Source(b.Key.Source)
	return b.Class == backend.SandboxDead && b.StartError.IsEmpty() && !b.FailedEnd() && h != nil && h.Delivers(backend.InputPlatform)
}

// unexplained is the verdict about such a sandbox: it counts while a session runs on it, however old it is.
func unexplained(env *alerts.Env, b *backend.Sandbox) alerts.Verdict {
	s, none := liveOn(env, b)
	if s == nil {
		return none
	}
	why := backend.Text("the platform tells no cause")
	if b.LifecycleAt.IsZero() { // its own record, which may tell it, was not read
		why = backend.Text("its cause was not read yet")
	}
	bounds := alerts.Bounds{Earliest: env.Time(&b.Meta, b.CreatedAt), Latest: latestOf(env.Ours(b.KnownSince), env.Time(&b.Meta, b.CreatedAt))}
	v := failing(b, backend.Textf("%s under a running session; %s", b.Reported, why), bounds, backend.Textf("%s, and session %s runs; %s", b.Reported, s.Key.ID.Safe(), why))
	v.Fingerprint = alerts.Fingerprint("failed under a running session")
	v.Session, v.Tenant, v.Confirmed, v.Recheck = s.Key.ID, s.Tenant, env.ReadAt(&b.Meta), recheckOf(env, b.Key)
	return v
}
