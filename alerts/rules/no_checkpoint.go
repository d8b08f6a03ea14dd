package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// NoCheckpointOptions are the keys of `[rules.no-checkpoint]`.
type NoCheckpointOptions struct {
	Common
	Stored backend.Duration `toml:"stored" doc:"time after a suspend in which the checkpoint may not be stored yet: a refused resume has to wait"`
}

func noCheckpointDefaults() *NoCheckpointOptions {
	return &NoCheckpointOptions{Common: common(alerts.SeverityCritical), Stored: backend.Duration(5 * time.Minute)}
}

func (o *NoCheckpointOptions) build() (alerts.Rule, error) {
	r := &noCheckpoint{base: o.base("no-checkpoint", backend.KindSandbox, backend.InputPlatform, backend.InputPlatform), stored: o.Stored.Std()}
	return r, positive("stored", o.Stored)
}

type noCheckpoint struct {
	base
	remembers[refusalNote]
	stored time.Duration
}

// refusalNote is what is remembered of a sandbox whose resume was refused.
type refusalNote struct {
	At     time.Time    `json:"at,omitzero"` // of the refusal, ours
	Lost   bool         `json:"lost,omitempty"`
	Text   backend.Safe `json:"text,omitzero"`
	Source string       `json:"source,omitempty"` // that told it
	// Over is the error that the hub kept when the sandbox was last live: a hub keeps its last error.
	Over backend.Safe `json:"over,omitzero"`
	Live time.Time    `json:"live,omitzero"` // when it was last seen live after a refusal, ours
}

func (r *noCheckpoint) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	n := refusalNote{}
	if old := alerts.NoteAs[refusalNote](known); old != nil {
		n = *old
	}
	kept := backend.Safe{}
	s := needOf(env, b).session
	if s != nil && s.Hub != nil {
		kept = s.Hub.Error
	}
	if b.Class != backend.SandboxAsleep {
		if b.Class != backend.SandboxRunning || kept.IsEmpty() && n == (refusalNote{}) {
			return alerts.Verdict{Outcome: alerts.False}
		}
		live := n.Live
		if !n.At.IsZero() || live.IsZero() {
			live = env.Display(env.Now)
		}
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&refusalNote{Over: kept, Live: live})}
	}
	woke := latestOf(b.StartedAt.Or(time.Time{}), n.Live)
	take := func(at time.Time, lost bool, text backend.Safe, source string) {
		if at.Before(woke) || n.Lost && !lost || at.Before(n.At) && n.Lost == lost {
			return
		}
		if n.Lost && lost {
			at = n.At // known since
		}
		n.At, n.Lost, n.Text, n.Source = at, lost, text, source
	}
	for _, x := range reportsOf(env, b) {
		if x.Kind == backend.ReportNoCheckpoint || x.Kind == backend.ReportResumeRefused {
			take(x.At, x.Kind == backend.ReportNoCheckpoint, x.Text, x.Source)
		}
	}
	if x, is := backend.HubText(kept.String()); is && x.Kind == backend.ReportNoCheckpoint && kept != n.Over {
		take(env.Display(env.ReadAt(&s.Meta)), true, kept, s.Key.Source)
	}
	for _, v := range refusals(b) {
		take(v.At, v.Kind == backend.FailNoCheckpoint, v.What, b.Key.Source)
	}
	suspended, _ := b.Latest(backend.LifecycleSuspended)
	late := !suspended.At.IsZero() && n.At.Sub(suspended.At) >= r.stored
	if !n.At.IsZero() && !n.Lost && b.LifecycleAt.IsZero() {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its events are not read yet"), Note: alerts.NoteOf(&n)}
	}
	if n.At.IsZero() || !n.Lost && !late {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(&n)}
	}
	v := alerts.Verdict{Outcome: alerts.True, Runbook: "contradiction", Source: b.Key.Source, Session: b.Session, Provider: b.Provider,
		Fingerprint: alerts.Fingerprint("no checkpoint"), Note: alerts.NoteOf(&n), Confirmed: env.Ours(n.At),
		Cause:  backend.Textf("reported %s, and it has no checkpoint to resume from: unrecoverable", reported(b)),
		Bounds: alerts.Bounds{Earliest: env.Ours(suspended.At), Latest: env.Ours(n.At)}}
	if suspended.At.IsZero() || suspended.At.After(n.At) {
		v.Bounds.Earliest = time.Time{}
	}
	v.Detail = v.Cause
	if !n.Lost {
		v.Suspected, v.Severity = true, alerts.SeverityWarning
		v.Cause = backend.Text("its resume is refused long after its suspend: its checkpoint may be missing")
		v.Detail, v.Why = v.Cause, backend.Text("fires when the platform says that it has no checkpoint data")
		v.Fingerprint = alerts.Fingerprint("resume refused")
	}
	return v
}

