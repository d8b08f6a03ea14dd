package runbook

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// SubjectOfAlert is what to diagnose for an alert: its subject when it has one, else its source, so that all subjects
// are seen together.
func SubjectOfAlert(a *alerts.Alert) backend.Key {
	if a.SubjectCount == 1 && len(a.Subjects) > 0 && len(a.Subjects) == 1+a.Pending {
		return a.Subjects[0].Key
	}
	if a.Source == "" {
		return backend.Key{}
	}
	return backend.Key{Kind: backend.KindSource, Source: a.Source, ID: backend.MustID(a.Source)}
}
