package rules

import (
	"cmp"
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
	f := facts{env.Time(&w.Meta, w.LastAttemptAt), env.Time(&w.Meta, w.LastSuccessAt), env.ReadAt(&w.Meta), env.Ours(w.WorkedAt)}
	if !w.TriedSince() && f.attempt.After(f.success) {
		f.attempt = f.success // the two times of one attempt
	}
	return f
}

// restedAfter is how long after its newest attempt a workspace whose session does not run is history.
const restedAfter = time.Hour

// rests reports whether the session of a workspace is known not to run; an aggregate route shows what rests too.
func rests(env *alerts.Env, w *backend.Workspace) bool {
	s := env.SessionOf(w)
	return s != nil && !s.Stale && (!s.MayRun() || !s.ListedRunning.Or(true))
}

// whileUsed judges a workspace, unless what it shows is history: its session does not run, and it was not tried for long.
// What rests is not in use, and shows the same until somebody resumes it.
func whileUsed(env *alerts.Env, w *backend.Workspace, f facts, judge func() alerts.Verdict) alerts.Verdict {
	if !rests(env, w) {
		return judge()
	}
	over := f.attempt.Add(restedAfter)
	if f.attempt.IsZero() && f.worked.IsZero() || !f.attempt.IsZero() && env.Now.After(over) {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := judge()
	if !f.attempt.IsZero() && (v.Recheck.IsZero() || v.Recheck.After(over)) {
		v.Recheck = over.Add(1)
	}
	return v
}

// failing reports whether there is an attempt that no success followed.
func (f facts) failing() bool { return !f.attempt.IsZero() && f.attempt.After(f.success) }

// advanced reports whether the workspace has succeeded since the note was taken.
func (f facts) advanced(n *failureRun) bool {
	if f.success.IsZero() {
		return false
	}
	base := n.Success
	if base.IsZero() {
		base = n.FirstAttempt // a success that becomes readable later is news only if it is newer than the failure
		if base.IsZero() {
			base = n.Seen
		}
	}
	return f.success.After(base)
}

// failureRun is a run of failed attempts of one workspace, and the note of rules that judge it.
type failureRun struct {
	Success      time.Time `json:"success,omitzero"` // the last success, for which the run holds
	Worked       time.Time `json:"worked,omitzero"`  // the newest reading before the failures
	FirstAttempt time.Time `json:"first,omitzero"`   // the first known failed attempt
	LastAttempt  time.Time `json:"last,omitzero"`    // the newest attempt seen
	Seen         time.Time `json:"seen,omitzero"`    // when it was first read in this condition
	Attempts     int32     `json:"count,omitempty"`
	causeNote
}

func (r *failureRun) run() *failureRun { return r }

// runNote is a pointer to a note of type N that holds a run of failures.
type runNote[N any] interface {
	*N
	run() *failureRun
}

// noted returns what is remembered of the present run of failures, brought up to date with a new reading.
func noted[N any, P runNote[N]](f facts, note P) P {
	if note == nil || f.advanced(note.run()) {
		n := P(new(N))
		r := n.run()
		r.Success, r.Worked, r.Seen = f.success, f.worked, f.read
		if f.failing() {
			r.FirstAttempt, r.LastAttempt, r.Attempts = f.attempt, f.attempt, 1
		}
		return n
	}
	if !f.failing() || !f.attempt.After(note.run().LastAttempt) {
		return note
	}
	c := *note
	n := P(&c)
	r := n.run()
	r.LastAttempt = f.attempt
	r.Attempts++
	if r.FirstAttempt.IsZero() {
		r.FirstAttempt = f.attempt
	}
	return n
}

// proved is the moment by which it was certainly failing: the first failed attempt known, or when we first read it so.
func (r *failureRun) proved() time.Time {
	if r.FirstAttempt.IsZero() || r.Seen.Before(r.FirstAttempt) {
		return r.Seen
	}
	return r.FirstAttempt
}

// earliest is the earliest moment at which it can have begun to fail: its last success, or a later reading that showed no
// failure. Zero: neither is known.
func (r *failureRun) earliest() time.Time {
	if r.Worked.After(r.Success) && !r.Worked.After(r.proved()) {
		return r.Worked
	}
	return r.Success
}

// describe fills in whom a verdict is about, and which variant of its cause it is.
func describe(env *alerts.Env, w *backend.Workspace, v *alerts.Verdict) {
	v.Values = env.Values(cmp.Or(w.LastError, v.Cause), v.Fingerprint)
	v.Session = w.Key.Parent
	v.Provider = w.Provider
	if s := env.SessionOf(w); s != nil {
		v.Tenant = s.Tenant
	}
}

// causeOf takes the workspace's lastError, or else the one it had before in this run of failures. n is changed where it
// is, unless it is old, the note that is remembered.
func causeOf[N any, P interface {
	*N
	errorCause() *causeNote
}](env *alerts.Env, w *backend.Workspace, old, n P, without backend.Literal) (P, backend.Safe, string) {
	cause, fp := n.errorCause().Cause, n.errorCause().Fingerprint
	switch {
	case fp != "" && w.LastError == n.errorCause().Raw:
		return n, cause, fp
	case !w.LastError.IsEmpty():
		cause, fp = env.Cause(w.LastError)
	case fp == "":
		cause, fp = env.Cause(backend.Text(without))
	}
	n = own(old, n)
	c := n.errorCause()
	c.Cause, c.Fingerprint, c.Raw = cause, fp, w.LastError
	return n, c.Cause, fp
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
	switch {
	case !f.failing():
	case w.LastError.IsEmpty() && w.Class != backend.ClassFailed && w.Class != backend.ClassEvicted: // it may still succeed
		out = append(out, alerts.Evidence{Text: backend.Textf("its newest attempt began at %s and has no outcome yet", env.Clock(f.attempt)), Source: src, At: env.Display(f.attempt)})
	default:
		out = append(out, alerts.Evidence{Text: backend.Textf("its newest failed attempt was at %s", env.Clock(f.attempt)), Source: src, At: env.Display(f.attempt)})
	}
	if b := sickSandbox(env, w); b != nil {
		out = append(out, failingEvidence(env, b))
	}
	return out
}
