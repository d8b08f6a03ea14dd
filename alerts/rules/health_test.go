package rules

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/backendtest"
)

const noWorkDir = `OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd ("/workspace") set in config.json failed: no such file or directory: unknown`

// checks gives a sandbox of session a new results of its health check.
func (s *story) checks(id string, output string, c backend.HealthChecks) {
	s.sandbox(id, "a", backend.SandboxRunning)
	k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(id)}
	b := s.sandboxes[k]
	b.Name, b.WorkDir, b.StartedAt = backend.Clean(id, 60), backend.Text("/workspace"), ago(noon, 3*time.Hour)
	b.HealthOutput, b.HealthChecks = backend.Clean(output, 500), backend.Known(c)
}

func (s *story) failing(most, least time.Duration) backend.HealthChecks {
	c := backend.HealthChecks{Checked: s.wall.Add(-10 * time.Second), ExitCode: -1, Failed: 80, FailingBy: s.wall.Add(-least)}
	if most > 0 {
		c.Passed = s.wall.Add(-most)
	}
	return c
}

// A health check that cannot begin, since the working directory is gone, proves since when no command begins.
func TestVanishedByTheTimesOfHealthChecks(t *testing.T) {
	s := begin(t, vanishedRule)
	s.source("docker", backend.InputContainers)
	s.checks("box", noWorkDir, s.failing(0, 40*time.Minute))
	a := s.look().want(vanishedRule, alerts.StateFiring)
	s.began(a, 3*time.Hour, 40*time.Minute)
	if a.Source != "docker" || a.Runbook != "2" || a.Subjects[0].Key.Kind != backend.KindSandbox || a.Sessions != 1 {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "the health check of sandbox box fails since 11:20:00Z or earlier, 80 times in a row: OCI runtime exec failed", "its working directory is /workspace; what was in it is gone")
	s.after(time.Minute).want(vanishedRule, alerts.StateFiring)
	s.wantHeldThenBack(vanishedRule, "docker", func() {})
	s.wantSameAfterRestart(vanishedRule, "docker", func() {})
	s.checks("box", "", backend.HealthChecks{Checked: s.wall, Passed: s.wall})
	s.after(time.Second).quiet(vanishedRule)

	s = begin(t, vanishedRule) // the log still reaches back to the last check that passed
	s.source("docker", backend.InputContainers)
	s.look()
	s.pass(5 * time.Second)
	s.checks("box", noWorkDir, s.failing(91*time.Second, time.Minute))
	a = s.look().want(vanishedRule, alerts.StateFiring)
	s.began(a, 91*time.Second, time.Minute)
	wantEvidence(t, a, "fails since between 11:58:34Z and 11:59:05Z")
}

func TestVanishedDoesNotFireForOtherHealthChecks(t *testing.T) {
	s := begin(t, vanishedRule)
	s.source("docker", backend.InputContainers)
	s.checks("sick", "curl: (7) failed to connect to localhost port 8080", s.failing(0, 40*time.Minute))
	s.checks("printed", "my check says: chdir: no such file or directory", s.failing(0, 40*time.Minute))
	s.checks("well", noWorkDir, backend.HealthChecks{Checked: s.wall, Passed: s.wall})
	s.checks("down", noWorkDir, s.failing(0, 40*time.Minute))
	s.checks("other", noWorkDir, s.failing(0, 40*time.Minute))
	s.checks("mended", noWorkDir, s.failing(0, 40*time.Minute))
	for k, b := range s.sandboxes {
		switch k.ID.Raw() {
		case "down":
			b.Class = backend.SandboxExited
		case "mended": // and no check was made since
			b.Observed = backend.Known(backendtest.Ran(true, backend.Text("a command runs"), s.wall))
		case "other":
			b.IsSandbox = false
		}
	}
	s.look().quiet(vanishedRule)
}

// What fails in a sandbox whose health check fails is told with since when it does.
func TestWorkspaceAlertsQuoteTheHealthCheckOfTheirSandbox(t *testing.T) {
	s := begin(t, failedRule)
	s.source("docker", backend.InputContainers)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: 40 * time.Minute, success: 50 * time.Minute})
	s.checks("well", "", backend.HealthChecks{Checked: s.wall, Passed: s.wall})
	s.checks("sick", "curl: (7) failed to connect", s.failing(45*time.Minute, 44*time.Minute))
	wantEvidence(t, s.look().want(failedRule, alerts.StateFiring), "the health check of sandbox sick fails since between 11:15:00Z and 11:16:00Z, 80 times in a row: curl: (7) failed to connect")
}
