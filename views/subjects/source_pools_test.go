package subjects

import (
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// TestTheLimitOfAnApplication: one that a Durable Object manages has no limit of its own to compare with, which is not called none.
func TestTheLimitOfAnApplication(t *testing.T) {
	t.Parallel()
	for want, limit := range map[string]backend.Value[int]{"2 run, limit not applicable": backend.NotApplicable[int](), "2 run, limit unknown": backend.Unknown[int](), "2 of 4 run": backend.Known(4)} {
		d := &kit.Doc{}
		pools(d, &fleet.SourceHealth{Pools: []backend.Pool{{ID: backend.MustID("a"), Name: backend.Text("agents"), Used: backend.Known(2), Limit: limit}}}, &views.Frame{Snapshot: &views.Snapshot{}})
		if said := strings.Join(d.Print(theme.New(theme.NoColours, theme.Unicode), 120), "\n"); !strings.Contains(said, want) || strings.Contains(said, "no limit") {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
}
