package prometheus

import (
	"fmt"
	"strings"
	"testing"

	"sandglass/backend"
)

// maxCounts bounds what a process leaves to the next one.
const maxCounts = 2000

// manyPage is a page whose counter has a label set for each of n pods.
func manyPage(n, evictions int) string {
	var b strings.Builder
	b.WriteString("# TYPE helix_workspace_evictions_total counter\n")
	for i := range n {
		fmt.Fprintf(&b, "helix_workspace_evictions_total{provider=\"x\",session=\"s%d\"} %d\n", i, evictions)
	}
	return b.String()
}

// TestProcessesWatchManyLabelSetsTogether: what rose between two looks is counted also of thousands of label sets; of more than
// can be remembered nothing is, and the later process says that it looks for the first time.
func TestProcessesWatchManyLabelSetsTogether(t *testing.T) {
	for n, want := range map[int]float64{3000: 6000, 20_001: 0} {
		r := newRig(t, func(o *Options) { o.MaxSeries = 30_000; o.Labels.Session = "session" })
		x := r.poll(manyPage(n, 5))
		for range 3 {
			r.another(x)
			x = r.poll(manyPage(n, 5))
		}
		for i := range 2 {
			r.another(x)
			x = r.poll(manyPage(n, 6+i))
		}
		got, readings := 0.0, map[int64]bool{}
		for _, c := range x.Counts {
			if c.Series.Name == backend.MetricEvictions {
				got += c.N
				readings[c.At.UnixNano()] = true
			}
		}
		if got != want || want > 0 && len(readings) < 2 || want == 0 && len(readings) != 1 {
			t.Errorf("%d label sets: rose by %v in %d readings", n, got, len(readings))
		}
		if b := x.Bookmarks[0].Counters; len(b.Counts) > maxCounts {
			t.Errorf("%d counts are kept", len(b.Counts))
		}
	}
}
