package alerts

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// The home screen opens on what hurts most, and its lines keep their places while numbers change a little.
func TestWhatHurtsMostStandsFirst(t *testing.T) {
	began := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return began.Add(time.Duration(minutes) * time.Minute) }
	firing := func(id string, s Severity, subjects, active, latest int) *Alert {
		return &Alert{ID: id, State: StateFiring, Severity: s, SubjectCount: subjects, Active: at(active), Bounds: Bounds{Latest: at(latest)}}
	}
	storm := firing("storm", SeverityCritical, 212, 30, 30)
	outage := firing("outage", SeverityCritical, 1, 31, 31)
	outage.Inhibits = 100
	held := firing("held", SeverityCritical, 400, 0, 0)
	held.State = StateHeld
	suspected := firing("suspected", SeverityCritical, 400, 0, 0)
	suspected.State = StatePending
	undated := firing("undated", SeverityCritical, 3, 20, 0)
	undated.Bounds = Bounds{}
	want := []*Alert{
		storm, outage, firing("9 for long", SeverityCritical, 9, 10, 5), firing("9 since later", SeverityCritical, 9, 20, 2), undated,
		firing("2 since then", SeverityCritical, 2, 20, 1), firing("one, the oldest", SeverityCritical, 1, 0, 0), held, suspected,
		firing("a warning of many", SeverityWarning, 5000, 0, 0),
	}
	names := func(list []*Alert) string {
		var out []string
		for _, a := range list {
			out = append(out, a.ID)
		}
		return strings.Join(out, ", ")
	}
	got := slices.Clone(want)
	slices.SortFunc(got, func(a, b *Alert) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(got, compareAlerts)
	if names(got) != names(want) {
		t.Errorf("%s\nwant %s", names(got), names(want))
	}
}
