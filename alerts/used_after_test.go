package alerts

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestUsedAfter: a use that may be a probe's own tells nothing, nor does one within the minute that clocks may differ by.
func TestUsedAfter(t *testing.T) {
	end := time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		end, used, probed time.Time
		want              bool
	}{
		"later":         {end, end.Add(2 * time.Minute), time.Time{}, true},
		"at the end":    {end, end.Add(time.Minute), time.Time{}, false},
		"not told":      {end, time.Time{}, time.Time{}, false},
		"no end known":  {time.Time{}, end, time.Time{}, false},
		"a probe":       {end, end.Add(2 * time.Minute), end.Add(2 * time.Minute), false},
		"probed before": {end, end.Add(2 * time.Minute), end.Add(-time.Hour), true},
	} {
		b := &backend.Sandbox{}
		b.LastUsedAt = c.used
		if !c.probed.IsZero() {
			b = b.WithObserved([]backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: c.probed, Inside: &backend.Inside{At: c.probed}}})
		}
		if got := UsedAfter(b, c.end); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
