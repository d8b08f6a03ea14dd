package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TransientOptions are the keys of `[rules.misclassified-transient]`.
type TransientOptions struct {
	Common
	Attempts int              `toml:"attempts" doc:"failed attempts with one permanent cause"`
	Apart    backend.Duration `toml:"apart" doc:"least time from the first to the last; one retry cycle takes about 10s"`
}

func transientDefaults() *TransientOptions {
	return &TransientOptions{Common: common(alerts.SeverityWarning), Attempts: 5, Apart: backend.Duration(time.Minute)}
}

func (o *TransientOptions) build() (alerts.Rule, error) {
	r := &misclassified{base: o.base("misclassified-transient", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), attempts: o.Attempts, apart: o.Apart.Std()}
	r.meta.Inhibits = sameCause("hammered-and-failing", "evicted-sustained")
	return r, cmp.Or(
		refuse(o.Attempts < 2, "attempts", "must be at least 2: a single attempt is no retry"),
		positive("apart", o.Apart),
	)
}

type misclassified struct {
	base
	remembers[failureRun]
	attempts int
	apart    time.Duration
}

func (r *misclassified) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[failureRun](known)
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: known}
	}
	f := factsOf(env, w)
	if note != nil && f.advanced(note) {
		note = nil
	}
	if w.Class == backend.ClassFailed || !f.failing() || !w.LastError.IsEmpty() && env.NamesOf(w)&alerts.NamesPermanent == 0 || w.LastError.IsEmpty() && note == nil {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n, cause, fp := causeOf(env, w, note, withLogFailures(env, w, f, note, noted(f, note)), "")
	if int(n.Attempts) < r.attempts || n.LastAttempt.Sub(n.FirstAttempt) < r.apart {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Recheck: soon(env, time.Time{})}
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: cause, Fingerprint: fp, Runbook: "7", Note: alerts.NoteOf(n), Detail: detail(w),
		Bounds: alerts.Bounds{Earliest: n.earliest(), Latest: n.proved()},
	}
	describe(env, w, &v)
	return v
}

func (r *misclassified) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	out := workspaceEvidence(env, a, w)
	if w == nil {
		return out
	}
	out = append(out, alerts.Evidence{
		Text:   backend.Textf("at least %d attempts of %s were seen to fail over %s or more; the error is permanent, its state is %s", r.attempts, w.Key.Safe(), text(r.apart), orNone(w.Reported)),
		Source: w.Key.Source, At: env.Display(env.ReadAt(&w.Meta)),
	})
	if n, ok := w.RetryAttempts.Get(); ok {
		out = append(out, alerts.Evidence{
			Text: backend.Textf("transientRetryAttempts is %d: that many retries with each use", n), Value: backend.Known(float64(n)), Unit: "retries",
			Source: w.Key.Source, At: env.Display(env.ReadAt(&w.Meta)),
		})
	}
	return out
}
