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
	if b.StartError.IsEmpty() || b.Class != backend.SandboxCreated && !b.Class.Ended() {
		return alerts.Verdict{Outcome: alerts.False}
	}
	since := latestOf(env.Time(&b.Meta, b.CreatedAt), endedAt(env, b))
	v := failing(b, backend.Safe{}, alerts.Bounds{Earliest: since, Latest: since}, backend.Textf("cannot start: %s", backend.Clean(b.StartReason().String(), 300)))
	cause, fp := env.Cause(b.StartReason())
	v.Cause, v.Fingerprint, v.Values = backend.Textf("cannot start: %s", cause), fp, env.Values(b.StartReason(), fp)
	return until(env, v, since)
}
