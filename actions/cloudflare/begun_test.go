package cloudflare

import (
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend"
	demo "sandglass/demo/cloudflare"
)

// TestAContainerThatTheProbeStartedIsNoHealth: with no container in use before, the probe looked at a new, empty one; with others in use
// it is not known whether one ran; where its platform says that it runs, it did.
func TestAContainerThatTheProbeStartedIsNoHealth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		runs, other bool
		want        string
	}{
		"none in use": {false, false, "no container ran before the probe, which started a new, empty one"},
		"others":      {false, true, "healthy; not tried: filesystem read; whether its container ran before the probe is not known"},
		"runs":        {true, true, "healthy"},
	} {
		w := newWorld(t, demo.BridgeOptions{})
		if c.other {
			w.bridge.Start("bcdefghij2345672")
		}
		if c.runs {
			w.bridge.Start(boxID)
		}
		starts, facts := w.bridge.Starts(), []string{factRuns, runsUnknown}
		if c.runs {
			facts = nil
		}
		done, _, err := w.do(actions.Probe, facts...)
		said, control := done.Text.String(), on(done, backend.PlaneControl).What.String()
		if err != nil || !strings.HasPrefix(said, c.want) || c.want != "healthy" && !c.other && strings.Contains(said, "healthy") || c.runs && strings.Contains(said, "container") {
			t.Errorf("%s: %q %v", name, said, err)
		}
		if now := w.bridge.Starts() > starts; now == c.runs || (control == "the bridge had no container in use before the first command") != (name == "none in use") {
			t.Errorf("%s: started one %v, %q", name, now, control)
		}
	}
}
