package rules

import (
	"sort"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// HammeredOptions are the keys of `[rules.hammered-and-failing]`.
type HammeredOptions struct {
	Common
	After backend.Duration `toml:"after" doc:"how much newer than the last success the last attempt may be"`
}

func hammeredDefaults() *HammeredOptions {
	return &HammeredOptions{Common: common(alerts.SeverityWarning), After: backend.Duration(5 * time.Minute)}
}

func (o *HammeredOptions) build() (alerts.Rule, error) {
	r := &hammered{base: o.base("hammered-and-failing", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), after: o.After.Std()}
	return r, positive("after", o.After)
}

// hammeredNote is a run of failures, and in which states the workspace was in it.
type hammeredNote struct {
	failureRun
	WasFailed  bool `json:"was_failed,omitempty"`
	WasEvicted bool `json:"was_evicted,omitempty"`
}

type hammered struct {
	base
	remembers[hammeredNote]
	after time.Duration
}

func (r *hammered) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[hammeredNote](known)
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if v, over := r.unable(w, known); over {
		return v
	}
	f := factsOf(env, w)
	return whileUsed(env, w, f, func() alerts.Verdict { return r.judge(env, w, f, note) })
}

func (r *hammered) judge(env *alerts.Env, w *backend.Workspace, f facts, note *hammeredNote) alerts.Verdict {
	if note != nil && f.advanced(note.run()) {
		note = nil
	}
	if w.Class == backend.ClassFailed || note != nil && note.WasFailed {
		// failed-too-long judges it until the next success
		n := noted(f, note)
		if !n.WasFailed {
			n = own(note, n)
			n.WasFailed = true
		}
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n)}
	}
	if !f.failing() {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := withLogFailures(env, w, f, note, noted(f, note))
	if w.Class == backend.ClassEvicted && !n.WasEvicted {
		n = own(note, n)
		n.WasEvicted = true
	}
	return r.decide(env, w, note, n)
}

// Blind says that a server knows no attempts: it gives lastOpAt alone. It looks at the first workspaces only.
func (r *hammered) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	all, old := st.Workspaces, 0
	first := sort.Search(all.Len(), func(i int) bool { return all.At(i).Key.Source >= h.Key.Source })
	for i := first; i < min(first+sampledWorkspaces, all.Len()) && all.At(i).Key.Source == h.Key.Source; i++ {
		w := all.At(i)
		if w.LastAttemptAt.IsKnown() || w.LastSuccessAt.IsKnown() {
			return backend.Safe{}, false
		}
		if w.LastOpAt.IsKnown() {
			old++
		}
	}
	return backend.Textf("%s gives lastOpAt but no lastAttemptAt and lastSuccessAt, so attempts cannot be told from successes", backend.Clean(h.Key.Source, 80)), old > 0
}

// sampledWorkspaces is how many workspaces show which fields a server gives.
const sampledWorkspaces = 50

// unable covers what cannot be judged at all.
func (r *hammered) unable(w *backend.Workspace, known alerts.Note) (alerts.Verdict, bool) {
	switch {
	case w.Unreadable:
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: known}, true
	case w.LastAttemptAt.IsNotApplicable() && w.LastSuccessAt.IsNotApplicable() && w.LastOpAt.IsKnown():
		return alerts.Verdict{Outcome: alerts.NotApplicable, Why: backend.Text("the server predates lastAttemptAt"), Note: known}, true
	case !w.LastAttemptAt.IsKnown() && !w.LastAttemptAt.IsNotApplicable():
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its lastAttemptAt cannot be read"), Note: known}, true
	case !w.LastSuccessAt.IsKnown() && !w.LastSuccessAt.IsNotApplicable():
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its lastSuccessAt cannot be read"), Note: known}, true
	}
	return alerts.Verdict{}, false
}

func (r *hammered) decide(env *alerts.Env, w *backend.Workspace, old, n *hammeredNote) alerts.Verdict {
	base := n.earliest()
	if base.IsZero() {
		base = n.proved()
	}
	gap, age, longest := n.LastAttempt.Sub(base), env.Now.Sub(n.LastAttempt), env.State.LongestOperation
	again := n.Attempts >= 2 || n.WasEvicted
	stuck := w.LastError.IsEmpty() && !n.WasEvicted && longest > 0 && age >= longest && !rests(env, w)
	v := alerts.Verdict{Outcome: alerts.True, Runbook: "1", Detail: detail(w), Bounds: alerts.Bounds{Earliest: n.earliest(), Latest: n.proved()}}
	runs := stuck && !(again && gap >= r.after)
	switch {
	case again && gap >= r.after, stuck:
	case !again && r.lately(env, w, n, age):
		v.Suspected = true
		v.Why = backend.Textf("one failed attempt is known since the last success, %s ago: fires when another one fails", text(age.Truncate(time.Minute)))
	case again && (gap >= r.after/2 || r.lately(env, w, n, age)):
		v.Suspected = true
		v.Why = backend.Textf("fires when an attempt fails at least %s after the last success, now %s", text(r.after), text(gap.Round(time.Second)))
	default:
		v.Outcome = alerts.False
	}
	switch {
	case r.lately(env, w, n, age):
		v.Recheck = n.LastAttempt.Add(restedAfter + 1)
	case longest > 0 && !stuck && !n.WasEvicted:
		v.Recheck = n.LastAttempt.Add(longest)
	}
	if v.Outcome == alerts.False {
		return alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n), Recheck: soon(env, v.Recheck)}
	}
	n, v.Cause, v.Fingerprint = causeOf(env, w, old, n, "attempts fail, no lastError is given")
	if runs && w.LastError.IsEmpty() {
		which := "one attempt"
		if n.Attempts > 1 {
			which = "the newest attempt"
		}
		minutes := age.Truncate(time.Minute)
		v.Recheck = n.LastAttempt.Add(minutes + time.Minute)
		v.Cause = backend.Textf("%s runs for %s, longer than longest_operation %s", backend.Clean(which, 20), text(minutes), text(longest))
		if minutes <= longest { // exactly at the limit, or the seconds beyond it are not told
			v.Cause = backend.Textf("%s runs for %s or longer, longest_operation is %s", backend.Clean(which, 20), text(longest), text(longest))
		}
		v.Fingerprint, v.Detail = alerts.Fingerprint("an attempt runs longer than longest_operation"), v.Cause
	}
	v.Note = alerts.NoteOf(n)
	describe(env, w, &v)
	return v
}

// lately reports whether the newest attempt failed, and is over, but did so within the last hour.
func (r *hammered) lately(env *alerts.Env, w *backend.Workspace, n *hammeredNote, age time.Duration) bool {
	longest := env.State.LongestOperation
	return !w.LastError.IsEmpty() && !n.WasEvicted && longest > 0 && age >= longest && age <= restedAfter && !rests(env, w)
}

func (r *hammered) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	return workspaceEvidence(env, a, w)
}
