package plan

import (
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/theme"
)

// TestAWaitIsShownUntilItEnds: the step that is waited for, with for how long at most; one line once its end is told.
func TestAWaitIsShownUntilItEnds(t *testing.T) {
	wait := func(name backend.Literal, within time.Duration) actions.Step {
		return actions.Step{Name: backend.Text(name), Result: actions.StepStarting, Said: backend.Textf("waited for at most %s", backend.Age(within))}
	}
	l := &actions.Line{}
	l.Done.Steps = []actions.Step{wait("sandbox", 10*time.Second), {Name: backend.Text("sandbox"), Result: actions.StepOK, Took: time.Second}, wait("processes", 30*time.Second)}
	text := strings.Join((&Progress{}).steps(l, 100, theme.New(theme.NoColours, theme.ASCII)), "\n")
	if strings.Count(text, "sandbox") != 1 || strings.Contains(text, "at most 10s") || !strings.Contains(text, "processes") || !strings.Contains(text, "starting: waited for at most 30s") {
		t.Errorf("%s", text)
	}
}
