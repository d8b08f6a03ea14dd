package app

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestNoneBeginsAsAnAgentsLogSays: also while its alert is pending, and not once it is over or where only its directory was wanting.
func TestNoneBeginsAsAnAgentsLogSays(t *testing.T) {
	k := backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("aaaa")}
	const none = "reported running, but no command begins in it"
	for _, c := range []struct {
		state alerts.AlertState
		cause backend.Safe
		want  bool
	}{
		{alerts.StatePending, backend.Text(none + ", its agent's log says"), true}, {alerts.StateFiring, backend.Text(none + ", and its working directory is a link to /mnt/d"), true},
		{alerts.StateHeld, backend.Text(none), true}, {alerts.StateResolved, backend.Text(none), false}, {alerts.StateFiring, backend.Text("its mount is gone"), false},
		{alerts.StatePending, backend.Text(none + " for want of its directory, its agent's log says"), false},
	} {
		b := &alerts.Board{Alerts: []*alerts.Alert{{State: c.state, Cause: c.cause, Subjects: []alerts.Subject{{Key: k}}}}}
		if got := noneBegins(b); (len(got) == 1) != c.want {
			t.Errorf("%s %s: %v", c.state, c.cause, got)
		}
	}
}
