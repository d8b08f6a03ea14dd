package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// toldLeak is the verdict about a sandbox whose agent's log says that its session ended, or that its deletion then failed; false: it is none. No
// list of sessions is needed for it, and one that lists the session as running disproves it.
func (r *wontTerminate) toldLeak(env *alerts.Env, homes []*fleet.SourceHealth, b *backend.Sandbox, pause backend.Value[bool], note *terminateNote) (alerts.Verdict, bool) {
	if b.Class != backend.SandboxRunning && b.Class != backend.SandboxAsleep || !pause.IsKnown() || pause.Or(true) {
		return alerts.Verdict{}, false
	}
	n := terminateNote{}
	if note != nil {
		n = *note
	}
	at := deleteFailed(env, b, n.Deleted)
	failed := !at.IsZero()
	if n.Done = doneAt(env, b, n.Done); !failed {
		at = n.Done
	}
	if at.IsZero() {
		return alerts.Verdict{}, false
	}
	for _, h := range homes {
		if x := env.State.Session(backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: b.Session}); x != nil {
			return alerts.Verdict{}, false // its own list tells more
		}
	}
	n.Over = at
	if failed {
		n.Deleted = at
	}
	v := alerts.Verdict{Outcome: alerts.True, Note: alerts.NoteOf(&n), Runbook: "4", Session: b.Session, Provider: b.Provider, Recheck: recheckOf(env, b.Key), Bounds: alerts.Bounds{Latest: at},
		Cause:  backend.Text("it leaked: its agent's SDK could not delete it at the end of its session"),
		Detail: backend.Textf("its session ended at %s, and its deletion failed, the log of its agent says", env.Clock(at))}
	if !failed {
		v.Cause, v.Detail = backend.Text("it leaked: the end of its session deletes it, its saved state says"), backend.Textf("its session ended at %s, the log of its agent says", env.Clock(at))
	}
	v.Fingerprint = alerts.Fingerprint(v.Cause.String())
	if due := at.Add(r.grace); env.Now.Before(due) {
		v.Suspected, v.Why, v.Recheck = true, backend.Textf("fires when it still runs at %s", env.Clock(due)), earlierOf(v.Recheck, due)
	}
	return v, true
}

// doneAt is when the log of its agent said that the session on a sandbox ended; zero where it did not, or where the session went on. was
// is when it said so, as far as is remembered: lines are kept for an hour.
func doneAt(env *alerts.Env, b *backend.Sandbox, was time.Time) time.Time {
	if end, over := env.State.EndOn(b); over && !end.At.IsZero() {
		return env.Ours(end.At)
	}
	if !env.State.LiveOn(b).IsEmpty() {
		return time.Time{}
	}
	return was
}

// deleteFailed is when the log of its agent said that a sandbox could not be deleted at the end of its session; zero where it did not, or
// where the session went on. was is when it said so, as far as is remembered: lines are kept for an hour.
func deleteFailed(env *alerts.Env, b *backend.Sandbox, was time.Time) (at time.Time) {
	at = was
	for _, x := range env.State.SDKErrorsOn(b) {
		if x.Metric == backend.MetricSDKDelete {
			at = env.Ours(x.At)
		}
	}
	if at.IsZero() {
		return at
	}
	for s := range env.State.Windows.All(backend.MetricNamed) {
		if s.Session == env.State.SessionOn(b) && env.Ours(newestOf(env, []backend.Series{s})).After(at.Add(time.Minute)) {
			return time.Time{}
		}
	}
	return at
}

// deletionsFailed is what the logs say of deletions that failed: of all sandboxes of an alert together, else of its only one.
func deletionsFailed(env *alerts.Env, a *alerts.Alert, oldest *backend.Sandbox) []alerts.Evidence {
	var lines, boxes int
	var newest fleet.SDKError
	for i := range a.Subjects {
		b := env.State.Sandbox(a.Subjects[i].Key)
		if b == nil {
			continue
		}
		for _, x := range env.State.SDKErrorsOn(b) {
			if x.Metric != backend.MetricSDKDelete {
				continue
			}
			lines, boxes = lines+int(x.N), boxes+1
			if x.At.After(newest.At) {
				newest = x
			}
		}
	}
	if boxes < 2 {
		return sdkEvidence(env, oldest, backend.MetricSDKDelete)
	}
	return []alerts.Evidence{{Text: backend.Textf("log: deletions of %s failed in %s, the newest: %s; %s", plural(boxes, "sandbox"), plural(lines, "line"), newest.Newest, newest.Means),
		Value: backend.Known(float64(lines)), Unit: "lines", Source: newest.Source, At: newest.At}}
}

// usedSince is that a platform saw a sandbox in use after the end of its session, which speaks against a leak.
func usedSince(env *alerts.Env, b *backend.Sandbox, end time.Time) []alerts.Evidence {
	if !alerts.UsedAfter(b, end) {
		return nil
	}
	return []alerts.Evidence{{Text: backend.Textf("%s was last used at %s, after its session's end: something may work in it", called(b), env.Clock(env.Ours(b.LastUsedAt))), Source: b.Key.Source, At: env.Display(b.LastUsedAt)}}
}
