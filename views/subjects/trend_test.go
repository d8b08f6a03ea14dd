package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views/kit"
)

// Evidence that knows how its number went is drawn with that.
func TestEvidenceShowsItsTrend(t *testing.T) {
	f := frameWith()
	w := &writer{Doc: &kit.Doc{}, f: f}
	w.evidence(&alerts.Alert{Source: "helix", Evidence: []alerts.Evidence{
		{Text: backend.Text("memory before: grew"), Source: "prom", Trend: []float64{1, 2, 4, 8}, TrendSpan: 20 * time.Minute},
		{Text: backend.Text("nothing but words"), Source: "helix"},
	}}, nil)
	lines := strings.Join(w.Doc.Layout(f.Theme, 100), "\n")
	if !strings.Contains(lines, "_.-#") || !strings.Contains(lines, "20m") {
		t.Errorf("no trend in\n%s", lines)
	}
	if strings.Count(lines, "20m") != 1 {
		t.Errorf("a trend where there is none:\n%s", lines)
	}
}

// TestEvidenceOfAHeldAlertIsDated: a figure that was not read again must not look like one of now.
func TestEvidenceOfAHeldAlertIsDated(t *testing.T) {
	f := frameWith()
	for state, dated := range map[alerts.AlertState]bool{alerts.StateHeld: true, alerts.StateFiring: false} {
		w := &writer{Doc: &kit.Doc{}, f: f}
		w.evidence(&alerts.Alert{Source: "helix", State: state, Evidence: []alerts.Evidence{
			{Text: backend.Text("evictions 0.6/s"), Value: backend.Known(0.6), Unit: "evictions/s", Source: "helix", At: noon.Add(-12 * time.Minute)},
			{Text: backend.Text("only words"), Source: "helix", At: noon.Add(-12 * time.Minute)},
		}}, nil)
		lines := strings.Join(w.Doc.Layout(f.Theme, 100), "\n")
		if n := strings.Count(lines, "measured 12m ago"); n != map[bool]int{true: 1}[dated] {
			t.Errorf("%s:\n%s", state, lines)
		}
	}
}
