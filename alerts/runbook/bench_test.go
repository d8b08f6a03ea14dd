package runbook

import (
	"fmt"
	"testing"

	"sandglass/backend"
)

// BenchmarkDiagnoseStorm is what a screen pays for the diagnosis beside a selected storm.
func BenchmarkDiagnoseStorm(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		w := world{}
		for i := range n {
			w.workspaces = append(w.workspaces, broken(fmt.Sprintf("s%06d", i), "box", backend.ClassEvicted, fmt.Sprintf("sandbox sbx_%06d: max_instances reached", i)))
		}
		one := w.about(wsKey("s000007", "box"))
		b.Run(fmt.Sprint("one of ", n), func(b *testing.B) {
			for b.Loop() {
				if d := one.Diagnose("1"); d.Mark("quota") != Confirmed {
					b.Fatal("the quota is not found")
				}
			}
		})
		c := w.about(sourceKeyOf("helix-eu"))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if d := c.Diagnose("7"); d.Mark("quota") != Confirmed {
					b.Fatal("the quota is not found")
				}
			}
		})
	}
}
