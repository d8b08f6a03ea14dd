package runbook

import (
	"strings"
	"testing"
)

// TestEachPageIsWholeOnEachPlatform: what is left of it where the lines of other platforms are left out. A page about a Blaxel sandbox
// names nothing of an engine.
func TestEachPageIsWholeOnEachPlatform(t *testing.T) {
	for _, p := range All() {
		if p.file == "" {
			continue
		}
		for _, at := range []platform{ownHosts, cloudflare, cloud, agentCloud} {
			x := embedded(p.file, at, "")
			for _, k := range x.Knobs {
				if p.Number == "contradiction" && at == agentCloud && !strings.Contains(k.Name.String(), "pause_on_exit") {
					t.Errorf("page %s on %s: setting %s", p.Number, at, k.Name)
				}
			}
		}
	}
}
