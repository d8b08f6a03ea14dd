package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views/keys"
)

// o shows what was sent, newest first; / filters by every word, and a new State brings new lines while the top is in sight.
func TestRequests(t *testing.T) {
	at := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	log := []backend.Sent{
		{N: 2, At: at, Source: "docker-local", Method: "POST", What: backend.Text("http://docker/containers/7c02/stop"), Acts: true, Status: 500, Took: time.Second, Over: true},
		{N: 1, At: at, Source: "helix-eu", Method: "GET", What: backend.Text("https://helix/workspaces"), Status: -1, Cause: backend.Text("connection refused"), Over: true},
	}
	m := New(Viewer{Name: "a", Size: Size{100, 24}, Now: time.Now, Sent: func() []backend.Sent { return log }}, incidentFeed())
	defer m.Close()
	screen := func() string { return m.View().Content }
	shows := func(want bool, texts ...string) {
		t.Helper()
		m.dirty = true
		for _, text := range texts {
			if got := screen(); strings.Contains(got, text) != want {
				t.Errorf("%q on the screen: %v\n%s", text, !want, got)
			}
		}
	}
	m.press(tea.KeyPressMsg{Code: 'o', Text: "o"})
	shows(true, "POST http://docker/containers/7c02/stop", "500", "no answer", "connection refused")
	log = append([]backend.Sent{{N: 3, At: at, Source: "refs", Method: "run", What: backend.Text("list-refs --all"), Over: true}}, log...)
	m.Update(changedMsg{})
	shows(true, "list-refs --all", "exit 0")
	m.press(tea.KeyPressMsg{Code: '/', Text: "/"})
	for _, r := range "failed action" {
		m.press(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	shows(true, " of 3  /failed action", "/stop")
	shows(false, "list-refs", "https://helix")
	m.press(tea.KeyPressMsg{Code: tea.KeyEnter})
	shows(true, "/failed action")
	m.press(tea.KeyPressMsg{Code: 'o', Text: "o"})
	shows(false, "requests and commands")
	m.do(keys.Intent{Action: keys.Requests, Text: "helix"})
	shows(true, " of 3  /helix", "https://helix/workspaces")
}

// Of the long ids of an address the beginning is shown, so that what was asked of them is in sight.
func TestRequestsShortenIDs(t *testing.T) {
	id := strings.Repeat("28171c24", 8)
	for what, want := range map[string]string{
		"unix:///sock/v1.41/exec/" + id + "/resize?h=40": "unix:///sock/v1.41/exec/28171c242817…/resize?h=40",
		"https://helix/workspaces/7c02/é":                "https://helix/workspaces/7c02/é",
		"docker inspect " + id:                           "docker inspect 28171c242817…",
	} {
		if got := shortIDs(what); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// Names that are hidden are not shown by what was sent.
func TestRequestsNameNothingThatIsHidden(t *testing.T) {
	x := &scope{viewer: &Viewer{HideNames: []byte("salt"), Sent: func() []backend.Sent { return nil }}}
	if r := openRequests(x, ""); r.Push != nil || r.Say == "" {
		t.Errorf("%+v", r)
	}
}
