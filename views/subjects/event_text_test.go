package subjects

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// An event without room for its whole text leaves out what other columns say; no sentence of ours is cut in its middle.
func TestEventsFitWithoutACut(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("c1")}
	for _, x := range []struct {
		event backend.Event
		about string
		width int
		want  string
	}{
		{backend.Event{Kind: backend.EventPlatform, Name: "health_status", Subject: box, Text: backend.Text("container helix-box-e0ec09 is unhealthy by its health check")}, "helix-box-e0ec09", 54, "is unhealthy by its health check"},
		{backend.Event{Kind: backend.EventPlatform, Name: "die", Subject: box, Text: backend.Text("container helix-box-e0ec09 ended with exit code 1")}, "helix-box-e0ec09", 54, "container helix-box-e0ec09 ended with exit code 1"},
		{backend.Event{Kind: backend.EventPlatform, Name: "die", Subject: box, Text: backend.Text("container helix-box-e0ec09 ended with exit code 1")}, "another", 20, "container helix-box-e0ec09 ended with exit code 1"},
		{backend.Event{Kind: backend.EventPlatform, Name: "tmpdir-close-failed", Text: backend.Text("a scratch directory could not be removed · session s-1 · ENOTEMPTY: directory not empty, rmdir '/tmp/x'")}, "agent-log", 54, "a scratch directory could not be removed"},
		{backend.Event{Kind: backend.EventTransition, Name: "firing", Text: backend.Text("contradiction is firing: reported running, but its working directory is missing")}, "helix-box-e0ec09", 54, "contradiction: no working directory"},
		{backend.Event{Kind: backend.EventPlatform, Name: "verdict", Subject: box, Text: backend.Text("web-1, filesystem list: the working directory is missing")}, "web-1", 52, "filesystem list: the working directory is missing"},
	} {
		c := eventText(&x.event, x.about)
		if got := c.Fitting(x.width); got != x.want {
			t.Errorf("%s in %d cells: %q, want %q", x.event.Text, x.width, got, x.want)
		}
	}
}

// The scope counts the containers that the header counts: those that are merely listed raise no alert.
func TestTheScopeCountsWhatIsWatched(t *testing.T) {
	box := func(id string, judged bool) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(id)}}, IsSandbox: judged}
	}
	a, b, other := box("a", true), box("b", true), box("c", false)
	x := &alerts.Alert{Rule: "sandbox-unhealthy", Source: "docker", SubjectCount: 2, Subjects: []alerts.Subject{{Key: a.Key}, {Key: b.Key}}}
	c := views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(a, b, box("d", true), other)}, &alerts.Board{Alerts: []*alerts.Alert{x}})
	if got, want := scope(x, c), "2 of 3 sandboxes on docker"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	x.SubjectCount, x.Pending = 1, 1 // the first fires, the other waits
	if got, want := scope(x, c), "sandbox a on docker; 1 more pending"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := NewAlertJSON(x, c); got.SubjectCount != 1 || got.Pending != 1 || len(got.Subjects) != 2 {
		t.Errorf("%+v", got)
	}
	if s := views.Summarise(c); s.Sandboxes != 3 || s.Listed != 1 {
		t.Errorf("the header counts %d, and %d merely listed", s.Sandboxes, s.Listed)
	}
}