// refusals are the verdicts of resumes that were refused: for good, for want of a checkpoint, or for now.
func refusals(b *backend.Sandbox) []backend.Verdict {
	o, _ := b.Observed.Get()
	return slices.DeleteFunc(slices.Clone(o.Verdicts), func(v backend.Verdict) bool {
		return (v.Kind != backend.FailNoCheckpoint || v.Outcome != backend.OutcomeFailed) && v.Kind != backend.FailResumeRefused
	})
}

// Evidence tells who said it, and that a checkpoint which was received is none that can be used.
func (r *noCheckpoint) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	b, ok := oldest.(*backend.Sandbox)
	if !ok {
		return nil
	}
	src, read := b.Key.Source, env.Display(env.ReadAt(&b.Meta))
	out := []alerts.Evidence{{Text: backend.Textf("reported: %s lists %s (%s) as %s", backend.Clean(src, 80), called(b), b.Key.Safe(), reported(b)), Source: src, At: read}}
	for _, x := range reportsOf(env, b) {
		if x.Kind == backend.ReportNoCheckpoint || x.Kind == backend.ReportResumeRefused {
			out = append(out[:1], alerts.Evidence{Text: backend.Textf("log: %s", backend.Clean(x.Text.String(), 300)), Source: x.Source, At: x.At})
		}
	}
	if s := needOf(env, b).session; s != nil {
		out = append(out, reportedBy(env, nil, s)...)
		out = append(out, hubErrorEvidence(env, s)...)
	}
	for _, v := range refusals(b)[:min(len(refusals(b)), 1)] { // it stands for several planes
		who := backend.Text("seen by a resume")
		if v.Passive { // none of ours
			who = backend.Text("told by its hub")
		}
		out = append(out, alerts.Evidence{Text: backend.Textf("%s: %s", who, v.Said()), Source: src, At: v.At})
		for _, line := range v.Evidence {
			out = append(out, alerts.Evidence{Text: backend.Textf("the answer: %s", line), Source: src, At: v.At})
		}
	}
	if e, is := b.Latest(backend.LifecycleSuspended); is {
		out = append(out, alerts.Evidence{Text: backend.Textf("event: suspended at %s, checkpoint %s", env.Clock(env.Ours(e.At)), orNone(e.Checkpoint)), Source: src, At: b.LifecycleAt})
	}
	if e, is := b.Latest(backend.LifecycleCheckpointed); is {
		out = append(out, alerts.Evidence{Text: backend.Textf("event: a checkpoint was received at %s (%s); that does not say that it can be used", env.Clock(env.Ours(e.At)), orNone(e.Checkpoint)), Source: src, At: b.LifecycleAt})
	}
	return out
}

// hubErrorEvidence is the error that a hub keeps of a session, with its durations in seconds.
func hubErrorEvidence(env *alerts.Env, s *backend.Session) []alerts.Evidence {
	if s.Hub == nil || s.Hub.Error.IsEmpty() {
		return nil
	}
	return []alerts.Evidence{{Text: backend.Textf("reported: the hub keeps the error of session %s: %s", s.Key.Safe(), backend.HubSeconds(s.Hub.Error)), Source: s.Key.Source, At: env.Display(env.ReadAt(&s.Meta))}}
}
