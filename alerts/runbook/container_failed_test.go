package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAFailedSandboxOfAnAgentsCloudIsNotStarted: no command of a container engine reaches it, and its platform replaces it.
func TestAFailedSandboxOfAnAgentsCloudIsNotStarted(t *testing.T) {
	cause := backend.Text("VM_NETWORK_FAILURE: the network could not be set up")
	a := &alerts.Alert{ID: "x", Rule: "sandbox-start-failed", Source: "docker", Runbook: "container", State: alerts.StateFiring, Cause: cause, Confirmed: now,
		Subjects: []alerts.Subject{{Key: sbKey("b"), Detail: cause}}, SubjectCount: 1}
	d := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider, b.Reported, b.Class, b.StartError, b.LifecycleAt = backend.Text("blaxel"), backend.Text("FAILED"), backend.SandboxDead, cause, before(time.Second)
	})}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}.page(a)
	steps := d.Conclusion.String()
	for _, x := range append(d.Do, d.Dont...) {
		steps += "\n" + x.String()
	}
	if strings.Contains(steps, "docker") || strings.Contains(steps, "engine") || !strings.Contains(steps, "Its platform reports that it failed") || !strings.Contains(steps, "replaces a failed sandbox") {
		t.Error(steps)
	}
}
