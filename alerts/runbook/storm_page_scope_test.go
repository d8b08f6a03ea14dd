package runbook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// threeEvictedFiveRefused is a fleet where three evicted workspaces are tried in vain, an alert of capacity names five others, and
// twelve work.
func threeEvictedFiveRefused() world {
	a := alertOn("c", "capacity", "7", alerts.StateFiring, "docker has no instance left")
	tried := func(w *backend.Workspace) { w.LastAttemptAt, w.LastSuccessAt = at(time.Second), at(20*time.Minute) }
	w := world{}
	for i := range 5 {
		w.workspaces = append(w.workspaces, broken(fmt.Sprintf("q%d", i), "box", backend.ClassFailed, "max_instances reached (60/60 in use)", provider("docker"), tried))
		a.Subjects = append(a.Subjects, alerts.Subject{Key: wsKey(fmt.Sprintf("q%d", i), "box"), State: alerts.StateFiring})
	}
	a.SubjectCount = len(a.Subjects)
	e := alertOn("e", "hammered-and-failing", "1", alerts.StateFiring, "WorkspaceEvictedError: gone")
	for i := range 3 {
		w.workspaces = append(w.workspaces, broken(fmt.Sprintf("e%d", i), "box", backend.ClassEvicted, "WorkspaceEvictedError: gone", provider("docker"), tried))
		e.Subjects = append(e.Subjects, alerts.Subject{Key: wsKey(fmt.Sprintf("e%d", i), "box"), State: alerts.StateFiring})
	}
	e.SubjectCount = len(e.Subjects)
	for i := range 12 {
		w.workspaces = append(w.workspaces, healthy(fmt.Sprintf("o%d", i), "box", provider("docker")))
	}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{a, e}}
	return w
}

// TestAPageOfTheFleetCountsTheFleet: what one alert's subjects are not, others may be. The page of an alert counts its own.
func TestAPageOfTheFleetCountsTheFleet(t *testing.T) {
	w := threeEvictedFiveRefused()
	for _, k := range []backend.Key{{}, sourceKeyOf("helix-eu")} {
		d := w.diagnose("7", k)
		want(t, d, map[string]Mark{"evicted": Confirmed, "quota": Confirmed})
		if fact := factOf(t, d, "evicted"); !strings.HasPrefix(fact, "3 of 20 workspaces evicted now") {
			t.Errorf("page of %q: %s", k.Safe(), fact)
		}
	}
	own := w.about(sourceKeyOf("helix-eu"))
	own.Alert = "c"
	for _, d := range []Diagnosis{own.Diagnose("7"), w.diagnose("7", wsKey("q0", "box"))} {
		want(t, d, map[string]Mark{"evicted": RuledOut})
		if fact := factOf(t, d, "evicted"); fact != "no eviction among the alert's 5 workspaces" {
			t.Error(fact)
		}
		if fact := factOf(t, d, "opened"); !strings.HasPrefix(fact, "5 workspaces of 5 sessions") {
			t.Errorf("opens of others are counted: %s", fact)
		}
		if fact := factOf(t, d, "retries"); !strings.HasPrefix(fact, "at least 0.08 attempts/s") {
			t.Errorf("attempts of others are counted: %s", fact)
		}
	}
}

// TestAnEvictionIsAKnownError: its cause is open, and that it is an eviction is not.
func TestAnEvictionIsAKnownError(t *testing.T) {
	w := threeEvictedFiveRefused()
	c := w.about(sourceKeyOf("helix-eu"))
	c.Alert = "e"
	for _, d := range []Diagnosis{c.Diagnose("1"), w.diagnose("1", wsKey("e0", "box"))} {
		if !strings.HasPrefix(d.Conclusion.String(), "It was evicted and does not come back.") || !anyHas(d.Do, "unbook 7") {
			t.Errorf("%s %v", d.Conclusion, d.Do)
		}
	}
	w.workspaces = append(w.workspaces, broken("x", "box", backend.ClassFailed, "the flux is odd", provider("docker")))
	if d := w.diagnose("1", wsKey("x", "box")); !strings.HasPrefix(d.Conclusion.String(), "The error matches no known cause.") {
		t.Error(d.Conclusion)
	}
}
