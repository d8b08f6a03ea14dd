package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestPagesOfBrokenBlaxelSandboxes: what fails there has ends of its own, with no verb, question or setting of another platform.
func TestPagesOfBrokenBlaxelSandboxes(t *testing.T) {
	for name, c := range map[string]struct {
		v               backend.Verdict
		concludes, step string
		rescues         bool
	}{
		"its root is missing": {failedVerdict(backend.PlaneList, backend.FailWorkDirMissing), "Its working directory is missing.", "See what removed it", true},
		"it is gone":          {failedVerdict(backend.PlaneList, backend.FailGone), "Its record is there, and it is gone.", "Ask the vendor", false},
		"a command goes on":   {failedVerdict(backend.PlaneExec, backend.FailExecTimeout), "Work does not begin in it.", "Read what runs in it", true},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
			*b = *b.WithObserved([]backend.Verdict{c.v})
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		var all []string
		for _, x := range d.Do {
			all = append(all, x.String())
		}
		text := strings.Join(all, " ")
		if !strings.HasPrefix(d.Conclusion.String(), c.concludes) || len(all) == 0 || !strings.HasPrefix(all[0], c.step) || strings.Contains(text, "sandglass rescue") != c.rescues {
			t.Errorf("%s: %s: %s", name, d.Conclusion, text)
		}
		for _, foreign := range []string{"wake", "replace", "pause", "prove", "docker", "trace ids"} {
			if strings.Contains(text, "sandglass "+foreign) || strings.Contains(text, foreign+" ids") || strings.Contains(text, "docker ") {
				t.Errorf("%s: advice of another platform: %s", name, text)
			}
		}
		for _, check := range d.Checks {
			if strings.Contains(" no-checkpoint jobs wake resume reaped ", " "+check.Name+" ") {
				t.Errorf("%s: asks %s", name, check.Question)
			}
		}
	}
}

func failedVerdict(p backend.Plane, k backend.FailureKind) backend.Verdict {
	return backend.Verdict{Plane: p, Outcome: backend.OutcomeFailed, Kind: k, At: before(time.Second)}
}
