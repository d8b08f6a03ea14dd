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

// TestADestroyOfOursStandsOnItsPages: of the sandbox, and of what is joined to it.
func TestADestroyOfOursStandsOnItsPages(t *testing.T) {
	f := frameWith()
	b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("bbbb")}}, Class: backend.SandboxExited}
	gone := b.WithObserved([]backend.Verdict{backend.DestroyedVerdict(f.Now.Add(-time.Minute), backend.Text("destroyed by eve"))})
	for name, draw := range map[string]func(*writer, *backend.Sandbox){"sandbox": (*writer).sandbox, "joined": func(w *writer, b *backend.Sandbox) { w.sandboxList([]*backend.Sandbox{b}) }} {
		for box, want := range map[*backend.Sandbox]bool{b: false, gone: true} {
			w := &writer{Doc: &kit.Doc{}, f: f}
			draw(w, box)
			if lines := strings.Join(w.Doc.Layout(f.Theme, 200), "\n"); strings.Contains(lines, "destroyed by eve through Sandglass at ") != want || strings.Contains(lines, "its files are gone") != want {
				t.Errorf("%s, destroyed %t:\n%s", name, want, lines)
			}
		}
	}
}
