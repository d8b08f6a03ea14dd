package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// JudgeFleet judges the sandboxes whose working directory is gone, which their health checks show: the platform cannot
// begin any command in them, and the workspaces of those whose container started again. It looks at those that changed and at
// its findings.
func (r *filesVanished) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	var keys []backend.Key
	for key, state := range known.Findings {
		n := alerts.NoteAs[lossNote](known.Note(key))
		if state != alerts.StateEnded && (key.Kind == backend.KindSandbox || n != nil && !(n.Fresh.IsZero() && n.Stopped.IsZero())) {
			keys = append(keys, key)
		}
	}
	look := func(b *backend.Sandbox) {
		for _, key := range underFresh(env, b) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
		if b.IsSandbox && b.WorkDirGone() && !slices.Contains(keys, b.Key) {
			keys = append(keys, b.Key)
		}
	}
	if changed, all := env.Changed(backend.KindSandbox); all {
		for b := range env.State.Sandboxes.All() {
			look(b)
		}
	} else {
		for _, e := range changed {
			if b, is := e.(*backend.Sandbox); is {
				look(b)
			}
		}
	}
	stable.Sort(keys, backend.Key.Compare)
	out := make([]alerts.Found, 0, len(keys))
	for _, key := range keys {
		if key.Kind == backend.KindWorkspace {
			if f, is := r.judgeRestarted(env, key, known); is {
				out = append(out, f)
			}
		} else if b := env.State.Sandbox(key); b != nil {
			out = append(out, alerts.Found{Key: key, Verdict: r.rootGone(env, b)})
		}
	}
	return out
}

// rootGone judges one sandbox. Between the last check that passed and the first that failed its directory went.
func (r *filesVanished) rootGone(env *alerts.Env, b *backend.Sandbox) alerts.Verdict {
	o, why, gap := env.Gap(b.Key.Source)
	switch {
	case gap:
		return alerts.Verdict{Outcome: o, Why: why}
	case b.Stale:
		return alerts.Verdict{Outcome: alerts.SourceError, Why: b.StaleWhy}
	case !b.WorkDirGone() || b.Class != backend.SandboxRunning && b.Class != backend.SandboxPaused:
		return alerts.Verdict{Outcome: alerts.False}
	}
	checks, _ := b.HealthChecks.Get()
	bounds := failingBounds(env, b)
	cause := backend.Text("the working directory of the sandbox is gone: no command begins in it")
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: cause, Fingerprint: alerts.Fingerprint(cause.String()), Runbook: "2", Source: b.Key.Source, Session: b.Session, Provider: b.Provider,
		Bounds: bounds, Confirmed: env.Time(&b.Meta, backend.Known(checks.Checked)), Detail: backend.Clean(b.HealthOutput.String(), 200),
		Evidence: []alerts.Evidence{failingEvidence(env, b)},
	}
	if !b.WorkDir.IsEmpty() {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf("its working directory is %s; what was in it is gone", b.WorkDir), Source: b.Key.Source, At: env.Display(v.Confirmed)})
	}
	return v
}

// failingBounds are the moments between which the health check of a sandbox began to fail.
func failingBounds(env *alerts.Env, b *backend.Sandbox) alerts.Bounds {
	early, late, _ := b.Failing()
	steady := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return env.Time(&b.Meta, backend.Known(t))
	}
	return alerts.Bounds{Earliest: steady(early), Latest: steady(late)}
}

// failingEvidence states since when the health check of a sandbox fails, and what it printed.
func failingEvidence(env *alerts.Env, b *backend.Sandbox) alerts.Evidence {
	checks, _ := b.HealthChecks.Get()
	bounds, name := failingBounds(env, b), b.Name
	if name.IsEmpty() {
		name = b.Key.Safe()
	}
	since := backend.Textf("since %s or earlier", env.Clock(bounds.Latest))
	if !checks.Passed.IsZero() {
		since = backend.Textf("since between %s and %s", env.Clock(bounds.Earliest), env.Clock(bounds.Latest))
	}
	said := backend.Text("it printed nothing")
	if !b.HealthOutput.IsEmpty() {
		said = backend.Clean(b.HealthOutput.String(), 200)
	}
	return alerts.Evidence{
		Text:  backend.Textf("the health check of sandbox %s fails %s, %s in a row: %s", name, since, plural(checks.Failed, "time"), said),
		Value: backend.Known(float64(checks.Failed)), Unit: "checks", Source: b.Key.Source, At: env.Display(env.Time(&b.Meta, backend.Known(checks.Checked))),
	}
}

// sickSandbox is the sandbox behind a workspace if its health check fails, nil otherwise.
func sickSandbox(env *alerts.Env, w *backend.Workspace) *backend.Sandbox {
	for _, b := range env.State.SandboxesOf(w.Key.Parent) {
		if _, _, failing := b.Failing(); failing && b.Class == backend.SandboxRunning && (b.Workspace.IsZero() || b.Workspace == w.Key.ID) {
			return b
		}
	}
	return nil
}
