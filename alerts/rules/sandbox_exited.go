package rules

import (
	"fmt"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// ExitedOptions are the keys of `[rules.sandbox-exited]`.
type ExitedOptions struct {
	Common
	Settle backend.Duration `toml:"settle" doc:"how long after the container's end its session must still run"`
}

func exitedDefaults() *ExitedOptions {
	return &ExitedOptions{Common: common(alerts.SeverityWarning), Settle: backend.Duration(15 * time.Second)}
}

func (o *ExitedOptions) build() (alerts.Rule, error) {
	return &sandboxExited{troubleBase(&o.Common, "sandbox-exited"), o.Settle.Std()}, nil
}

type sandboxExited struct {
	sandboxTrouble
	settle time.Duration
}

func (r *sandboxExited) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if !b.FailedEnd() || b.Class == backend.SandboxRestarting || !b.StartError.IsEmpty() {
		return alerts.Verdict{Outcome: alerts.False}
	}
	if !b.IsSandbox || len(env.HomesOf(b.Key.Source)) == 0 || calledFailed(b) && b.Session.IsZero() {
		if !b.Crashed() && !calledFailed(b) {
			return alerts.Verdict{Outcome: alerts.False} // it was killed, and nobody says that it was needed
		}
		return r.alone(env, b)
	}
	if b.Session.IsZero() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	again := recheckOf(env, b.Key)
	out := alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("no list names its session"), Recheck: again}
	for _, h := range env.HomesOf(b.Key.Source) {
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: b.Session})
		if s == nil {
			continue
		}
		if o, why, gap := env.Gap(h.Key.Source); gap {
			out.Outcome, out.Why = o, why
			continue
		}
		if s.Stale {
			out.Outcome, out.Why = alerts.SourceError, backend.Textf("its session could not be read: %s", s.StaleWhy)
			continue
		}
		v := r.of(env, b, s, h)
		if v.Recheck.IsZero() || again.Before(v.Recheck) {
			v.Recheck = again
		}
		return v
	}
	return out
}

// calledFailed reports whether the platform of a Worker's container calls its end a failure, whatever its exit code is.
func calledFailed(b *backend.Sandbox) bool {
	return onWorkers(b) && b.Class == backend.SandboxDead && b.StartError.IsEmpty()
}

// alone judges a container of which no list of sessions can tell whether it was still needed: its exit is a note for a day.
func (r *sandboxExited) alone(env *alerts.Env, b *backend.Sandbox) alerts.Verdict {
	at, code := endedAt(env, b), b.ExitCode.Or(0)
	v := failing(b, backend.Textf("ended with exit code %s", backend.ExitText(code)), alerts.Bounds{Earliest: at, Latest: at}, backend.Textf("exit code %s at %s", backend.ExitText(code), env.Clock(at)))
	if !b.ExitCode.IsKnown() {
		v = failing(b, backend.Text("its platform reports that it failed"), alerts.Bounds{Earliest: at, Latest: at}, backend.Textf("failed at %s, with an exit code that is not told", env.Clock(at)))
	}
	v.Severity, v.Fingerprint = alerts.SeverityInfo, fmt.Sprintf("%s-%d", v.Fingerprint, code) // other codes are other causes
	return until(env, v, at)
}

// of judges a container that ended by itself, by its session.
func (r *sandboxExited) of(env *alerts.Env, b *backend.Sandbox, s *backend.Session, home *fleet.SourceHealth) alerts.Verdict {
	if !s.Running.Or(false) && !s.ListedRunning.Or(false) || r.replaced(env, b) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	at, code := endedAt(env, b), b.ExitCode.Or(0)
	v := failing(b, backend.Textf("ended with exit code %s while its session runs", backend.ExitText(code)), alerts.Bounds{Earliest: at, Latest: at}, backend.Textf("exit code %s at %s", backend.ExitText(code), env.Clock(at)))
	v.Fingerprint, v.Tenant = fmt.Sprintf("%s-%d", v.Fingerprint, code), s.Tenant // other codes are other causes
	if env.Now.Sub(at) > youngTrouble {
		v.Severity = alerts.SeverityInfo
	}
	if due := at.Add(max(r.settle, 2*home.Interval)); env.Now.Before(due) || env.ReadAt(&s.Meta).Before(at) {
		v.Suspected, v.Why = true, backend.Textf("fires when its session still runs at %s", env.Clock(due))
		v.Recheck = latestOf(due, env.Now.Add(time.Second))
	}
	return v
}

// replaced reports whether the session got another container since.
func (r *sandboxExited) replaced(env *alerts.Env, b *backend.Sandbox) bool {
	ended := endedAt(env, b)
	for _, x := range env.State.SandboxesOf(b.Session) {
		if x.IsSandbox && x.Key != b.Key && (x.Workspace.IsZero() || b.Workspace.IsZero() || x.Workspace == b.Workspace) && !x.Class.Ended() && !env.Time(&x.Meta, x.StartedAt).Before(ended) {
			return true
		}
	}
	return false
}
