package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAPageOfTwoAlerts ends by the one that fires, and names the first step of the other too, in whatever order the Board has them.
func TestAPageOfTwoAlerts(t *testing.T) {
	about := func(id, rule, page, cause string, state alerts.AlertState) *alerts.Alert {
		return &alerts.Alert{ID: id, Rule: rule, Source: "docker", Runbook: page, State: state, Cause: backend.Clean(cause, 200), Confirmed: now,
			Subjects: []alerts.Subject{{Key: sbKey("b"), State: state, Detail: backend.Clean(cause, 200)}}, SubjectCount: 1}
	}
	open := about("x", "public-preview", "contradiction", "a port of it is open to the internet, and its saved state says private", alerts.StateFiring)
	token := func(state alerts.AlertState) *alerts.Alert {
		return about("y", "preview-token-expiring", "contradiction", "a session runs on it, and no token opens its private address", state)
	}
	const remove, ask = "Read which port it is", "Let the agent ask for the address again. It makes a new token."
	for name, c := range map[string]struct {
		list                   []*alerts.Alert
		concludes, first, last string
	}{
		"open and token pending":   {[]*alerts.Alert{open, token(alerts.StatePending)}, "An address of it opens without a token.", remove, "For preview-token-expiring, which is pending: " + ask},
		"token pending and open":   {[]*alerts.Alert{token(alerts.StatePending), open}, "An address of it opens without a token.", remove, "For preview-token-expiring, which is pending: " + ask},
		"both fire":                {[]*alerts.Alert{open, token(alerts.StateFiring)}, "A private address of it cannot be opened", ask, "For public-preview: " + remove},
		"token pending alone":      {[]*alerts.Alert{token(alerts.StatePending)}, "A private address of it cannot be opened", ask, "Read which address it is"},
		"and one of another page":  {[]*alerts.Alert{open, about("z", "wont-terminate", "4", "it leaked: the end of its session deletes it, its saved state says", alerts.StateFiring)}, "An address of it opens", remove, "For wont-terminate: Rescue its files"},
		"and one that has no page": {[]*alerts.Alert{open, about("z", "wont-terminate", "", "it leaked", alerts.StateFiring)}, "An address of it opens", remove, "The agent did not ask for it"},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
		})}, board: &alerts.Board{Alerts: c.list}}
		d := w.diagnose("contradiction", sbKey("b"))
		if n := len(d.Do); !strings.HasPrefix(d.Conclusion.String(), c.concludes) || n == 0 || !strings.HasPrefix(d.Do[0].String(), c.first) || !strings.HasPrefix(d.Do[n-1].String(), c.last) {
			t.Errorf("%s: %s: %v", name, d.Conclusion, d.Do)
		}
	}
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) { b.Provider, b.Region = backend.Text("blaxel"), backend.Text("us-pdx-1") })},
		board: &alerts.Board{Alerts: []*alerts.Alert{open, token(alerts.StateFiring)}}}
	if d := w.page(open); anyHas(d.Do, ask) {
		t.Errorf("the page of one alert: %v", d.Do)
	}
}
