package subjects

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
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

// TestPrintedDiagnosesQuoteWhole: a screen shortens what an error says, a command's output does not.
func TestPrintedDiagnosesQuoteWhole(t *testing.T) {
	const full = "max_instances reached (60/60 in use, request c6a1f0b2, region weur)"
	var failed []*backend.Workspace
	a := &alerts.Alert{ID: "a", Rule: "failed-too-long", Source: "helix", Runbook: "1", State: alerts.StateFiring, Cause: backend.Text("boom")}
	for i, text := range []backend.Literal{full, full, "sandbox instance i-ec50af2c is gone", "boom"} {
		k := backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID("s"), ID: backend.MustID(string(rune('a' + i)))}
		failed = append(failed, &backend.Workspace{Meta: backend.Meta{Key: k, ReadAt: noon}, Class: backend.ClassFailed, Reported: backend.Text("failed"), LastError: backend.Text(text)})
		a.Subjects = append(a.Subjects, alerts.Subject{Key: k, State: alerts.StateFiring})
	}
	a.SubjectCount = len(a.Subjects)
	f := frameWith()
	f.State.Workspaces, f.Board.Alerts = fleet.NewTable(failed...), []*alerts.Alert{a}
	page, ok := PageOf(views.AlertKey(a), f)
	d := runbook.Case{State: f.State, Board: f.Board, Subject: page.Subject, Alert: a.ID}.Diagnose("1")
	f.Diagnoses = map[views.Question]*runbook.Diagnosis{page.Question: &d}
	text := func() string {
		doc, _ := page.Doc(f)
		return strings.Join(strings.Fields(ansi.Strip(strings.Join(doc.Print(f.Theme, 400), "\n"))), " ")
	}
	if shown := text(); !ok || strings.Contains(shown, "2 of 4 errors: "+full) || !strings.Contains(shown, "request c6.); 1: ") {
		t.Errorf("on a screen:\n%s", shown)
	}
	f.Printed = true
	if printed := text(); !strings.Contains(printed, "2 of 4 errors: "+full+"; 1: ") {
		t.Errorf("printed:\n%s", printed)
	}
}
