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

// TestTheCountsOfAnApplication: a limit of 0 bounds nothing that runs, what failed is told, and what is not counted is no 0.
func TestTheCountsOfAnApplication(t *testing.T) {
	t.Parallel()
	for want, x := range map[string]backend.Pool{
		"2 run, limit 0, 2 failed, unhealthy":              {Used: backend.Known(2), Limit: backend.Known(0), Failed: backend.Known(2), Health: backend.Text("unhealthy")},
		"unknown how many run, 1 starting, 2 failed":       {Limit: backend.Known(4), Starting: backend.Known(1), Failed: backend.Known(2)},
		"0 of 4 run, unhealthy":                            {Used: backend.Known(0), Limit: backend.Known(4), Health: backend.Text("unhealthy")},
		"unknown how many run, limit not applicable, well": {Limit: backend.NotApplicable[int](), Health: backend.Text("well")},
	} {
		d := &kit.Doc{}
		x.ID, x.Name = backend.MustID("a"), backend.Text("agents")
		pools(d, &fleet.SourceHealth{Pools: []backend.Pool{x}}, &views.Frame{Snapshot: &views.Snapshot{}})
		if said := strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[m", "").Replace(strings.Join(d.Print(theme.New(theme.NoColours, theme.Unicode), 120), "\n")); !strings.Contains(said, want) || strings.Contains(said, "of 0") || strings.Contains(said, "0 failed") {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
}

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
