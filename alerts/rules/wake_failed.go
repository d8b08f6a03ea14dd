package rules

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// WakeOptions are the keys of `[rules.wake-failed]`.
type WakeOptions struct {
	Common
	After backend.Duration `toml:"after" doc:"how long a hub may wait for the driver"`
}

func wakeDefaults() *WakeOptions {
	return &WakeOptions{Common: common(alerts.SeverityWarning), After: backend.Duration(2 * time.Minute)}
}

func (o *WakeOptions) build() (alerts.Rule, error) {
	r := &wakeFailed{base: o.base("wake-failed", backend.KindSession, backend.InputPlatform, backend.InputPlatform), after: o.After.Std()}
	return r, positive("after", o.After)
}

// waitNote remembers that a subject is looked at again, and since when it is true.
type waitNote struct {
	Due   time.Time `json:"due,omitzero"`   // steady
	Since time.Time `json:"since,omitzero"` // ours: since when the session is known to be without a driver
}

type wakeFailed struct {
	base
	remembers[waitNote]
	after time.Duration
}

// Judge finds the sessions of a hub whose driver did not come back.
func (r *wakeFailed) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	s, ok := e.(*backend.Session)
	if !ok || s.Hub == nil {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	b := env.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: s.Key.Source, ID: s.Hub.Sandbox})
	gone := s.Hub.Sandbox.IsZero() || b != nil && !reportedLive(b) // it has nothing that could be driven
	gaveUp, waits := gaveUp(s), waking(s)
	if word := strings.ToLower(s.Status.String()); !gone && !gaveUp && s.Hub.Error.IsEmpty() && !s.Hub.Driver.IsKnown() && (word == "error" || word == "failed" || word == "creating" || word == "resuming") {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its error and participants are not read yet"), Note: known}
	}
	if gone || s.Hub.Driver.Or(false) || strings.EqualFold(s.Hub.Bucket.String(), "history") || !gaveUp && !waits {
		return alerts.Verdict{Outcome: alerts.False}
	}
	since := s.Hub.NoDriverSince
	if since.IsZero() {
		since = s.Meta.ReadAt
	}
	if old := alerts.NoteAs[waitNote](known); old != nil && !old.Since.IsZero() && old.Since.Before(since) { // its participants are not read yet
		since = old.Since
	}
	due := env.Ours(since).Add(r.after)
	v := alerts.Verdict{Outcome: alerts.True, Runbook: "contradiction", Source: s.Key.Source, Session: s.Key.ID, Fingerprint: alerts.Fingerprint("wake failed"),
		Cause: backend.Text("its wake failed: no driver connected"), Confirmed: env.ReadAt(&s.Meta), Bounds: alerts.Bounds{Latest: env.Ours(since)}, Note: alerts.NoteOf(&waitNote{Since: since})}
	v.Detail = v.Cause
	if b != nil && provedBroken(b) { // an alert of its own, for which the contradiction stands, whatever becomes of the others
		v.Fingerprint = alerts.Fingerprint("wake failed") + subjectFingerprint(b.Key)
	}
	if !gaveUp && env.Now.Before(due) {
		return waitsUntil(due)
	}
	return v
}

// provedBroken reports whether an observation alone proves that a sandbox is not what is reported of it.
func provedBroken(b *backend.Sandbox) bool {
	n := contradictionNote{Region: b.Region.String()}
	n.observe(b)
	return n.proved()
}

// waitsUntil is the verdict about what comes to pass at a steady time.
func waitsUntil(due time.Time) alerts.Verdict {
	return alerts.Verdict{Outcome: alerts.False, Recheck: due, Note: alerts.NoteOf(&waitNote{Due: due})}
}

// gaveUp reports whether a hub gave up waiting for the driver of a session.
func gaveUp(s *backend.Session) bool {
	word := strings.ToLower(s.Status.String())
	x, is := backend.HubText(s.Hub.Error.String())
	return is && x.Kind == backend.ReportDriverTimeout && (word == "error" || word == "failed")
}

// waking reports whether a hub waits for the driver of a session.
func waking(s *backend.Session) bool {
	word := strings.ToLower(s.Status.String())
	return (word == "creating" || word == "resuming") && s.Hub.Driver.IsKnown() && !s.Hub.NoDriverSince.IsZero()
}

// Evidence tells what the hub says, and of which sandbox.
func (r *wakeFailed) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	s, ok := oldest.(*backend.Session)
	if !ok || s.Hub == nil {
		return nil
	}
	read := env.Display(env.ReadAt(&s.Meta))
	out := append(reportedBy(env, nil, s), hubErrorEvidence(env, s)...)
	if !s.Hub.NoDriverSince.IsZero() {
		out = append(out, alerts.Evidence{Text: backend.Textf("without a driver in each reading since %s", env.Clock(env.Ours(s.Hub.NoDriverSince))), Source: s.Key.Source, At: read})
	}
	b := env.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: s.Key.Source, ID: s.Hub.Sandbox})
	if b == nil {
		return append(out, alerts.Evidence{Text: backend.Textf("its sandbox %s is not listed", s.Hub.Sandbox.Safe()), Source: s.Key.Source, At: read})
	}
	out = append(out, alerts.Evidence{Text: backend.Textf("reported: its sandbox %s (%s) is %s", called(b), b.Key.Safe(), reported(b)), Source: b.Key.Source, At: env.Display(env.ReadAt(&b.Meta))})
	return append(out, platformEvidence(env, b)...)
}
