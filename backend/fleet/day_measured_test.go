package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// The first minute that was read and the newest one count with what was read of them.
func TestMeasuredMinutes(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 25, 0, time.UTC)
	series := backend.Series{Source: "prom", Name: backend.MetricEvictions}
	var counts []backend.Count
	for at := noon.Add(-2*time.Minute - 5*time.Second); !at.After(noon.Add(-5 * time.Second)); at = at.Add(10 * time.Second) { // 11:58:20 to 12:00:20
		counts = append(counts, backend.Count{Series: series, At: at, N: 20})
	}
	d, l := NewDay(noon, counts...), Line{Source: "prom", Name: LineName(backend.MetricEvictions)}
	values, read := d.Parts(l, noon, 5*time.Minute, 5), d.Measured(l, noon, 5*time.Minute, 5, 10*time.Second)
	for i, want := range []time.Duration{0, 0, 40 * time.Second, time.Minute, 30 * time.Second} {
		n, known := values[i].Get()
		if read[i] != want || known != (want > 0) || known && n/want.Seconds() != 2 {
			t.Errorf("part %d: %v in %v, want %v", i, values[i], read[i], want)
		}
	}
	if whole := d.Measured(l, noon, 5*time.Minute, 1, 10*time.Second); whole[0] != 130*time.Second {
		t.Errorf("in all %v", whole)
	}
	one := NewDay(noon, counts[0])
	if got := one.Measured(l, counts[0].At, time.Hour, 60, 10*time.Second); got[59] != 10*time.Second {
		t.Errorf("a single count is about %v", got[59])
	}
}
