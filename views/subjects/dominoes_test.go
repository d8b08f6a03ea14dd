package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// The alerts of one incident are told by when they began, with the changes between them; one that is alone has no such list.
func TestAnIncidentIsToldByWhatBeganFirst(t *testing.T) {
	change := backend.Event{Kind: backend.EventChange, At: noon.Add(-4 * time.Minute), Source: "helix", Name: "rollout", Text: backend.Text("agent-eu restarted (14 of 14)")}
	early := change
	early.At, early.Text = noon.Add(-40*time.Minute), backend.Text("an older deploy")
	board, _ := alerts.NewEngine(rules.Defaults(), "prod").Next(nil, &fleet.State{Number: 1, Wall: noon, Events: []backend.Event{early, change}})
	of := func(rule string, ago time.Duration) *alerts.Alert {
		return &alerts.Alert{ID: rule, Rule: rule, Source: "helix", Severity: alerts.SeverityWarning, State: alerts.StateFiring, Fingerprint: "v3:1", SubjectCount: 1,
			Bounds: alerts.Bounds{Latest: noon.Add(-ago)}, Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindWorkspace, Source: "helix", ID: backend.MustID("w")}}}}
	}
	late, first := of("failed-too-long", 3*time.Minute), of("hammered-and-failing", 5*time.Minute)
	board.Alerts = []*alerts.Alert{late, first}
	c := views.NewSnapshot(noon, &fleet.State{}, board)
	if rows := c.InOutages(); rows[0] != first || !c.Under(late) {
		t.Errorf("the first domino does not stand before what fell later: %s, %s", rows[0].Rule, rows[1].Rule)
	}
	f := &views.Frame{Snapshot: c, Theme: theme.New(theme.NoColours, theme.ASCII)}
	w := &writer{Doc: &kit.Doc{}, f: f}
	w.dominoes(late)
	text := plainText(w.Doc)
	at := func(s string) int { return strings.Index(text, s) }
	if !(at("hammered-and-failing") >= 0 && at("hammered-and-failing") < at("change  agent-eu restarted") && at("change  agent-eu restarted") < at("failed-too-long")) ||
		at("older deploy") >= 0 || at("this alert") < at("failed-too-long") || len(w.links) != 1 {
		t.Errorf("links %v:\n%s", w.links, text)
	}
	board.Alerts = []*alerts.Alert{late}
	f.Snapshot = views.NewSnapshot(noon, &fleet.State{}, board)
	w = &writer{Doc: &kit.Doc{}, f: f}
	if w.dominoes(late); w.Len() > 0 {
		t.Errorf("an alert that is alone:\n%s", plainText(w.Doc))
	}
}
