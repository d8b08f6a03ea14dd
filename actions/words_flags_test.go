package actions

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestEveryVerbIsPrintedWithItsFlags: a command without them would act on what another configuration lists.
func TestEveryVerbIsPrintedWithItsFlags(t *testing.T) {
	for _, v := range []Verb{Reset, Destroy, Stop, Start, Restart, Shell, Pause, Resume, Repair, Probe, Prove, Rescue, Wake, Replace, Clean, StopProcess, KillProcess, RevokeToken} {
		got := backend.WithFlags(backend.Textf("Then: sandglass %s agents-1", backend.Text(backend.Literal(v))), backend.Reach{Flags: "--config c.toml"}).String()
		if !strings.Contains(got, "sandglass --config c.toml "+string(v)+" agents-1") {
			t.Error(got)
		}
	}
}
