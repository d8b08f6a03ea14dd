package subjects

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestWhatTheRoutesAloneSayIsNotConfirmed, in the list and on the page, which says what speaks against it.
func TestWhatTheRoutesAloneSayIsNotConfirmed(t *testing.T) {
	t.Parallel()
	for doubt, want := range map[backend.Literal]string{"": "healthy", "the account lists no such instance": "healthy, not confirmed"} {
		b := &backend.Sandbox{Class: backend.SandboxUnknown, Reported: backend.Text("healthy")}
		b.Doubt = backend.Text(doubt)
		said := reportedBy(b)
		if got := reportedCell(b).Text.String(); got != want || strings.Contains(said, "the operator routes say it; the account lists no such instance: whether it runs is not known") == (doubt == "") {
			t.Errorf("%q: %s, %s", doubt, got, said)
		}
	}
}
