package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// FailedOptions are the keys of `[rules.failed-too-long]`.
type FailedOptions struct {
	Common
	After  backend.Duration `toml:"after" doc:"how long a workspace may have failed without a success"`
	Apart  backend.Duration `toml:"apart" doc:"failed attempts this far apart prove that it still fails"`
	Shared int              `toml:"shared" doc:"workspaces with one cause from which the last success counts as the onset"`
}

func failedDefaults() *FailedOptions {
	return &FailedOptions{Common: common(alerts.SeverityCritical), After: backend.Duration(10 * time.Minute), Apart: backend.Duration(time.Minute), Shared: 3}
}

func (o *FailedOptions) build() (alerts.Rule, error) {
	r := &failedTooLong{base: o.base("failed-too-long", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), after: o.After.Std(), apart: o.Apart.Std()}
	r.meta.Corroborate = o.Shared
	return r, cmp.Or(
		positive("after", o.After),
		refuse(o.Shared < 2, "shared", "must be at least 2: one workspace shares its cause with no other"),
	)
}

type failedTooLong struct {
	base
	remembers[failureRun]
	after, apart time.Duration
}

func (r *failedTooLong) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[failureRun](known)
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: known}
	}
	f := factsOf(env, w)
	return whileUsed(env, w, f, func() alerts.Verdict { return r.judge(env, w, f, note) })
}

func (r *failedTooLong) judge(env *alerts.Env, w *backend.Workspace, f facts, note *failureRun) alerts.Verdict {
	if note != nil && f.advanced(note) {
		note = nil
	}
	if w.Class != backend.ClassFailed && note == nil {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n, cause, fp := causeOf(env, w, note, withLogFailures(env, w, f, note, noted(f, note)), "failed without a lastError")
	v := alerts.Verdict{
		Outcome: alerts.True, Cause: cause, Fingerprint: fp, Runbook: "1", Note: alerts.NoteOf(n), Detail: detail(w),
		Bounds: alerts.Bounds{Latest: n.proved()},
	}
	early, dated := r.earlier(env, w, n)
	v.Bounds.Earliest = early
	if env.Names(cmp.Or(w.LastError, cause))&alerts.NamesSchema != 0 {
		v.Runbook = "6"
	}
	describe(env, w, &v)
	r.decide(env, n, w.Key.Source, dated, &v)
	return v
}

// earlier is the earliest moment at which it can have begun: the last success or a later reading without a failure; without either the start of its session, or
// the moment it appeared under our eyes. Zero: unknown, which proves nothing. dated: the server says that it did not work since.
func (r *failedTooLong) earlier(env *alerts.Env, w *backend.Workspace, n *failureRun) (at time.Time, dated bool) {
	if at := n.earliest(); !at.IsZero() {
		return at, at.Equal(n.Success)
	}
	if s := env.SessionOf(w); s != nil {
		if at := env.Time(&s.Meta, s.StartedAt); !at.IsZero() && !at.After(n.proved()) {
			return at, w.LastSuccessAt.IsNotApplicable()
		}
	}
	if seen := env.Ours(w.FirstSeen); seen.After(env.Watching) && !seen.After(n.proved()) {
		return seen, false
	}
	return time.Time{}, false
}

// decide says whether the bounds prove that it has failed for longer than `after`. What only readings bound did not last
// while the source was out.
func (r *failedTooLong) decide(env *alerts.Env, n *failureRun, source string, dated bool, v *alerts.Verdict) {
	lasted := func(since time.Time, dated bool) time.Duration {
		if dated {
			return env.Now.Sub(since)
		}
		return env.Watched(source, since)
	}
	early, late := v.Bounds.Earliest, v.Bounds.Latest
	most, least := lasted(early, dated), lasted(late, late.Equal(n.FirstAttempt))
	longer := !early.IsZero() && most >= r.after
	goesOn := n.Attempts >= 2 && n.LastAttempt.Sub(n.FirstAttempt) >= r.apart
	v.Corroborable = longer
	if least >= r.after || longer && goesOn {
		return
	}
	due := env.Now.Add(r.after - least)
	v.Suspected = true
	v.Recheck = due
	switch {
	case longer:
		v.Why = backend.Textf("one failed attempt is known, of %s: fires after another one at least %s later, when %d workspaces share the cause, or at %s",
			env.Clock(late), text(r.apart), r.meta.Corroborate, env.Clock(due))
	case !early.IsZero():
		v.Recheck = earlierOf(due, env.Now.Add(r.after-most))
		v.Why = backend.Textf("failed, not yet for %s: it last worked at %s", text(r.after), env.Clock(early))
	default:
		v.Why = backend.Textf("when it began is not known: fires at %s unless it succeeds", env.Clock(due))
	}
	v.Recheck = soon(env, v.Recheck)
}

func (r *failedTooLong) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	return workspaceEvidence(env, a, w)
}
