package rules

import (
	"cmp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// LoopOptions are the keys of `[rules.reset-loop]`.
type LoopOptions struct {
	Common
	Resets int              `toml:"resets" doc:"how often it left failed and failed again with the same cause"`
	Over   backend.Duration `toml:"over" doc:"the window of these resets"`
}

func loopDefaults() *LoopOptions {
	return &LoopOptions{Common: common(alerts.SeverityWarning), Resets: 3, Over: backend.Duration(time.Hour)}
}

func (o *LoopOptions) build() (alerts.Rule, error) {
	r := &resetLoop{base: o.base("reset-loop", backend.KindWorkspace, backend.InputRegistry, backend.InputRegistry), resets: o.Resets, over: o.Over.Std()}
	r.meta.Inhibits = sameCause("intermittent-failure")
	return r, cmp.Or(
		refuse(o.Resets < 2, "resets", "must be at least 2: one reset in vain is failed-too-long"),
		positive("over", o.Over),
	)
}

// resetNote holds when a workspace failed again.
type resetNote struct {
	Seen       time.Time `json:"seen,omitzero"` // when it first failed with this cause
	LastFailed time.Time `json:"last,omitzero"` // when it was last seen failed
	Failed     bool      `json:"was_failed,omitempty"`
	Again      []point   `json:"points,omitempty"` // N[0] is 1
	causeNote
}

type resetLoop struct {
	base
	remembers[resetNote]
	resets int
	over   time.Duration
}

func (r *resetLoop) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	note := alerts.NoteAs[resetNote](known)
	w, ok := e.(*backend.Workspace)
	if !ok {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if w.Unreadable {
		return alerts.Verdict{Outcome: alerts.NoData, Why: backend.Text("its registry cannot be read any more"), Note: known}
	}
	failed := w.Class == backend.ClassFailed
	if note == nil && !failed {
		return alerts.Verdict{Outcome: alerts.False}
	}
	n := r.watch(env, w, note, failed)
	recent := n.Again
	for len(recent) > 0 && env.Now.Sub(recent[0].At) > r.over {
		recent = recent[1:]
	}
	if !failed && len(recent) == 0 && env.Now.Sub(n.LastFailed) > r.over {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := alerts.Verdict{Outcome: alerts.False, Note: alerts.NoteOf(n)}
	if !failed {
		v.Recheck = n.LastFailed.Add(r.over + 1)
	}
	if len(recent) < r.resets {
		return v
	}
	oldest := recent[len(recent)-r.resets].At
	v.Recheck = oldest.Add(r.over + 1)
	v.Outcome, v.Cause, v.Fingerprint, v.Runbook, v.Detail = alerts.True, n.Cause, n.Fingerprint, "1", detail(w)
	if env.Names(n.Cause)&alerts.NamesSchema != 0 {
		v.Runbook = "6"
	}
	v.Bounds = alerts.Bounds{Earliest: n.Seen, Latest: recent[0].At}
	describe(env, w, &v)
	return v
}

func (r *resetLoop) watch(env *alerts.Env, w *backend.Workspace, note *resetNote, failed bool) *resetNote {
	read := env.ReadAt(&w.Meta)
	if !failed {
		if !note.Failed {
			return note
		}
		n := *note
		n.Failed, n.LastFailed = false, read
		return &n
	}
	fresh := &resetNote{Seen: read, LastFailed: read, Failed: true}
	if note == nil {
		cause := w.LastError
		if cause.IsEmpty() {
			cause = backend.Text("failed without a lastError")
		}
		fresh.Raw = w.LastError
		fresh.Cause, fresh.Fingerprint = env.Cause(cause)
		return fresh
	}
	if note.Failed && note.Raw == w.LastError {
		return note
	}
	cause, fp := note.Cause, note.Fingerprint
	if !w.LastError.IsEmpty() {
		cause, fp = env.Cause(w.LastError)
	}
	if fp != note.Fingerprint {
		fresh.Cause, fresh.Fingerprint, fresh.Raw = cause, fp, w.LastError
		return fresh
	}
	n := *note
	n.Raw = w.LastError
	if !n.Failed {
		n.Failed, n.LastFailed = true, read
		n.Again = append(append([]point(nil), n.Again...), point{At: read, N: [3]float64{1}})
		for len(n.Again) > r.resets+maxTurns {
			n.Again = n.Again[1:]
		}
	}
	return &n
}

func (r *resetLoop) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	w, _ := oldest.(*backend.Workspace)
	out := workspaceEvidence(env, a, w)
	if w == nil {
		return out
	}
	at, src := env.Display(env.ReadAt(&w.Meta)), w.Key.Source
	out = append(out, alerts.Evidence{
		Text:  backend.Textf("%s failed again at least %d times within %s with the same cause", w.Key.Safe(), r.resets, text(r.over)),
		Value: backend.Known(float64(r.resets)), Unit: "resets", Source: src, At: at,
	})
	if d, ok := w.ResetAfter.Get(); ok {
		out = append(out, alerts.Evidence{Text: backend.Textf("resetAfterMs is %s: it resets by itself", text(d)), Value: backend.Known(d.Seconds()), Unit: "s", Source: src, At: at})
	}
	return out
}
