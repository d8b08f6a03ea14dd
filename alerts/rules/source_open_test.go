package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestSourceOpen fires as soon as it is seen, is held while the source is down, and ends when it asks for a key.
func TestSourceOpen(t *testing.T) {
	const rule = "source-open"
	s := begin(t, rule)
	s.look().quiet(rule)
	open := func(what string) {
		s.health("helix", func(h *fleet.SourceHealth) {
			h.Exposed, h.ExposedSince = backend.Clean(what, 100), s.wall
		})
	}
	open("anybody can run commands")
	a := s.after(5*time.Second).want(rule, alerts.StateFiring)
	if a.Severity != alerts.SeverityWarning || a.Source != "helix" || a.Cause.String() != "it obeys without a key" || !a.Counts() {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "anybody can run commands")
	s.down("helix", "x")
	s.after(5*time.Second).want(rule, alerts.StateHeld)
	s.up("helix")
	s.after(5*time.Second).want(rule, alerts.StateFiring)
	s.restart()
	s.after(time.Second).want(rule, alerts.StateFiring)
	open("")
	s.after(5 * time.Second).quiet(rule)
}
