package browse

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// While somebody moves among alerts they keep their order: what comes stands at the end and is told. A while later they are in order.
func TestASteadyTableKeepsItsOrder(t *testing.T) {
	now := time.Date(2026, 4, 4, 12, 0, 0, 0, time.UTC)
	l := New(Config[*alerts.Alert]{Name: "Alerts", Set: subjects.Alerts(), Kinds: []backend.Kind{views.KindAlert}, Steady: true})
	f := &views.Frame{Theme: theme.New(theme.NoColours, theme.ASCII), Summary: &views.Summary{}}
	show := func(ids string) string {
		var list []*alerts.Alert
		for _, id := range strings.Fields(ids) {
			list = append(list, &alerts.Alert{ID: id, Rule: "rule-" + id, Severity: alerts.SeverityWarning, State: alerts.StateFiring, Since: now})
		}
		f.Snapshot = views.NewSnapshot(now, nil, &alerts.Board{Alerts: list})
		text := ansi.Strip(l.Render(80, 20, f).String())
		var seen []string
		for _, line := range strings.Split(text, "\n") {
			if i := strings.Index(line, "rule-"); i >= 0 {
				seen = append(seen, strings.TrimSpace(line[:3])+line[i+len("rule-"):i+len("rule-")+1])
			}
		}
		return strings.Join(seen, " ")
	}
	if got := show("a b c"); got != ">a b c" {
		t.Fatalf("at first: %s", got)
	}
	l.Update(keys.Intent{Action: keys.Down}, f)
	if got := show("d c b a"); got != "a >b c +d" {
		t.Errorf("while the cursor moves: %s", got)
	}
	if s := l.Status(f, false); !strings.Contains(s, "1 new") {
		t.Errorf("the new one is not told: %s", s)
	}
	if got := show("d c b"); got != ">b c +d" {
		t.Errorf("one that is gone: %s", got)
	}
	now = now.Add(steadyFor - time.Second)
	show("d c b")
	l.Update(keys.Intent{Action: keys.None}, f) // an action begins on it
	now = now.Add(2 * time.Second)
	if got := show("e d c b"); got != ">b c +d +e" {
		t.Errorf("while an action is begun: %s", got)
	}
	now = now.Add(steadyFor + 2*time.Second)
	if got := show("e d c b"); got != "e d c >b" {
		t.Errorf("afterwards: %s", got)
	}
	if s := l.Status(f, false); strings.Contains(s, "new") {
		t.Errorf("still told: %s", s)
	}
}
