package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestThePageOfAUsageLimit says what is refused and what helps, and nothing of instances or storms.
func TestThePageOfAUsageLimit(t *testing.T) {
	a := &alerts.Alert{ID: "x", Rule: "capacity", Source: "docker", Runbook: "7", State: alerts.StateFiring, Confirmed: now,
		Cause:    backend.Text("the workspace of docker met its usage limit: its platform refuses every call there (USAGE_LIMIT_EXCEEDED)"),
		Evidence: []alerts.Evidence{{Text: backend.Text("a call of an action to b was refused at 12:00:00Z: answered 402")}},
		Subjects: []alerts.Subject{{Key: backend.PlacesKey("docker", nil), State: alerts.StateFiring}}, SubjectCount: 1}
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
	})}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
	d := w.page(a)
	if len(d.Do) < 2 || !strings.HasPrefix(d.Conclusion.String(), "The platform refuses every agent's calls") || !strings.HasPrefix(d.Do[0].String(), "See the workspace's usage") || !strings.HasPrefix(d.Do[1].String(), "When it is raised, probe one: sandglass probe b") {
		t.Errorf("%s: %v", d.Conclusion, d.Do)
	}
	for _, x := range append(d.Do, d.Dont...) {
		for _, no := range []string{"max_instances", "storm", "evict", "Worker"} {
			if strings.Contains(x.String(), no) {
				t.Errorf("of another platform: %s", x)
			}
		}
	}
	for _, c := range d.Checks {
		if c.Name == "quota" && c.Mark == Confirmed {
			t.Errorf("%s: %s", c.Question, c.Fact)
		}
	}
}
