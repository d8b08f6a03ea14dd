package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/views/kit"
)

// A sandbox's details say since when its health check fails, and how far that can be known.
func TestSandboxSaysSinceWhenItsHealthCheckFails(t *testing.T) {
	f := frameWith()
	ago := func(d time.Duration) time.Time { return f.Now.Add(-d) }
	for _, c := range []struct {
		checks backend.Value[backend.HealthChecks]
		want   string // empty: nothing
	}{
		{backend.Known(backend.HealthChecks{Checked: f.Now, Failed: 80, FailingBy: ago(40 * time.Minute)}), "40m ago; 80 checks in a row, none before is remembered"},
		{backend.Known(backend.HealthChecks{Checked: f.Now, Failed: 1, FailingBy: ago(2 * time.Minute), Passed: ago(3 * time.Minute)}), "2m to 3m ago (between 11:57:00Z and 11:58:00Z)"},
		{backend.Known(backend.HealthChecks{Checked: ago(20 * time.Second), Passed: ago(21 * time.Second)}), "20s ago"},
		{backend.Unknown[backend.HealthChecks](), ""},
	} {
		w := &writer{Doc: &kit.Doc{}, f: f}
		w.checks(&backend.Sandbox{Health: backend.Known(backend.Text("unhealthy")), HealthChecks: c.checks, StartedAt: backend.Known(ago(3 * time.Hour))})
		lines := strings.Join(w.Doc.Layout(f.Theme, 120), "\n")
		if !strings.Contains(lines, c.want) || c.want == "" && strings.TrimSpace(lines) != "" {
			t.Errorf("%+v: want %q in\n%s", c.checks, c.want, lines)
		}
	}
}
