package fleet

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestWhatAProcessIsToAnAgent: its role by name and command, and that it runs past the time for which the agent waits.
func TestWhatAProcessIsToAnAgent(t *testing.T) {
	read := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}}, Name: backend.Text("agents-0a1b2c3d4e5f"),
		Provider: backend.Text("blaxel"), Session: backend.MustID("s1")}
	st := &State{Wall: read, Sandboxes: NewTable(box), Windows: NewWindows(backend.Count{Series: backend.Series{Source: "log", Name: backend.MetricSDKExec, Session: box.Session}, At: read.Add(-15 * time.Minute), N: 1})}
	const digits = "0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d"
	for _, c := range []struct {
		name, command, what, late string
		ago                       time.Duration
		class                     backend.WorkClass
	}{
		{"", "npm run build", "", "it runs past exec_timeout_s of 5m: an agent that waited for it gave up at 11:45:00Z, the process did not; its log has an error of a command then", 20 * time.Minute, backend.WorkRunning},
		{"", "npm run build", "", "gave up at 11:55:00Z, the process did not", 10 * time.Minute, backend.WorkRunning},
		{"", "npm run build", "", "", 4 * time.Minute, backend.WorkRunning},
		{"", "npm run build", "", "", 20 * time.Minute, backend.WorkSucceeded},
		{"", "env A=‹masked› sh -c 'tar -C /workspace -cf /tmp/bl-persist-" + digits + ".tar .'", "the save of a session's files", "it runs past workspace_tar_s of 5m", 6 * time.Minute, backend.WorkRunning},
		{"", "sh -c 'tar -C /workspace -xf /tmp/bl-hydrate-" + digits + ".tar'", "the restore of a session's files", "", time.Minute, backend.WorkRunning},
		{"", "mkdir -p '/workspace'", "the start of a session", "", time.Hour, backend.WorkSucceeded},
		{"", "mkdir -p '/workspace'", "the start of a session", "it runs for 1h: the SDK has no limit of its own for it, so that whether its agent still waits is not known", time.Hour, backend.WorkRunning},
		{"pty-0a1b2c3d4e5f", "bash", "a terminal of the agent", "", time.Hour, backend.WorkRunning},
	} {
		p := backend.SandboxProcess{Name: backend.Clean(c.name, 60), Command: backend.Clean(c.command, 300), Class: c.class, StartedAt: read.Add(-c.ago)}
		r := st.RoleOf(box, &p, read)
		if r.What.String() != c.what || c.late == "" != r.Late.IsEmpty() || !strings.Contains(r.Late.String(), c.late) {
			t.Errorf("%s %s: %q %q, want %q %q", c.name, c.command, r.What, r.Late, c.what, c.late)
		}
	}
	other := *box
	other.Name = backend.Text("mine")
	if r := st.RoleOf(&other, &backend.SandboxProcess{Class: backend.WorkRunning, StartedAt: read.Add(-time.Hour)}, read); !r.What.IsEmpty() || !r.Late.IsEmpty() {
		t.Errorf("no agent uses it: %q %q", r.What, r.Late)
	}
}
