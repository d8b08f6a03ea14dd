package subjects

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/names"
)

// TestNamesOfContainersThatAreGoneAreHidden, which only the events of the Timeline still tell.
func TestNamesOfContainersThatAreGoneAreHidden(t *testing.T) {
	t.Parallel()
	key := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("0123456789abcdef0123456789abcdef")}
	s := views.NewSnapshot(noon, &fleet.State{Number: 1, Wall: noon}, &alerts.Board{})
	s.Events = []backend.Event{
		{At: noon, Subject: key, Name: "die", Text: backend.Text("container alice-box ended with exit code 137")},
		{At: noon, Subject: key, Name: "rename", Text: backend.Text("container alice-box was renamed; it was bobs-box")},
		{At: noon, Subject: key, Name: "other", Text: backend.Text("nothing says a name")},
	}
	n := names.New([]byte("0123456789abcdef"))
	HideNames(n, s, 0)
	for text, hidden := range map[string]bool{"alice-box": true, "bobs-box": true, "says": false, "ended": false} {
		if got := n.Text(text); (got != text) != hidden {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
}

// TestLabelsThatSayWhoseASandboxIsAreHidden, and others are not.
func TestLabelsThatSayWhoseASandboxIsAreHidden(t *testing.T) {
	t.Parallel()
	label := func(name, value backend.Literal) backend.Field {
		return backend.Field{Name: backend.Text(name), Value: backend.Text(value)}
	}
	b := &backend.Sandbox{Labels: []backend.Field{label("com.docker.compose.project", "acme-shop"), label("Team", "Blue Owls"), label("maintainer.version", "v12-rc3")}}
	b.Key = backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("c1")}
	n := names.New([]byte("0123456789abcdef"))
	HideNames(n, views.NewSnapshot(noon, &fleet.State{Number: 1, Wall: noon, Sandboxes: fleet.NewTable(b)}, &alerts.Board{}), 0)
	for text, hidden := range map[string]bool{"com.docker.compose.project=acme-shop": true, "Blue Owls": true, "v12-rc3": false} {
		if got := n.Text(text); (got != text) != hidden {
			t.Errorf("%s is shown as %s", text, got)
		}
	}
}
