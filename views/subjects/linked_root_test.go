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

// TestALinkedRootSaysWhatToDoInstead on the page of its sandbox, also where no alert names it; the page of an alert says it itself.
func TestALinkedRootSaysWhatToDoInstead(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		what    backend.Literal
		alerted bool
		want    bool
	}{
		"a link":            {backend.RootIsLink + "/mnt/d, and has 3 entries", false, true},
		"an alert names it": {backend.RootIsLink + "/mnt/d, and has 3 entries", true, false},
		"no link":           {"/workspace has 3 entries", false, false},
	} {
		b := &backend.Sandbox{Provider: backend.Text("cloudflare"), Class: backend.SandboxRunning, IsSandbox: true, Name: backend.Text("demo")}
		b.Key = backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("demo")}
		b = b.WithObserved([]backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: noon, What: backend.Text(x.what)}})
		board := &alerts.Board{}
		if x.alerted {
			board.Alerts = []*alerts.Alert{{ID: "a1", Rule: "contradiction", Source: "cf", State: alerts.StateFiring, Since: noon, SubjectCount: 1, Subjects: []alerts.Subject{{Key: b.Key, State: alerts.StateFiring, Since: noon}}}}
		}
		f := &views.Frame{Theme: theme.New(theme.NoColours, theme.Unicode), Snapshot: views.NewSnapshot(noon, &fleet.State{Number: 1, Wall: noon, Sandboxes: fleet.NewTable(b)}, board)}
		doc, _ := Doc(b.Key, f)
		text := strings.Join(strings.Fields(strings.Join(doc.Layout(f.Theme, 120), " ")), " ")
		if strings.Contains(text, "copy from the mount at start") != x.want || x.want && !strings.Contains(text, "no transparent persistence") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}
