package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestStepsNameTheSandboxOfASavedState: no platform lists it, so that no check observed it; its commands have its name all the same.
func TestStepsNameTheSandboxOfASavedState(t *testing.T) {
	t.Parallel()
	k := backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID("s9"), ID: backend.MustID("coder")}
	a := &alerts.Alert{ID: "x", Rule: "contradiction", Source: "refs", Runbook: "contradiction", State: alerts.StateFiring, Confirmed: now,
		Cause: backend.Text("its agent takes it for running, but it is not listed by blaxel"), Subjects: []alerts.Subject{{Key: k}}, SubjectCount: 1}
	w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a}}, saved: []*backend.Ref{{Meta: backend.Meta{Key: k, ReadAt: now},
		Session: backend.MustID("s9"), Sandbox: backend.MustID("agents-9f"), Provider: backend.Text("blaxel"), Agent: &backend.AgentState{}}}}
	d := w.page(a)
	if d.Conclusion.String() != "It is not listed by blaxel, and its agent does not know." {
		t.Error(d.Conclusion)
	}
	steps := ""
	for _, step := range d.Do {
		steps += step.String() + "\n"
	}
	if !strings.Contains(steps, "sandglass why agents-9f.") || !strings.Contains(steps, "sandglass bundle agents-9f.") || placeholder.MatchString(steps) {
		t.Errorf("steps: %s", steps)
	}
}
