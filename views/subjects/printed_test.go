package subjects

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
)

// TestPrintedTextNamesNoKeys: neither keys nor screens, which a command's output does not have.
func TestPrintedTextNamesNoKeys(t *testing.T) {
	f := frameWith()
	f.Summary = views.Summarise(f.Snapshot)
	gone := backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s1"), ID: backend.MustID("box")}
	source := f.State.Sources[0].Key
	for state, about := range map[alerts.AlertState]backend.Key{alerts.StateFiring: gone, alerts.StatePending: gone, alerts.StateHeld: source, alerts.StateEnded: gone} {
		f.Board.Alerts = append(f.Board.Alerts, &alerts.Alert{ID: "a" + string(state), Rule: "failed-too-long", Source: "helix", Runbook: "1", State: state, Cause: backend.Text("boom"),
			Subjects: []alerts.Subject{{Key: about, State: state}}, SubjectCount: 1})
	}
	text := func() string {
		var all []string
		add := func(d *kit.Doc) { all = append(all, d.Print(f.Theme, 400)...) }
		for _, a := range f.Board.Alerts {
			d, _ := Doc(views.AlertKey(a), f)
			add(d)
		}
		d, _ := Doc(gone, f)
		add(d)
		page, _ := PageOf(source, f)
		d, _ = page.Doc(f)
		add(d)
		return strings.Join(all, "\n")
	}
	hints := []string{"esc goes", "[ and ]", "tab goes", "enter shows", "R runbook", "9 Sources"}
	shown := text()
	f.Printed = true
	printed := text()
	for _, hint := range hints {
		if strings.Contains(printed, hint) {
			t.Errorf("%q is printed:\n%s", hint, printed)
		}
	}
	if !strings.Contains(shown, "esc goes") || !strings.Contains(shown, "tab goes") {
		t.Errorf("a screen has no hints:\n%s", shown)
	}
}
