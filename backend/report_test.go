package backend

import (
	"testing"
	"time"
)

// TestReportsAreBounded: old reports go, and of many the newest stay.
func TestReportsAreBounded(t *testing.T) {
	now := time.Date(2026, 4, 4, 1, 0, 0, 0, time.UTC)
	var many []Report
	for i := range 3 * MaxReports {
		many = append(many, Report{At: now.Add(-time.Duration(i) * time.Second)})
	}
	kept := KeepReports([]Report{{At: now.Add(-2 * ReportsFor)}}, many, now)
	if len(kept) != MaxReports || !kept[len(kept)-1].At.Equal(now) || kept[0].At.Before(now.Add(-MaxReports*time.Second)) {
		t.Errorf("%d reports from %s to %s", len(kept), kept[0].At, kept[len(kept)-1].At)
	}
	if got := HubSeconds(Text("did not connect within 120000ms, tried every 250ms, 5000 ms later")).String(); got != "did not connect within 120 s, tried every 250ms, 5 s later" {
		t.Errorf("in seconds: %s", got)
	}
}
