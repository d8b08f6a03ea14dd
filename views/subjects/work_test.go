package subjects

import (
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// The work of a session says in which sandbox it runs, and leads there.
func TestWorkOfASessionNamesItsSandbox(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("0a1b")}
	run := func(id, sandbox string) *backend.Execution {
		return &backend.Execution{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindExecution, Source: "helix", Parent: backend.MustID("s1"), ID: backend.MustID(id)}},
			Work: backend.Work{Within: backend.KindSession, Session: backend.MustID("s1"), Sandbox: backend.MustID(sandbox)}}
	}
	here, gone := run("here", "0a1b"), run("gone", "9f9f")
	st := &fleet.State{Executions: fleet.NewTable(gone, here),
		Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}, Name: backend.Text("web-eval-12"), Reported: backend.Text("running")})}
	f := &views.Frame{Snapshot: views.NewSnapshot(noon, st, nil), Theme: theme.New(theme.NoColours, theme.ASCII)}
	page := func(e *backend.Execution) (string, []backend.Key) {
		doc, links := Doc(e.Key, f)
		return strings.Join(doc.Layout(f.Theme, 100), "\n"), links
	}
	if text, links := page(here); !strings.Contains(text, "web-eval-12") || !slices.Contains(links, box) {
		t.Errorf("no way to the sandbox, links %v:\n%s", links, text)
	}
	if text, _ := page(gone); !strings.Contains(text, "9f9f") {
		t.Errorf("the sandbox that no source lists is not named:\n%s", text)
	}
}
