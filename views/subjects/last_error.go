package subjects

import (
	"cmp"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// LastError is what is wrong with a subject, in the words of what reported it: of an alert its cause, of a source why it cannot be
// read, of a sandbox why it did not start or what its failing health check printed. Empty: no error is known.
func LastError(k backend.Key, s *views.Snapshot) backend.Safe {
	if k.Kind == views.KindAlert {
		return cmp.Or(views.FindAlert(s.Board, k), &alerts.Alert{}).Cause
	}
	if k.Kind == backend.KindSource {
		return cmp.Or(s.State.Source(k.Source), &fleet.SourceHealth{}).Error
	}
	switch e := s.State.Entity(k).(type) {
	case nil:
		return backend.Safe{}
	case *backend.Sandbox:
		return sandboxError(e)
	case *backend.Session:
		return sessionProblem(e)
	default:
		_, text := Remark(e)
		return text
	}
}

// sandboxError is why a sandbox did not start, else what its failing health check printed, else what was seen to fail in it.
func sandboxError(b *backend.Sandbox) backend.Safe {
	if !b.StartError.IsEmpty() {
		return b.StartError
	}
	if b.Health.Or(backend.Safe{}).String() == "unhealthy" && !b.HealthOutput.IsEmpty() {
		return b.HealthOutput
	}
	seen, _ := b.Observed.Get()
	for _, v := range seen.Verdicts {
		if v.Outcome == backend.OutcomeFailed && !v.Past {
			return v.What
		}
	}
	return backend.Safe{}
}
