package runbook

import (
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAnApplicationThatIsUnhealthy is told by the page of its alert, also where none of its containers is listed.
func TestAnApplicationThatIsUnhealthy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		health backend.Literal
		failed backend.Value[int]
		mark   Mark
		has    string
	}{
		"failed ones": {"unhealthy", backend.Known(2), Confirmed, "agents is called unhealthy; 2 instances failed"},
		"not counted": {"unhealthy", backend.Unknown[int](), Confirmed, "how many instances failed is not told"},
		"well again":  {"healthy", backend.Known(0), RuledOut, "agents is called healthy"},
		"no word":     {"", backend.Unknown[int](), CannotTell, "says nothing of the health of agents"},
	} {
		x := backend.Pool{ID: backend.MustID("app-1"), Name: backend.Text("agents"), Health: backend.Text(c.health), Failed: c.failed, At: now}
		w := world{pools: []backend.Pool{x}}
		a := alertOn("l", "sandbox-unhealthy", "container", alerts.StateFiring, "its platform calls the application agents unhealthy")
		a.Source, a.Subjects = "cf", []alerts.Subject{{Key: backend.PlacesKey("cf", &x), State: alerts.StateFiring}}
		if w.board = (&alerts.Board{Alerts: []*alerts.Alert{a}}); c.mark != Confirmed {
			w.board.Alerts = nil
		}
		page := w.about(a.Subjects[0].Key)
		page.Alert = a.ID
		d := page.Diagnose("container")
		want(t, d, map[string]Mark{"application": c.mark})
		if !strings.Contains(d.Conclusion.String()+factOf(t, d, "application"), c.has) || c.mark == Confirmed && !strings.Contains(d.Conclusion.String(), "do not come up") {
			t.Errorf("%s: %s", name, d.Conclusion)
		}
	}
}
