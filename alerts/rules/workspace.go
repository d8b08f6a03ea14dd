package rules

import (
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// facts are the times of a workspace on the steady clock; zero where unknown or absent.
type facts struct {
	attempt, success, read time.Time
	worked                 time.Time // the newest reading without a failure
}

func factsOf(env *alerts.Env, w *backend.Workspace) facts {
	return facts{env.Time(&w.Meta, w.LastAttemptAt), env.Time(&w.Meta, w.LastSuccessAt), env.ReadAt(&w.Meta), env.Ours(w.WorkedAt)}
}

// failing reports whether there is an attempt that no success followed.
func (f facts) failing() bool { return !f.attempt.IsZero() && f.attempt.After(f.success) }

// advanced reports whether the workspace has succeeded since the note was taken.
func (f facts) advanced(n *alerts.Note) bool {
	if f.success.IsZero() {
		return false
	}
	base := n.Success
	if base.IsZero() {
		base = n.First // a success that becomes readable later is news only if it is newer than the failure
		if base.IsZero() {
			base = n.Seen
		}
	}
	return f.success.After(base)
}

// noted returns what is remembered of the present run of failures, brought up to date with a new reading.
func (f facts) noted(note *alerts.Note) *alerts.Note {
	if note == nil || f.advanced(note) {
		n := &alerts.Note{Success: f.success, Worked: f.worked, Seen: f.read}
		if f.failing() {
			n.First, n.Last, n.Count = f.attempt, f.attempt, 1
		}
		return n
	}
	if !f.failing() || !f.attempt.After(note.Last) {
		return note
	}
	n := *note
	n.Last = f.attempt
	n.Count++
	if n.First.IsZero() {
		n.First = f.attempt
	}
	return &n
}

// own is a note that may be changed: n itself when it was made in this evaluation, else a copy of it.
func own(old, n *alerts.Note) *alerts.Note {
	if n != old {
		return n
	}
	c := *n
	return &c
}

// proved is the moment by which it was certainly failing: the first failed attempt known, or when we first read it so.
func proved(n *alerts.Note) time.Time {
	if n.First.IsZero() || n.Seen.Before(n.First) {
		return n.Seen
	}
	return n.First
}

// earliest is the earliest moment at which it can have begun to fail: its last success, or a later reading that showed no
// failure. Zero: neither is known.
func earliest(n *alerts.Note) time.Time {
	if n.Worked.After(n.Success) && !n.Worked.After(proved(n)) {
		return n.Worked
	}
	return n.Success
}

// describe fills in whom a verdict is about.
func describe(env *alerts.Env, w *backend.Workspace, v *alerts.Verdict) {
	v.Session = w.Key.Parent
	v.Provider = w.Provider
	if s := env.SessionOf(w); s != nil {
		v.Tenant = s.Tenant
	}
}

// causeOf takes the workspace's lastError, or else the one it had before in this run of failures. n is changed where it
// is, unless it is old, the note that is remembered.
func causeOf(env *alerts.Env, w *backend.Workspace, old, n *alerts.Note, without backend.Literal) (*alerts.Note, backend.Safe, string) {
	cause, fp := n.Cause, n.Fingerprint
	switch {
	case fp != "" && w.LastError == n.Raw:
		return n, cause, fp
	case !w.LastError.IsEmpty():
		cause, fp = env.Cause(w.LastError)
	case fp == "":
		cause, fp = env.Cause(backend.Text(without))
	}
	n = own(old, n)
	if fp != n.Fingerprint {
		n.Cause, n.Fingerprint = cause, fp
	}
	n.Raw = w.LastError
	return n, n.Cause, fp
}

// detail is what is true of one workspace; it holds no age, so that it changes only when the workspace does.
func detail(w *backend.Workspace) backend.Safe {
	word := w.Reported.String()
	if word == "" {
		word = "no state"
	}
	if w.LastError.IsEmpty() {
		return backend.Clean(word, 60)
	}
	return backend.Clean(word+": "+w.LastError.String(), 200)
}

// workspaceEvidence is what the alerts about single workspaces have in common.
func workspaceEvidence(env *alerts.Env, a *alerts.Alert, w *backend.Workspace) []alerts.Evidence {
	if w == nil {
		return nil
	}
	f, now := factsOf(env, w), env.Display(env.Now)
	src := w.Key.Source
	var parts []string
	if a.Sessions > 0 {
		parts = append(parts, plural(a.Sessions, "session"))
	}
	if a.Providers > 0 {
		parts = append(parts, plural(a.Providers, "provider"))
	}
	if a.Tenants > 0 {
		parts = append(parts, plural(a.Tenants, "tenant"))
	}
	in := ""
	if len(parts) > 0 {
		in = " in " + strings.Join(parts, ", ")
	}
	out := []alerts.Evidence{{
		Text:  backend.Textf("%s with this cause%s", plural(a.SubjectCount, "workspace"), in),
		Value: backend.Known(float64(a.SubjectCount)), Unit: "workspaces", Source: src, At: now,
	}}
	if !w.LastError.IsEmpty() {
		out = append(out, alerts.Evidence{Text: backend.Textf("lastError: %s", backend.Clean(w.LastError.String(), 300)), Source: src, At: env.Display(f.read)})
	}
	who := w.Key.Safe()
	switch {
	case f.success.IsZero():
		out = append(out, alerts.Evidence{Text: backend.Textf("%s is not known to have ever succeeded", who), Source: src, At: env.Display(f.read)})
	default:
		out = append(out, alerts.Evidence{Text: backend.Textf("%s last succeeded at %s", who, env.Clock(f.success)), Source: src, At: env.Display(f.success)})
	}
	if first, n, from := failedLines(env, w, f); f.failing() && n > 0 {
		out = append(out, alerts.Evidence{Text: backend.Textf("log lines name its failures since then: %s, the first at %s", number(n), env.Clock(first)),
			Value: backend.Known(n), Unit: "lines", Source: from, At: env.Display(first)})
	}
	if f.failing() {
		out = append(out, alerts.Evidence{Text: backend.Textf("its newest failed attempt was at %s", env.Clock(f.attempt)), Source: src, At: env.Display(f.attempt)})
	}
	if b := sickSandbox(env, w); b != nil {
		out = append(out, failingEvidence(env, b))
	}
	return out
}
