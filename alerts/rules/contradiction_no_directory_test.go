package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestALineThatNamesTheMissingDirectory: beside a command that ran before it fires, for then there is a shell; alone it is pending. A
// command of a probe that begins afterwards ends it.
func TestALineThatNamesTheMissingDirectory(t *testing.T) {
	t.Parallel()
	for ran, want := range map[bool]alerts.AlertState{true: alerts.StateFiring, false: alerts.StatePending} {
		s := beginWorkers(t)
		r := notStarted("sandbox-demo", "")
		r.Text = backend.Text("Failed to create session 'sandbox-demo': ENOENT: no such file or directory, posix_spawn 'bash'")
		if ran {
			r.GoodAt = s.wall.Add(-time.Minute)
		}
		s.agentSays(r)
		s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
		a := s.want(contradictionRule, want)
		if said := a.Cause.String() + told(a); strings.Contains(said, "no command begins in it for want of its directory") != ran || !strings.Contains(said, "log: it names a directory that is missing: Failed to create session") {
			t.Errorf("a command ran before: %v: %s", ran, said)
		}
		s.workersBox(func(b *backend.Sandbox) {
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall}})
		})
		s.look().quiet(contradictionRule)
	}
}
