package scenario_test

import (
	"testing"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/alerts/runbook/runbooktest"
	"sandglass/backend/fleet"
)

// TestDiagnosesAgreeWithTheirAlerts plays every scenario with all rules and compares the page of each alert with it.
func TestDiagnosesAgreeWithTheirAlerts(t *testing.T) {
	compared := map[string]bool{}
	for _, f := range files(t) {
		for i := range f.Scenarios {
			s := f.Scenarios[i]
			all := rules.Defaults()
			s.Rules = nil
			for _, r := range all {
				s.Rules = append(s.Rules, r.Meta().Name)
			}
			told := map[string]bool{}
			if err := s.RunSeen(all, func(st *fleet.State, b *alerts.Board) {
				for _, a := range b.Alerts {
					compared[a.Rule] = compared[a.Rule] || a.State == alerts.StateFiring && a.Runbook != ""
					for _, what := range runbooktest.Differences(st, b, a) {
						if !told[a.Rule+what] {
							told[a.Rule+what] = true
							t.Errorf("%s, %q: %s", f.Name, s.Name, what)
						}
					}
				}
			}); err != nil {
				t.Error(err)
			}
		}
	}
	if len(compared) < 8 {
		t.Errorf("alerts of %d rules only were compared: %v", len(compared), compared)
	}
}

// agrees compares the page of an alert that begins to fire with it.
func (r *noisyRun) agrees(st *fleet.State, a *alerts.Alert) {
	if r.firing[a.ID] {
		return
	}
	for _, what := range runbooktest.Differences(st, r.board, a) {
		r.t.Errorf("at %s: %s", st.Wall.Format("15:04:05"), what)
	}
}
