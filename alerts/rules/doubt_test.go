package rules

import (
	"testing"

	"sandglass/backend"
)

// TestAnAlertSaysThatTheRoutesAloneCallItHealthy, and nobody else.
func TestAnAlertSaysThatTheRoutesAloneCallItHealthy(t *testing.T) {
	t.Parallel()
	for doubt, want := range map[backend.Literal]string{"": "healthy", "the account lists no such instance": "healthy by its operator routes alone"} {
		b := &backend.Sandbox{Class: backend.SandboxUnknown, Reported: backend.Text("healthy")}
		b.Doubt = backend.Text(doubt)
		if got := reported(b).String(); got != want {
			t.Errorf("%q: reported %s", doubt, got)
		}
	}
}
