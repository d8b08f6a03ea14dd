package runbook

import (
	"testing"

	"sandglass/backend"
)

// TestACommandOfOurOwnIsNamedWhole: stop-process is another action than stop.
func TestACommandOfOurOwnIsNamedWhole(t *testing.T) {
	for _, verb := range []string{"stop", "stop-process", "kill-process", "revoke-token", "probe"} {
		if m := ownCommand.FindStringSubmatch("Ask it: sandglass " + verb + " a-box. It is billed."); m == nil || m[1] != verb {
			t.Errorf("%s: %v", verb, m)
		}
	}
	if got := inClient("docker stop x", "podman"); got != "podman stop x" {
		t.Error(backend.Clean(got, 80))
	}
}
