package runbook

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestOnlyACommandThatWasTriedTellsThatCommandsFail: of a Blaxel sandbox whose directory alone was asked for, an alert that fires
// confirms the plane that failed, and leaves open whether commands run.
func TestOnlyACommandThatWasTriedTellsThatCommandsFail(t *testing.T) {
	for name, c := range map[string]struct {
		all      []backend.Verdict
		commands Mark
	}{
		"a list alone":  {[]backend.Verdict{failedVerdict(backend.PlaneList, backend.FailGone)}, CannotTell},
		"a file alone":  {[]backend.Verdict{failedVerdict(backend.PlaneRead, backend.FailGone)}, CannotTell},
		"a command too": {[]backend.Verdict{failedVerdict(backend.PlaneList, backend.FailGone), failedVerdict(backend.PlaneExec, "")}, Confirmed},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
			*b = *b.WithObserved(c.all)
		})}}
		a := &alerts.Alert{ID: "x", Rule: "contradiction", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Text("reported DEPLOYED RUNNING, but it is gone"), Confirmed: now,
			Subjects: []alerts.Subject{{Key: sbKey("b")}}, SubjectCount: 1}
		w.board = &alerts.Board{Alerts: []*alerts.Alert{a}}
		marks := map[string]Mark{}
		for _, check := range w.page(a).Checks {
			marks[check.Name] = check.Mark
		}
		if marks["commands"] != c.commands || marks["planes"] != Confirmed {
			t.Errorf("%s: commands %s, another plane %s", name, marks["commands"], marks["planes"])
		}
	}
}
