package subjects

import (
	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
)

// mostAsked is how many alerts are asked for a reason against an action.
const mostAsked = 5

// NotNow is why a diagnosis refuses a verb for that many subjects, empty where it does not.
func NotNow(v actions.Verb, d *runbook.Diagnosis, many int) backend.Safe {
	switch {
	case d == nil:
	case many > 1 && !d.NoBulk.IsEmpty():
		return d.NoBulk
	case v == actions.Resume:
		return d.NoResume
	case v == "reset":
		return d.NoReset
	case v == "destroy":
		return d.NoDestroy
	}
	return backend.Safe{}
}

// Against is why the diagnoses of the alerts about targets advise against an action; empty: none does. It works the
// diagnoses out, which a key cannot wait for, and may run beside the program.
func Against(verb actions.Verb, targets []backend.Key, at *views.Snapshot) backend.Safe {
	c := views.NewSnapshot(at.Now, at.State, at.Board) // one of its own: a Snapshot remembers what it was asked
	var found []*alerts.Alert
	about := map[*alerts.Alert]int{}
	for _, k := range targets {
		if a := c.Alert(k); a != nil {
			if about[a]++; about[a] == 1 && len(found) < mostAsked {
				found = append(found, a)
			}
		}
	}
	for _, a := range found {
		q, asked := Asked(a)
		if !asked {
			continue
		}
		d := runbook.Case{State: c.State, Board: c.Board, Subject: q.Subject, Alert: q.Alert, Events: c.State.Events}.Diagnose(q.Incident)
		why := NotNow(verb, &d, len(targets))
		switch n := about[a]; {
		case why.IsEmpty():
		case n < len(targets):
			return backend.Textf("%s (%d of %d)", why, n, len(targets))
		default:
			return why
		}
	}
	return backend.Safe{}
}
