package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TransientOptions are the keys of `[rules.misclassified-transient]`.
type TransientOptions struct {
	Common
	Attempts int              `toml:"attempts" doc:"failed attempts that must be seen for one permanent cause"`
	Apart    backend.Duration `toml:"apart" doc:"how far the first and the last of them must lie apart; one retry cycle takes about 10s"`
}

func transientDefaults() *TransientOptions {
	return &TransientOptions{Common: common(alerts.SeverityWarning), Attempts: 5, Apart: backend.Duration(time.Minute)}
}

func (o *TransientOptions) build() (alerts.Rule, error) {
	if o.Attempts < 2 {
		return nil, &KeyError{"attempts", "must be at least 2: a single attempt is no retry"}
	}
	if err := positive("apart", o.Apart); err != nil {
		return nil, err
	}
	r := &misclassified{meta: o.meta("misclassified-transient"), attempts: o.Attempts, apart: o.Apart.Std()}
	r.meta.Watches = backend.InputRegistry
	r.meta.Needs = [][]backend.Input{{backend.InputRegistry}}
	r.meta.Inhibits = sameCause("hammered-and-failing", "evicted-sustained")
	r.meta.Explain = alerts.Explain{
		Means: "A workspace is tried again and again for a cause that no retry cures: its error names a schema version, a refused reference, a missing capability or binding, an " +
			"unsupported host or runtime, and yet it is not failed, so the provider treats the error as transient. At least `attempts` attempts, the first and last `apart`, " +
			"and none succeeded. Such retries keep opens busy and feed eviction storms. It takes the place of hammered-and-failing's line about the same workspaces and cause.",
		Inputs: "state, lastError, lastAttemptAt and lastSuccessAt of the workspace registries. Attempts are counted by the changes of lastAttemptAt that polls see, and by the log lines that name the workspace's failures since its last success.",
		Missing: "Held while the source is down or the reading fails. After a start of the console the attempts have to be waited for where no log tells of them: what was tried before is one attempt. " +
			"Servers without lastAttemptAt give no attempts, and nothing is concluded there.",
		Runbook: "7 for the retries; 1 or 6 for the cause itself",
		First: []string{
			"Make the provider throw this error as permanent: WorkspaceFailedError without transient: true, instead of an eviction.",
			"Meanwhile lower transientRetryAttempts, so that it fails fast.",
			"Fix the cause; it is a configuration or version error.",
		},
		Limits: "Attempts between two polls are seen as one. Only causes whose words are known as permanent are judged; a workspace that is failed is judged by capability-mismatch and ref-mismatch.",
	}
	return r, nil
}

type misclassified struct {
	meta     alerts.Meta
	attempts int
	apart    time.Duration
}

func (r *misclassified) Meta() *alerts.Meta { return &r.meta }

func (r *misclassified) Kind() backend.Kind { return backend.KindWorkspace }

func (r *misclassified) Judge(env *alerts.Env, e backend.Entity, note *alerts.Note) alerts.Verdict {
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: note}
	}
	f := factsOf(env, w)
	if note != nil && f.advanced(note) {
		note = nil
	}
	if w.Class == backend.ClassFailed || !f.failing() || !w.LastError.IsEmpty() && named(env, w.LastError)&alerts.NamesPermanent == 0 || w.LastError.IsEmpty() && note == nil {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n, cause, fp := causeOf(env, w, note, told(env, w, f, note, f.noted(note)), "")
	if int(n.Count) < r.attempts || n.Last.Sub(n.First) < r.apart {
		return alerts.Verdict{Outcome: alerts.False, Note: n, Recheck: soon(env, time.Time{})}
	}
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: cause, Fingerprint: fp, Runbook: "7", Note: n, Detail: detail(w),
		Bounds: alerts.Bounds{Earliest: earliest(n), Latest: proved(n)},
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
