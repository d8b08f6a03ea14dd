package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestAListOfProcessesThatHangsIsToldBesideCommandsThatRun, and only there.
func TestAListOfProcessesThatHangsIsToldBesideCommandsThatRun(t *testing.T) {
	for what, hangs := range map[backend.Literal]bool{
		"true ran in /workspace": false, "true ran in /workspace; " + backend.ListHangs + " within 10s before": true,
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: before(time.Second), What: backend.Text(what)}})
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		want(t, d, map[string]Mark{"commands": RuledOut})
		if got := strings.Contains(d.fact("commands").String(), backend.ListHangs); got != hangs {
			t.Errorf("%s: %s", what, d.fact("commands"))
		}
	}
}
