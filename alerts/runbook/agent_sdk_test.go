package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestPagesOfAnAgentSDK: what an alert about an agent's snapshots, its terminals or a sandbox that answers after its end concludes.
func TestPagesOfAnAgentSDK(t *testing.T) {
	for _, c := range []struct{ rule, cause, check, concludes, first string }{
		{"snapshot-interrupted", "a save of its files was cut off: the archive is still in /tmp", "interrupted", "The newest snapshot did not end well: a save of its files was cut off", "Rescue the files first: sandglass rescue"},
		{"pty-pressure", "its agent has nearly as many terminals open as the SDK keeps", "terminals", "Its agent keeps too many terminals open.", "Let the agent end what it does not need."},
		{"pty-failed", "a terminal of an agent could not be used: it took no input", "terminal-fails", "Terminals of its agent fail.", "Read what a terminal needs"},
		{"contradiction", "reported TERMINATED, but / of it was listed since", "answers", "It answers, although it is reported to have ended.", "Copy what matters"},
	} {
		a := &alerts.Alert{ID: "x", Rule: c.rule, Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Clean(c.cause, 200), Confirmed: now,
			Subjects: []alerts.Subject{{Key: sbKey("b")}}, SubjectCount: 1}
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
		})}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
		d := w.page(a)
		want(t, d, map[string]Mark{c.check: Confirmed})
		if !strings.HasPrefix(d.Conclusion.String(), c.concludes) || len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), c.first) {
			t.Errorf("%s: %s: %v", c.rule, d.Conclusion, d.Do)
		}
	}
}
