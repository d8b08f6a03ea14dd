package runbook

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestARemovedContainerHasNoLogAndNoLimit: an engine answers neither docker logs nor docker update for one that is gone.
func TestARemovedContainerHasNoLogAndNoLimit(t *testing.T) {
	for n := 1; n <= 2; n++ {
		var before, after world
		var left []backend.Entity
		for i := range n {
			b := box(strings.Repeat(fmt.Sprint(i+1), 64), "s1", func(b *backend.Sandbox) { b.Name = backend.Clean(fmt.Sprintf("sbx%d", i+1), 20) })
			before.sandboxes, left = append(before.sandboxes, b), append(left, b)
			after.events = append(after.events, event(backend.EventPlatform, "oom", b.Key, 40*time.Second, "killed"))
		}
		c := before.afterwards(left, after, left[0].EntityMeta().Key)
		var fires *alerts.Alert
		for _, a := range c.Board.Alerts {
			if a.Rule == "sandbox-oom" {
				fires = a
			}
		}
		if fires == nil || fires.State != alerts.StateFiring {
			t.Fatalf("%d removed: %v", n, fires)
		}
		c.Subject, c.Alert = SubjectOfAlert(fires), fires.ID
		d := c.Diagnose("container")
		all := fmt.Sprint(d.Conclusion, d.Do, d.Dont)
		for _, x := range d.Checks {
			all += fmt.Sprint(x.Fact)
		}
		for _, not := range []string{"docker logs", "docker update", "docker start", "50 NAME", "start it", strings.Repeat("1", 64), "owner says"} {
			if strings.Contains(all, not) {
				t.Errorf("%d removed: the page says %q: %s", n, not, all)
			}
		}
		if want := "sbx1"; !strings.Contains(d.Conclusion.String(), want) || !strings.Contains(d.Conclusion.String(), "it was removed.") || !anyHas(d.Do, "(--memory)") {
			t.Errorf("%d removed: %s %v", n, d.Conclusion, d.Do)
		}
	}
}
