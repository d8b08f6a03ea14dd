package browse

import (
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// The first value of a processor's use, and each larger one, moves no column sideways.
func TestAFigureThatComesMovesNoColumn(t *testing.T) {
	draw := func(cpu backend.Value[float64]) []slot {
		box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("c1")}},
			Name: backend.Text("web"), Reported: backend.Text("running"), Class: backend.SandboxRunning,
			Usage: backend.Known(backend.Usage{CPU: cpu, Mem: backend.Known(int64(300 << 20)), MemLimit: backend.NotApplicable[int64]()})}
		f := &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), &fleet.State{Number: 1, Sandboxes: fleet.NewTable(box)}, nil),
			Theme: theme.New(theme.NoColours, theme.ASCII), Summary: &views.Summary{}}
		l := New(Config[*backend.Sandbox]{Set: subjects.Sandboxes(), Kinds: []backend.Kind{backend.KindSandbox}, Follows: true})
		l.Render(120, 20, f)
		return l.slotted
	}
	before := draw(backend.Unknown[float64]())
	for _, cores := range []float64{0.001, 0.125, 0.99, 1.5} {
		after := draw(backend.Known(cores))
		if len(after) != len(before) {
			t.Fatalf("%d columns, %d before", len(after), len(before))
		}
		for i := range after {
			if after[i].Slot != before[i].Slot {
				t.Errorf("at %g cores column %d stands at %d, %d wide; before at %d, %d wide", cores, i, after[i].X, after[i].Width, before[i].X, before[i].Width)
			}
		}
	}
}
