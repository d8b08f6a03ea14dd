package docker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sandglass/backend"
)

// The first list is told before any container is inspected, and says unknown for what only an inspection tells.
func TestTheFirstListIsToldBeforeInspections(t *testing.T) {
	f := newFake(t)
	for i := range 30 {
		f.add(&fakeContainer{id: fmt.Sprint("c", i), name: fmt.Sprint("box-", i), labels: map[string]string{"sandglass.session": "s"},
			stateJSON: `,"StartedAt":"2026-11-21T10:00:34Z","FinishedAt":"2026-11-21T10:00:35Z","Health":{"Status":"unhealthy"}`})
	}
	listed := make(chan struct{})
	f.change(func() {
		f.override = func(_ http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/json") && !strings.HasSuffix(r.URL.Path, "/containers/json") {
				<-listed // no inspection is answered before the list was told
			}
			return false
		}
	})
	s, _ := f.source(nil)
	var parts []backend.Reading
	take := func(r backend.Reading) { parts = append(parts, r); close(listed) }
	whole, err := s.PollParts(t.Context(), take)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 || len(parts[0].Sandboxes) != 30 || len(whole.Sandboxes) != 30 {
		t.Fatalf("%d parts, %d sandboxes in the end; want one part and 30", len(parts), len(whole.Sandboxes))
	}
	for _, sc := range parts[0].Scopes {
		if sc.Complete {
			t.Error("a part claims to be complete")
		}
	}
	b := find(t, parts[0], "c3")
	if b.Class != backend.SandboxRunning || b.Name.String() != "box-3" || b.Session.Raw() != "s" || !b.IsSandbox {
		t.Errorf("listed: %+v", b)
	}
	var unknown backend.Sandbox
	if b.StartedAt != unknown.StartedAt || b.Health != unknown.Health || b.HealthChecks != unknown.HealthChecks || b.ExitCode != unknown.ExitCode ||
		b.OOMKilled != unknown.OOMKilled || b.RestartCount != unknown.RestartCount || b.Usage != unknown.Usage {
		t.Errorf("what only an inspection tells is not unknown: %+v", b)
	}
	if b := find(t, whole, "c3"); !b.Health.IsKnown() || !b.StartedAt.IsKnown() {
		t.Errorf("inspected: %+v", b)
	}
	if _, err := s.PollParts(t.Context(), take); err != nil || len(parts) != 1 { // a second part would close listed twice
		t.Errorf("a later poll told %d parts: %v", len(parts), err)
	}
}
