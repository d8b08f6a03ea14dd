package runbook

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestAContainerBehindAWorker: each fault of it has its own conclusion and cure; no step names a container engine, and a repair is
// advised only where it cures.
func TestAContainerBehindAWorker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault             backend.FailureKind
		says, does, never string
	}{
		{backend.FailWorkDirMissing, "working directory is missing", "sandglass repair b", "destroy b"},
		{backend.FailWorkDirDangling, "link to nothing", "copy from the mount at start", "destroy b"},
		{backend.FailServerDir, "A repair does not help", "sandglass destroy b", "repair b"},
		{backend.FailServerFrozen, "answers nothing", "sandglass destroy b", "repair b"},
		{"", "What was tried in it fails", "sandglass probe b", "repair b"},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region = backend.Text("cloudflare"), backend.Text("EEUR")
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: c.fault, At: now, What: backend.Text("as it was answered")}})
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		var steps []string
		for _, l := range append(d.Do, d.Dont...) {
			steps = append(steps, l.String())
		}
		all := strings.Join(steps, "\n")
		if !strings.Contains(d.Conclusion.String(), c.says) || !strings.Contains(all, c.does) || strings.Contains(all, c.never) || strings.Contains(all, "docker") {
			t.Errorf("%q: %s\n%s", c.fault, d.Conclusion, all)
		}
	}
}
