package alerts

import (
	"time"

	"sandglass/backend"
)

// endedShown is how long an ended finding stays listed.
const endedShown = 15 * time.Minute

// step is the life cycle of one finding: what a verdict makes of its record. rec is nil for a subject that nothing is
// known about; nil is returned for one that need not be remembered. Pure.
func step(m *Meta, key backend.Key, rec *record, v *Verdict, now time.Time, settling bool) *record {
	if rec != nil && rec.State == StateEnded && rec.over(now) {
		rec = unlist(rec, now)
	}
	switch v.Outcome {
	case True:
		return stepTrue(m, key, rec, v, now)
	case False:
		return stepFalse(m, key, rec, v, now)
	case NoData, SourceError, NotApplicable:
	}
	return stepGap(m, key, rec, v, now, settling)
}

func stepTrue(m *Meta, key backend.Key, rec *record, v *Verdict, now time.Time) *record {
	n := newFinding(record{Key: key, State: StatePending, Source: v.Source, Via: v.Via, Note: v.Note}, finding{
		Fingerprint: v.Fingerprint, Severity: v.Severity, Cause: v.Cause, Values: v.Values,
		Runbook: v.Runbook, Active: now, Since: now, Bounds: v.Bounds, Confirmed: v.Confirmed, Suspected: v.Suspected,
		Corroborate: v.Corroborable, Why: v.Why, Detail: v.Detail, Session: v.Session, Provider: v.Provider, Tenant: v.Tenant, Ends: v.Ends,
		aggregate: aggregateOf(v),
	})
	if n.Source == "" {
		n.Source = key.Source
	}
	if n.Severity == m.Severity {
		n.Severity = ""
	}
	switch {
	case rec == nil || rec.State == "" || rec.State == StateEnded:
	case rec.State == StatePending:
		n.Active, n.Since, n.Ran = rec.Active, rec.Since, rec.Ran
		if !rec.Tick.IsZero() {
			n.Ran += now.Sub(rec.Tick)
		}
	default: // firing or held: what is once proved stays until it is disproved
		n.Active, n.Since, n.State, n.Suspected = rec.Active, rec.Since, StateFiring, false
		if v.Suspected {
			n.Why = backend.Safe{} // what a suspicion waits for is not why it fires
		}
		if rec.State == StateHeld {
			n.Since = now
		}
		n.Due = v.Recheck
		return n
	}
	if v.Suspected {
		n.Ran = 0
		n.Due = v.Recheck
		if at := n.Active.Add(m.For); v.Corroborable && m.Corroborate > 0 && at.After(now) {
			n.Due = earliest(v.Recheck, at) // company may prove it then, and nothing need change for that
		}
		return n
	}
	n.Tick = now
	if n.Ran >= m.For || m.OwnFor {
		n.State, n.Since, n.Tick, n.Due = StateFiring, now, time.Time{}, v.Recheck
		return n
	}
	n.Due = earliest(v.Recheck, now.Add(m.For-n.Ran))
	if n.Why.IsEmpty() {
		n.Why = backend.Textf("fires once it has been true for %s", short(m.For))
	}
	return n
}

func stepFalse(m *Meta, key backend.Key, rec *record, v *Verdict, now time.Time) *record {
	live := rec != nil && (rec.State == StateFiring || rec.State == StateHeld)
	if live && m.KeepFiringFor > 0 && (rec.Clear.IsZero() || now.Sub(rec.Clear) < m.KeepFiringFor) {
		n := rec.clone()
		n.Note = v.Note
		if n.State == StateHeld {
			n.State, n.Since = StateFiring, now
		}
		if n.Clear.IsZero() {
			n.Clear = now
		}
		n.Why = backend.Textf("no longer true; kept for %s", short(m.KeepFiringFor))
		n.Due = earliest(v.Recheck, n.Clear.Add(m.KeepFiringFor))
		return n
	}
	if rec != nil && rec.State == StateEnded {
		return returned(rec, v)
	}
	return noteOnly(key, v)
}

// returned is the record of a subject that ended, is still listed so, and is there again: it remembers what a new subject
// would.
func returned(rec *record, v *Verdict) *record {
	due := earliest(rec.listedUntil(), v.Recheck)
	if v.Note == rec.Note && due.Equal(rec.Due) {
		return rec
	}
	n := rec.clone()
	n.Note, n.Due = v.Note, due
	return n
}

func (r *record) listedUntil() time.Time { return r.Since.Add(endedShown) }

// over reports whether an ended finding has been listed long enough.
func (r *record) over(now time.Time) bool { return !now.Before(r.listedUntil()) }

// unlist is what becomes of an ended finding that is due: once it was listed long enough only what is remembered of a
// subject that came back is left.
func unlist(rec *record, now time.Time) *record {
	switch {
	case !rec.over(now):
		n := rec.clone()
		n.Due = rec.listedUntil()
		return n
	case rec.Note.IsZero():
		return nil
	}
	return &record{Key: rec.Key, Source: rec.Source, Note: rec.Note, Listed: rec.Listed}
}

func noteOnly(key backend.Key, v *Verdict) *record {
	if v.Note.IsZero() {
		return nil
	}
	return &record{Key: key, Source: v.Source, Note: v.Note, Due: v.Recheck}
}

func stepGap(m *Meta, key backend.Key, rec *record, v *Verdict, now time.Time, settling bool) *record {
	if rec == nil {
		return noteOnly(key, v)
	}
	note := rec.Note
	if !v.Note.IsZero() {
		note = v.Note
	}
	switch rec.State {
	case "":
		if v.Note.IsZero() || v.Note == rec.Note {
			return rec
		}
		return noteOnly(key, v)
	case StatePending:
		switch {
		case m.Gap == GapReset:
			c := *v
			c.Note = note
			return noteOnly(key, &c)
		case m.Gap == GapCount, rec.Paused && rec.Why == v.Why && rec.Note == note:
			return rec
		}
		n := rec.clone()
		if until := now; !n.Tick.IsZero() { // what was true is known up to the last answer
			if !v.Confirmed.IsZero() && v.Confirmed.Before(now) {
				until = v.Confirmed
			}
			n.Ran += max(until.Sub(n.Tick), 0)
		}
		n.Paused, n.Tick, n.Why, n.Note, n.Due = true, time.Time{}, v.Why, note, v.Recheck
		return n
	case StateFiring:
		if settling && v.Outcome == NoData && !v.Stopped {
			return rec
		}
		n := rec.clone()
		n.State, n.Since, n.Clear, n.Why, n.Note, n.Due = StateHeld, now, time.Time{}, v.Why, note, v.Recheck
		return n
	case StateHeld:
		if rec.Why == v.Why && rec.Note == note {
			return rec
		}
		n := rec.clone()
		n.Why, n.Note, n.Due = v.Why, note, v.Recheck
		return n
	case StateEnded:
		if !v.Note.IsZero() {
			return returned(rec, v)
		}
	case StateResolved:
	}
	return rec
}

// end is what becomes of a finding whose subject is no more.
func end(rec *record, why backend.Safe, now time.Time) *record {
	if rec == nil || rec.State != StateFiring && rec.State != StateHeld {
		if rec == nil || rec.State != StateEnded || rec.over(now) {
			return nil
		}
		return returned(rec, &Verdict{})
	}
	n := rec.clone()
	n.State, n.Since, n.Due, n.Note, n.Clear = StateEnded, now, now.Add(endedShown), Note{}, time.Time{}
	n.Why = backend.Textf("ended while still %s: %s", rec.State, why)
	return n
}

func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// short writes a duration without needless zero parts.
func short(d time.Duration) string {
	b, err := backend.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(b)
}
