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
	for i := range 2 * MaxJoins { // joins do not crowd out what failed
		many = append(many, Report{Kind: ReportJoin, At: now.Add(-time.Duration(i) * time.Millisecond)})
	}
	joins := 0
	kept = KeepReports(nil, many, now)
	for _, r := range kept {
		if r.Kind == ReportJoin {
			joins++
		}
	}
	if joins != MaxJoins || len(kept) != MaxJoins+MaxReports || kept[0].At.Before(now.Add(-MaxReports*time.Second)) {
		t.Errorf("%d joins of %d reports from %s", joins, len(kept), kept[0].At)
	}
	for i := range 3 { // of the commands that ran in a session the newest stays
		many = append(many, Report{Kind: ReportCommandGood, Session: MustID("sandbox-a"), At: now.Add(-time.Duration(i) * time.Minute)})
	}
	if good := KeepReports(nil, many, now); len(good) != len(kept)+1 || good[len(good)-1].Kind == ReportCommandGood && !good[len(good)-1].At.Equal(now) {
		t.Errorf("%d reports, before %d", len(good), len(kept))
	}
	for text, want := range map[string]string{
		"did not connect within 120000ms, tried every 250ms, 5000 ms later":                                                        "did not connect within 120 s, tried every 0.25 s, 5 s later",
		"did not connect within 2m0s (120_000 milliseconds, 120,000ms), 2 minutes":                                                 "did not connect within 120 s (120 s, 120 s), 120 s",
		"did not connect within 1m30.5s or 90 seconds or 1.5 sec":                                                                  "did not connect within 90.5 s or 90 s or 1.5 s",
		"did not connect within 120 s at 2026-04-04T01:05:00Z, 500 Internal Server Error in sbx_50445cf9266f, 3 sandboxes, 2 more": "did not connect within 120 s at 2026-04-04T01:05:00Z, 500 Internal Server Error in sbx_50445cf9266f, 3 sandboxes, 2 more",
	} {
		if got := HubSeconds(Clean(text, 400)).String(); got != want {
			t.Errorf("in seconds: %s, want %s", got, want)
		}
	}
	for text, want := range map[string]time.Duration{"driver did not connect within 120000ms": 2 * time.Minute, "driver did not connect within 2m0s": 2 * time.Minute,
		"driver did not connect within 120 seconds": 2 * time.Minute, "driver did not connect within limits": 0} {
		if r, ok := HubText(text); !ok || r.Limit != want {
			t.Errorf("%s: %v", text, r.Limit)
		}
	}
}
