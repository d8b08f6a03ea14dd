package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAdviceDoesNotSendToASaveThatFails: where the agent's own saves fail, pending ones too, its files are kept by a rescue alone.
func TestAdviceDoesNotSendToASaveThatFails(t *testing.T) {
	const id = "a0000000-0009-4000-8000-000000000000"
	for _, rule := range []struct{ name, cause string }{
		{"sandbox-expiring", "a session runs on it: its ttl of 1h from creation"},
		{"snapshot-interrupted", "a save of its files was cut off: the archive is still in /tmp"},
	} {
		for _, c := range []struct {
			state   alerts.AlertState
			rule    string
			session string
			saves   bool
		}{
			{alerts.StateFiring, "persist-failed", id, false},
			{alerts.StatePending, "persist-failed", id, false},
			{alerts.StateHeld, "persist-failed", id, false},
			{alerts.StateFiring, "hydrate-failed", id, false},
			{alerts.StateEnded, "persist-failed", id, true},
			{alerts.StateFiring, "persist-failed", "b0000000-0009-4000-8000-000000000000", true},
		} {
			a := &alerts.Alert{ID: "x", Rule: rule.name, Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Clean(rule.cause, 200), Confirmed: now,
				Subjects: []alerts.Subject{{Key: sbKey("b"), State: alerts.StateFiring, Detail: backend.Clean(rule.cause, 200)}}, SubjectCount: 1}
			failed := &alerts.Alert{ID: "y", Rule: c.rule, Source: "docker", Runbook: "2", State: c.state, Cause: backend.Text("tar failed"), Confirmed: now,
				Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindSession, Source: "app-log", ID: backend.MustID(c.session)}, State: c.state}}, SubjectCount: 1}
			w := world{sandboxes: []*backend.Sandbox{box("b", id, func(b *backend.Sandbox) {
				b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
			})}, board: &alerts.Board{Alerts: []*alerts.Alert{a, failed}}}
			d := w.page(a)
			saves := anyHas(d.Do, "et the agent save")
			if saves != c.saves || !strings.Contains(d.Do[0].String(), "sandglass rescue b") {
				t.Errorf("%s beside %s %s of %.1s: %v", rule.name, c.rule, c.state, c.session, d.Do)
			}
		}
	}
}
