package blaxel

import (
	"fmt"
	"slices"
	"testing"

	"sandglass/actions"
)

// TestAProbeTellsWhatItWaitsFor: each request, with for how long at most, and how the wait ended, before the next one.
func TestAProbeTellsWhatItWaitsFor(t *testing.T) {
	w := newWorld(t)
	c := w.look(actions.Probe, actions.Params{})
	e, err := w.part(actions.Probe).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	e.(actions.Stepper).Tell(func(s actions.Step) {
		if s.Result == actions.StepStarting {
			told = append(told, fmt.Sprintf("%s: %s", s.Name, s.Said))
			return
		}
		told = append(told, fmt.Sprintf("%s %s", s.Name, s.Result))
	})
	if _, err := e.Do(t.Context(), actions.Target{Key: c.Key, Identity: c.Identity}, actions.Params{}); err != nil {
		t.Fatal(err)
	}
	want := []string{"sandbox: waited for at most 10s", "sandbox ok", "processes: waited for at most 30s", "processes ok", "exec: waited for at most 20s", "exec ok",
		"filesystem list: waited for at most 10s", "filesystem list ok", "filesystem read: waited for at most 10s", "filesystem read ok", "mounts: waited for at most 10s", "mounts ok",
		"archives: waited for at most 10s", "archives ok"}
	if !slices.Equal(told, want) {
		t.Errorf("%q", told)
	}
}
