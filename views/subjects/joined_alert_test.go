package subjects

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// TestTheAlertOfItsSandboxNamesASession and its workspace, but no other workspace; its page is the container's.
func TestTheAlertOfItsSandboxNamesASession(t *testing.T) {
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "dk", ID: backend.MustID("0bd053f6")}, ReadAt: noon}, Name: backend.Text("exitone"), IsSandbox: true,
		Session: backend.MustID("s1"), Workspace: backend.MustID("box")}
	session := backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID("s1")}
	ws := func(name string) backend.Key {
		return backend.Key{Kind: backend.KindWorkspace, Source: "h", Parent: session.ID, ID: backend.MustID(name)}
	}
	st := (&fleet.State{Wall: noon, Sessions: fleet.NewTable(&backend.Session{Meta: backend.Meta{Key: session, ReadAt: noon}}),
		Workspaces: fleet.NewTable(&backend.Workspace{Meta: backend.Meta{Key: ws("box"), ReadAt: noon}}, &backend.Workspace{Meta: backend.Meta{Key: ws("other"), ReadAt: noon}})}).WithSandboxes(fleet.NewTable(box))
	board := &alerts.Board{Alerts: []*alerts.Alert{{ID: "a1", Rule: "sandbox-exited", Source: "dk", Runbook: "container", State: alerts.StateFiring, Severity: alerts.SeverityWarning,
		Cause: backend.Text("ended with an error"), Subjects: []alerts.Subject{{Key: box.Key, State: alerts.StateFiring}}, SubjectCount: 1}}}
	f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, board), Theme: theme.New(theme.NoColours, theme.ASCII)}
	for k, named := range map[backend.Key]bool{session: true, ws("box"): true, ws("other"): false} {
		p, _ := PageOf(k, f)
		if (p.Incident == "container" && p.Subject == box.Key && strings.Contains(p.Why, "its sandbox exitone")) != named {
			t.Errorf("%s: page %s, %s", k.Safe(), p.Incident, p.Why)
		}
		doc, _ := Doc(k, f)
		if text := strings.Join(doc.Layout(f.Theme, 200), "\n"); strings.Contains(text, "sandbox-exited") != named {
			t.Errorf("%s: %s", k.Safe(), text)
		}
	}
}
