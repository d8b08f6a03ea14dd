package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TransitOptions are the keys of `[rules.stuck-in-transit]`.
type TransitOptions struct {
	Common
	After backend.Duration `toml:"after" doc:"how long creating or stopping may take until it is pending"`
	Stuck backend.Duration `toml:"stuck" doc:"… until the alert fires"`
}

func transitDefaults() *TransitOptions {
	return &TransitOptions{Common: common(alerts.SeverityWarning), After: backend.Duration(5 * time.Minute), Stuck: backend.Duration(15 * time.Minute)}
}

func (o *TransitOptions) build() (alerts.Rule, error) {
	if err := positive("after", o.After); err != nil {
		return nil, err
	}
	return &stuckInTransit{dueBase(&o.Common, "stuck-in-transit"), o.After.Std(), o.Stuck.Std()}, refuse(o.Stuck < o.After, "stuck", "must not be shorter than after")
}

// cloudDue is a rule about one time of a cloud sandbox.
type cloudDue struct {
	base
	remembers[waitNote]
}

func dueBase(c *Common, name string) cloudDue {
	return cloudDue{base: c.base(name, backend.KindSandbox, backend.InputPlatform, backend.InputPlatform)}
}

type stuckInTransit struct {
	cloudDue
	after, stuck time.Duration
}

// Judge measures how long a sandbox has a status that should pass.
func (r *stuckInTransit) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) || b.KnownSince.IsZero() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if b.Class != backend.SandboxCreated && b.Class != backend.SandboxRemoving {
		return alerts.Verdict{Outcome: alerts.False}
	}
	since := env.Ours(b.KnownSince)
	if due := since.Add(r.after); env.Now.Before(due) {
		return waitsUntil(due)
	}
	v := r.due(env, b, "stuck in transit "+b.Reported.String(), backend.Textf("it is %s and does not go on", b.Reported), since)
	if due := since.Add(r.stuck); env.Now.Before(due) {
		v.Suspected, v.Why, v.Recheck = true, backend.Textf("fires when it is still so at %s", env.Clock(due)), due
	}
	return v
}

// notReadYet is the verdict about what a source reads later than the subject itself.
func notReadYet(what backend.Literal) alerts.Verdict {
	return alerts.Verdict{Outcome: alerts.NoData, Unread: true, Why: backend.Text(what)}
}

// due is the verdict about a sandbox since a steady time.
func (r *cloudDue) due(env *alerts.Env, b *backend.Sandbox, cause string, says backend.Safe, since time.Time) alerts.Verdict {
	return alerts.Verdict{Outcome: alerts.True, Runbook: "contradiction", Source: b.Key.Source, Session: b.Session, Provider: b.Provider, Fingerprint: alerts.Fingerprint(cause),
		Cause: says, Detail: says, Confirmed: env.ReadAt(&b.Meta), Bounds: alerts.Bounds{Latest: since}}
}

// Evidence is what the platform reports.
func (r *cloudDue) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	b, ok := oldest.(*backend.Sandbox)
	if !ok {
		return nil
	}
	text := backend.Textf("reported: %s lists %s (%s) as %s", backend.Clean(b.Key.Source, 80), called(b), b.Key.Safe(), reported(b))
	if !b.KnownSince.IsZero() {
		text = backend.Textf("%s, since at least %s", text, env.Clock(env.Ours(b.KnownSince)))
	}
	if !b.ReapedAt.IsZero() {
		text = backend.Textf("%s; %s ends at %s", text, b.PausedLimit(), env.Clock(env.Ours(b.ReapedAt)))
	}
	return []alerts.Evidence{{Text: text, Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))}}
}

// ReapedOptions are the keys of `[rules.reaped-soon]`.
type ReapedOptions struct {
	Common
	Before backend.Duration `toml:"before" doc:"time until the platform removes it"`
}

func reapedDefaults() *ReapedOptions {
	return &ReapedOptions{Common: common(alerts.SeverityWarning), Before: backend.Duration(time.Hour)}
}

func (o *ReapedOptions) build() (alerts.Rule, error) {
	return &reapedSoon{dueBase(&o.Common, "reaped-soon"), o.Before.Std()}, positive("before", o.Before)
}

type reapedSoon struct {
	cloudDue
	before time.Duration
}

// Judge looks when the platform removes a sandbox that sleeps on.
func (r *reapedSoon) Judge(env *alerts.Env, e backend.Entity, _ alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if b.ReapedAt.IsZero() && b.Class == backend.SandboxAsleep && b.LifecycleAt.IsZero() {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its events are not read yet")}
	}
	if b.ReapedAt.IsZero() || b.Class != backend.SandboxAsleep {
		return alerts.Verdict{Outcome: alerts.False}
	}
	before := r.before
	if life := b.ReapedAt.Sub(b.LastUsedAt); !b.ReapedBy.IsEmpty() && !b.LastUsedAt.IsZero() && life > 0 { // a short limit on idleness is met in each pause
		before = min(before, life/4)
	}
	from := env.Ours(b.ReapedAt).Add(-before)
	if env.Now.Before(from) {
		return waitsUntil(from)
	}
	end := env.Ours(b.ReapedAt)
	if !env.Now.Before(end) {
		return r.due(env, b, "reaped late", backend.Text("it sleeps, and its platform should have removed it"), end)
	}
	v := r.due(env, b, "reaped soon", backend.Textf("it sleeps, and its platform removes it within %s", text(before)), from)
	v.Recheck = sooner(v.Recheck, end)
	return v
}
