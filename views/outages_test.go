package views

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// Alerts of one outage follow each other, the cause first; what has another cause keeps its place by severity.
func TestAlertsOfOneOutageStandTogether(t *testing.T) {
	subjects := func(names string) (out []alerts.Subject) {
		for _, n := range strings.Fields(names) {
			out = append(out, alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "eu", Parent: backend.MustID("s"), ID: backend.MustID(n)}})
		}
		return out
	}
	alert := func(rule, fingerprint string, s alerts.Severity, state alerts.AlertState, names string) *alerts.Alert {
		return &alerts.Alert{ID: rule + fingerprint + names, Rule: rule, Fingerprint: fingerprint, Severity: s, State: state, Subjects: subjects(names)}
	}
	const critical, warning, firing, pending = alerts.SeverityCritical, alerts.SeverityWarning, alerts.StateFiring, alerts.StatePending
	folded := alert("failed-too-long", "4", critical, firing, "z")
	board := &alerts.Board{Alerts: []*alerts.Alert{
		alert("eviction-storm", "1", critical, firing, "a b c d"),
		alert("ref-mismatch", "2", critical, firing, "x"),
		alert("capacity", "3", critical, firing, "b c d e"),
		folded,
		alert("eviction-storm", "1", critical, pending, "p"),
		alert("wont-terminate", "5", warning, firing, "y"),
		alert("hammered-and-failing", "6", warning, firing, "e d"),
		alert("hammered-and-failing", "7", warning, firing, "a u w v"),
	}}
	folded.InhibitedBy = board.Alerts[1].ID
	c := NewSnapshot(board.At, nil, board)
	var got []string
	for _, a := range c.InOutages() {
		sign := ""
		if c.Under(a) {
			sign = ">"
		}
		got = append(got, sign+a.Rule+a.Fingerprint)
	}
	const want = "capacity3 >eviction-storm1 >eviction-storm1 >hammered-and-failing6 ref-mismatch2 wont-terminate5 hammered-and-failing7"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("%s\nwant %s", s, want)
	}
}
