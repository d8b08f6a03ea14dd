package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// UnhealthyOptions are the keys of `[rules.sandbox-unhealthy]`.
type UnhealthyOptions struct {
	Common
	Least backend.Duration `toml:"least" doc:"how long its health check must fail; its start period where longer"`
}

func unhealthyDefaults() *UnhealthyOptions {
	return &UnhealthyOptions{Common: common(alerts.SeverityWarning), Least: backend.Duration(30 * time.Second)}
}

func (o *UnhealthyOptions) build() (alerts.Rule, error) {
	return &unhealthy{sandboxTrouble: troubleBase(&o.Common, "sandbox-unhealthy"), least: o.Least.Std()}, nil
}

// unhealthyNote is what the check printed when it began to fail, by which alerts are told apart: what a later one prints
// begins no other alert.
type unhealthyNote struct {
	Prints backend.Safe `json:"prints,omitzero"`
	// By is the earliest moment by which it was known to fail, and Failed how many checks had then failed in a row.
	By     time.Time `json:"by,omitzero"`
	Failed int       `json:"failed,omitempty"`
}

type unhealthy struct {
	sandboxTrouble
	remembers[unhealthyNote]
	least time.Duration
}

func (r *unhealthy) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if ok && onWorkers(b) && b.HealthChecks.IsNotApplicable() {
		return r.byPlatform(env, b)
	}
	if !ok || !b.Judged() || b.Health.IsNotApplicable() {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	_, _, fails := b.Failing()
	if b.Class != backend.SandboxRunning || b.Health.Or(backend.Safe{}).String() != "unhealthy" || !fails {
		return alerts.Verdict{Outcome: alerts.False}
	}
	bounds := failingBounds(env, b)
	note := r.noted(env, b, alerts.NoteAs[unhealthyNote](known), bounds)
	bounds.Latest = note.By
	v := failing(b, backend.Text("its health check fails"), bounds, backend.Textf("unhealthy since %s or earlier", env.Clock(bounds.Latest)))
	if !note.Prints.IsEmpty() {
		cause, fp := env.Cause(note.Prints)
		v.Cause, v.Fingerprint = backend.Textf("its health check fails: %s", cause), fp
	}
	v.Note = alerts.NoteOf(note)
	if due := bounds.Latest.Add(max(r.least, b.StartPeriod.Or(0))); env.Now.Before(due) {
		v.Suspected, v.Why, v.Recheck = true, backend.Textf("fires when it still fails at %s", env.Clock(due)), due
	}
	return v
}

// byPlatform judges a container of which its platform tells a word, and no checks.
func (r *unhealthy) byPlatform(env *alerts.Env, b *backend.Sandbox) alerts.Verdict {
	if b.Class != backend.SandboxRunning || b.Health.Or(backend.Safe{}).String() != "unhealthy" {
		return alerts.Verdict{Outcome: alerts.False}
	}
	since := env.Ours(b.KnownSince)
	v := failing(b, backend.Text("its platform reports it unhealthy"), alerts.Bounds{Latest: since}, backend.Textf("reported unhealthy since %s or earlier", env.Clock(since)))
	if due := since.Add(r.least); env.Now.Before(due) {
		v.Suspected, v.Why, v.Recheck = true, backend.Textf("fires when it is still reported so at %s", env.Clock(due)), due
	}
	return v
}

// noted takes a reading into the note of the episode that goes on. A check that passed since, another run or fewer failures in a row
// are another episode.
func (r *unhealthy) noted(env *alerts.Env, b *backend.Sandbox, known *unhealthyNote, bounds alerts.Bounds) *unhealthyNote {
	checks, _ := b.HealthChecks.Get()
	n := &unhealthyNote{Prints: b.HealthOutput, By: bounds.Latest, Failed: checks.Failed}
	if known == nil || checks.Failed < known.Failed || bounds.Earliest.After(known.By) || env.Time(&b.Meta, b.StartedAt).After(known.By) {
		return n
	}
	if !known.Prints.IsEmpty() {
		n.Prints = known.Prints
	}
	if !known.By.IsZero() && known.By.Before(n.By) {
		n.By = known.By
	}
	return n
}

// Evidence adds since when the check fails, and what it prints.
func (r *unhealthy) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	out := r.sandboxTrouble.Evidence(env, a, oldest)
	if b, ok := oldest.(*backend.Sandbox); ok && !b.HealthChecks.IsNotApplicable() {
		out = append(out, failingEvidence(env, b))
		if p, ok := b.StartPeriod.Get(); ok && p > 0 {
			out = append(out, alerts.Evidence{Text: backend.Textf("its checks may fail for %s after its start", text(p)), Value: backend.Known(p.Seconds()), Unit: "s",
				Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))})
		}
	}
	return out
}
