package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestStormBetweenTwoProcesses: `check` from cron watches as one process does, where its runs lie close enough together.
func TestStormBetweenTwoProcesses(t *testing.T) {
	const all, lost = 40, 30
	for _, c := range []struct {
		name  string
		pause time.Duration
		fires bool
		text  string
	}{
		{"every 18 seconds", 18 * time.Second, true, "at least 30 evictions in 5m"},
		{"every 5 minutes", 5 * time.Minute, true, "at least 30 evictions in 5m"},
		{"every 10 minutes", 10 * time.Minute, true, "at least 30 evictions since 12:00:00Z"},
		{"at the limit", 15 * time.Minute, true, "at least 30 evictions since 12:00:00Z"},
		{"every 16 minutes", 16 * time.Minute, false, ""},
		{"every 72 hours", 72 * time.Hour, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, stormRule)
			for i := range all {
				s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "open", attempt: 8 * time.Second, success: 8 * time.Second})
			}
			s.look()
			s.off(c.pause)
			for i := range lost {
				s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "evicted", err: "WorkspaceEvictedError: sandbox instance is gone", attempt: time.Second, success: c.pause + 8*time.Second})
			}
			s.look()
			a := s.want(stormRule, alerts.StatePending)
			if c.fires != strings.Contains(a.Why.String(), "lasted 1m") {
				t.Errorf("it waits for: %s", a.Why)
			}
			if c.fires {
				wantEvidence(t, a, c.text)
			}
			for range 4 { // nothing is tried again
				s.off(c.pause)
				for i := range lost {
					s.edit(fmt.Sprintf("s%02d/box", i), func(*backend.Workspace) {})
				}
				s.look()
			}
			if !c.fires {
				for _, a := range s.alerts(stormRule) {
					if a.State != alerts.StatePending {
						t.Errorf("%s is %s by evictions that no process watched", a.ID, a.State)
					}
				}
				return
			}
			wantEvidence(t, s.want(stormRule, alerts.StateFiring), "30 of 40 workspaces are evicted now, in 30 sessions")
		})
	}
}
