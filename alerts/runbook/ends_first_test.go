package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAnExpiringPageSaysWhatEndsFirst: the page of an alert about several names the end of its first subject, the page of one its own.
func TestAnExpiringPageSaysWhatEndsFirst(t *testing.T) {
	for _, c := range []struct {
		n    int
		left time.Duration
		says string
	}{
		{3, 5*time.Minute + 30*time.Second, "soon: the first ends at " + now.Add(330*time.Second).UTC().Format("15:04:05Z") + ", in 5m."},
		{1, 100 * time.Second, "soon: it ends at " + now.Add(100*time.Second).UTC().Format("15:04:05Z") + ", in 1m."},
		{1, -time.Second, "soon: it ends at " + now.Add(-time.Second).UTC().Format("15:04:05Z") + ", which has passed."},
	} {
		w, a := grouped("sandbox-expiring", c.n, 0)
		a.State = alerts.StateFiring
		w.sandboxes[0].ExpiresAt = now.Add(c.left)
		d := w.page(a)
		if !strings.Contains(d.Conclusion.String(), c.says) {
			t.Errorf("of %d: %s", c.n, d.Conclusion)
		}
		if !strings.Contains(backend.Join(d.Do, "\n").String(), "rescue b0.") {
			t.Errorf("of %d, first: %v", c.n, d.Do)
		}
	}
}
