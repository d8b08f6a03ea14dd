package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const runawayRule = "runaway-process"

// ran is a process of an agent's SDK that ran for so long when a probe read it.
func ran(ago time.Duration, edits ...func(*backend.SandboxProcess)) func(*story) {
	return func(s *story) {
		p := backend.SandboxProcess{PID: backend.Text("42"), Name: backend.Text("proc-0a1B2c3D"), Command: backend.Text("npm run build"), Reported: backend.Text("running"), Class: backend.WorkRunning,
			StartedAt: s.wall.Add(-ago)}
		for _, edit := range edits {
			edit(&p)
		}
		readInside(s, func(x *backend.Inside) { x.Processes = []backend.SandboxProcess{p} })
	}
}

func readInside(s *story, edit func(*backend.Inside)) {
	x := &backend.Inside{At: s.wall, Root: backend.Text("/workspace")}
	edit(x)
	s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: s.wall, Inside: x})
}

func beginRunaway(t testing.TB, do func(*story)) *story {
	s := beginCloud(t, runawayRule)
	s.stateOn(cloudBox, s.wall, nil)
	s.source("app", backend.InputEvictionLogs)
	s.health("app", func(h *fleet.SourceHealth) { h.About = []string{"cloud"} })
	do(s)
	return s.look()
}

var runawayLimits = []limit{
	{runawayRule, func(t *testing.T, at bool) *story { // the SDK's own timeout
		ago := 300 * time.Second
		if at {
			ago += time.Second
		}
		return beginRunaway(t, ran(ago))
	}},
}

// TestRunawayFires: with the times of its start and of the end of its agent's wait; a probe that found it gone ends it, silence does not.
func TestRunawayFires(t *testing.T) {
	s := beginRunaway(t, func(s *story) {
		s.lines(backend.MetricSDKExec, cloudSession, 1, "ExecTimeoutError, timeout 300.0 s")
		s.look()
		s.pass(15 * time.Minute)
		ran(20 * time.Minute)(s)
	})
	a := s.want(runawayRule, alerts.StateFiring)
	wantEvidence(t, a, "process 42 proc-0a1B2c3D (npm run build), started at 11:55:00Z: the agent gave up at 12:00:00Z, as its log says too; only its own wait ended")
	wantEvidence(t, a, "log: commands of its agent failed in 1 line")
	if a.Severity != alerts.SeverityWarning || a.Cause.String() != "a command runs past its timeout: its agent gave it up, the process did not" || !a.Bounds.Latest.Equal(s.wall.Add(-15*time.Minute)) {
		t.Errorf("%s since %s: %s", a.Severity, a.Bounds.Latest, a.Cause)
	}
	s.every(time.Minute, 2*time.Hour, nil) // the line is forgotten, the process is not
	if b := s.want(runawayRule, alerts.StateFiring); b.ID != a.ID || !strings.Contains(b.Subjects[0].Detail.String(), "as its log says too") {
		t.Errorf("%s, %s", b.ID, b.Subjects[0].Detail)
	}
	ran(3*time.Hour, func(p *backend.SandboxProcess) { p.Class, p.EndedAt = backend.WorkFailed, s.wall })(s)
	for _, a := range s.look().alerts(runawayRule) {
		if a.State != alerts.StateResolved {
			t.Errorf("the process is gone, and the alert is %s", a.State)
		}
	}
}

// TestRunawayTellsWhatItIs: tar of a snapshot past its own timeout, a process that somebody else named, and one that its session left.
func TestRunawayTellsWhatItIs(t *testing.T) {
	command := func(line backend.Literal) func(*backend.SandboxProcess) {
		return func(p *backend.SandboxProcess) { p.Command = backend.Text(line) }
	}
	for name, c := range map[string]struct {
		do       func(*story)
		cause    string
		severity alerts.Severity
	}{
		"a save": {ran(6*time.Minute, command("sh -c 'tar -C /workspace -cf /tmp/bl-persist-0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d.tar .'")),
			"the tar of a save or restore runs past its timeout: its agent gave it up, the process did not", alerts.SeverityWarning},
		"the start of a session": {ran(6*time.Minute, command("mkdir -p /workspace")), backend.StartRunsOn, alerts.SeverityWarning},
		"named by somebody":      {ran(time.Hour, func(p *backend.SandboxProcess) { p.Name = backend.Text("dev-server") }), "a process runs longer than an agent waits for a command", alerts.SeverityInfo},
		"… and its agent gave up": {func(s *story) {
			s.lines(backend.MetricSDKExec, cloudSession, 1, "ExecTimeoutError")
			s.look()
			s.pass(15 * time.Minute)
			ran(20*time.Minute, func(p *backend.SandboxProcess) { p.Name = backend.Text("build") })(s)
		}, "a command runs past its timeout: its agent gave it up, the process did not", alerts.SeverityWarning},
		"its session ended": {func(s *story) {
			s.hub(cloudSession, cloudBox, overNow)
			s.look()
			s.pass(time.Minute)
			ran(2*time.Minute, func(p *backend.SandboxProcess) { p.Name = backend.Text("pty-0a1b2c3d4e5f") })(s)
		}, "a process runs on after the end of its session", alerts.SeverityWarning},
	} {
		t.Run(name, func(t *testing.T) {
			a := beginRunaway(t, c.do).want(runawayRule, alerts.StateFiring)
			if a.Cause.String() != c.cause || a.Severity != c.severity {
				t.Errorf("%s %s", a.Severity, a.Cause)
			}
		})
	}
}

// overNow ends the session of a hub.
func overNow(h *backend.Session) {
	h.Status, h.Running, h.ListedRunning = backend.Text("completed"), backend.Known(false), backend.Known(false)
}

func TestRunawayDoesNotFire(t *testing.T) {
	name := func(name backend.Literal) func(*backend.SandboxProcess) {
		return func(p *backend.SandboxProcess) { p.Name = backend.Text(name) }
	}
	for what, do := range map[string]func(*story){
		"not probed":              func(*story) {},
		"within its timeout":      ran(4 * time.Minute),
		"it is over":              ran(time.Hour, func(p *backend.SandboxProcess) { p.Class = backend.WorkSucceeded }),
		"a terminal of the agent": ran(time.Hour, name("pty-0a1b2c3d4e5f")),
		"its start is not told":   ran(time.Hour, func(p *backend.SandboxProcess) { p.StartedAt = time.Time{} }),
		"its timeout is longer": func(s *story) {
			s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) {
				x.Timeouts = backend.AgentTimeouts()
				x.Timeouts[0].Seconds = 7200
			})
			ran(time.Hour)(s)
		},
		"no agent's SDK uses it": func(s *story) { s.refs = nil; ran(time.Hour)(s) },
		"its session ended after it was read": func(s *story) {
			ran(time.Minute, name("dev-server"))(s)
			s.pass(time.Minute)
			s.hub(cloudSession, cloudBox, overNow)
		},
		"the sandbox is gone": func(s *story) {
			ran(time.Hour)(s)
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Class = backend.SandboxExited })
		},
	} {
		t.Run(what, func(t *testing.T) { beginRunaway(t, do).quiet(runawayRule) })
	}
}

// TestRunawayGapRestart: processes that cannot be read prove nothing, and neither does a restart; another sandbox of the name has others.
func TestRunawayGapRestart(t *testing.T) {
	s := beginRunaway(t, ran(time.Hour))
	first := s.want(runawayRule, alerts.StateFiring).ID
	s.restart()
	if a := s.look().want(runawayRule, alerts.StateFiring); a.ID != first {
		t.Errorf("another alert after a restart")
	}
	readInside(s.after(time.Minute), func(x *backend.Inside) { x.Unread = []backend.Safe{backend.Text(backend.PartProcesses)} })
	a := s.look().want(runawayRule, alerts.StateHeld)
	if a.ID != first || !strings.Contains(a.Why.String(), "not evaluated") {
		t.Errorf("another alert without its processes, or none that says why: %s", a.Why)
	}
	s.after(time.Minute).cloudBox(cloudBox, func(b *backend.Sandbox) { b.CreatedAt, b.FreshAt = backend.Known(s.wall), s.wall })
	s.look().quiet(runawayRule)
}

// TestRunawayOfALineIsOneProcess: one line of a log does not tell of two processes; each is told as what it is by itself.
func TestRunawayOfALineIsOneProcess(t *testing.T) {
	two := func(lines float64) *alerts.Alert {
		return beginRunaway(t, func(s *story) {
			s.lines(backend.MetricSDKExec, cloudSession, lines, "ExecTimeoutError, timeout 300.0 s")
			s.look()
			s.pass(15 * time.Minute)
			at := s.wall.Add(-20 * time.Minute)
			readInside(s, func(x *backend.Inside) {
				for _, name := range []backend.Literal{"proc-0a1B2c3D", "dev-server"} {
					x.Processes = append(x.Processes, backend.SandboxProcess{PID: backend.Text(name), Name: backend.Text(name), Command: backend.Text("x"), Class: backend.WorkRunning, StartedAt: at})
				}
			})
		}).want(runawayRule, alerts.StateFiring)
	}
	if got := two(1).Subjects[0].Detail.String(); strings.Contains(got, "as its log says too") || !strings.Contains(got, "may be of this one or of another") || !strings.Contains(got, "its name is not from the agent's SDK") {
		t.Errorf("one line: %s", got)
	}
	if got := two(2).Subjects[0].Detail.String(); strings.Count(got, "as its log says too") != 2 {
		t.Errorf("two lines: %s", got)
	}
}

// TestRunawayAtTheEndOfItsSession: what still runs just after is pending; that it began before its sandbox is no time to go by.
func TestRunawayAtTheEndOfItsSession(t *testing.T) {
	s := beginRunaway(t, func(s *story) {
		s.hub(cloudSession, cloudBox, overNow)
		s.look()
		s.pass(10 * time.Second)
		ran(2*time.Minute, func(p *backend.SandboxProcess) { p.Name = backend.Text("pty-0a1b2c3d4e5f") })(s)
	})
	if a := s.want(runawayRule, alerts.StatePending); !strings.Contains(a.Why.String(), "finds it again") {
		t.Errorf("%s", a.Why)
	}
	s = beginRunaway(t, func(s *story) {
		s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.CreatedAt = backend.Known(s.wall.Add(-time.Hour)) })
		ran(5 * time.Hour)(s)
	})
	s.quiet(runawayRule)
	b := s.lastState().Sandbox(backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID(cloudBox)})
	x, _ := b.Inside()
	if role := s.lastState().RoleOf(b, &x.Processes[0], x.At); !strings.Contains(role.Late.String(), "cannot have begun before its sandbox was made") {
		t.Errorf("%+v", role)
	}
}

// TestRunawayOutlivesItsSession: each process that was there at the end of its session says so, also one that somebody named, which is no
// note then; the start of a session is not said to have been given up.
func TestRunawayOutlivesItsSession(t *testing.T) {
	both := func(after time.Duration) *story {
		return beginRunaway(t, func(s *story) {
			s.hub(cloudSession, cloudBox, overNow)
			s.look()
			s.pass(after)
			at := s.wall.Add(-20 * time.Minute)
			readInside(s, func(x *backend.Inside) {
				for name, command := range map[backend.Literal]backend.Literal{"dev-server": "python serve.py", "pty-0a1b2c3d4e5f": "bash", "proc-0a1B2c3D": "npm run build"} {
					x.Processes = append(x.Processes, backend.SandboxProcess{PID: backend.Text(name), Name: backend.Text(name), Command: backend.Text(command), Class: backend.WorkRunning, StartedAt: at})
				}
			})
		})
	}
	a := both(time.Minute).want(runawayRule, alerts.StateFiring)
	got := a.Subjects[0].Detail.String()
	if a.Severity != alerts.SeverityWarning || strings.Count(got, "its session is over since") != 2 || strings.Count(got, "it outlived its session") != 1 || strings.Contains(got, "its name is not") {
		t.Errorf("%s: %s", a.Severity, got)
	}
	got = both(10*time.Second).want(runawayRule, alerts.StateFiring).Subjects[0].Detail.String()
	if strings.Count(got, "its session is over since") != 2 || strings.Contains(got, "its name is not") {
		t.Errorf("just after its end: %s", got)
	}
	start := beginRunaway(t, ran(6*time.Minute, func(p *backend.SandboxProcess) { p.Command = backend.Text("mkdir -p /workspace") })).want(runawayRule, alerts.StateFiring)
	if got := start.Subjects[0].Detail.String(); strings.Contains(got, "gave up") || !strings.Contains(got, "the SDK has no limit of its own for it") {
		t.Errorf("the start of a session: %s", got)
	}
}

// TestRunawayOfACommandThatTheLogNames: the line of an error names its command, so that it tells of no other process; the wait for it ended
// then, also before the timeout of the SDK.
func TestRunawayOfACommandThatTheLogNames(t *testing.T) {
	begin := func(after time.Duration) *story {
		return beginRunaway(t, func(s *story) {
			started := s.wall
			s.pass(after)
			s.lines(backend.MetricSDKExec, cloudSession, 1, "ExecTransportError, HTTP 504")
			s.health("app", func(h *fleet.SourceHealth) {
				h.Reports = []backend.Report{{Source: "app", At: s.wall, Kind: backend.ReportCommandLost, Session: backend.MustID(cloudSession),
					Command: backend.Text("python train.py"), Text: backend.Text("ExecTransportError, HTTP 504")}}
			})
			s.look()
			s.pass(20 * time.Second)
			readInside(s, func(x *backend.Inside) {
				for pid, command := range map[backend.Literal]backend.Literal{"60": "env API_KEY=x python train.py", "62": "python ka.py"} {
					x.Processes = append(x.Processes, backend.SandboxProcess{PID: backend.Text(pid), Name: backend.Text("job-" + pid), Command: backend.Text(command), Class: backend.WorkRunning, StartedAt: started})
				}
			})
		})
	}
	s := begin(time.Minute)
	a := s.want(runawayRule, alerts.StateFiring)
	got := a.Subjects[0].Detail.String()
	if a.Severity != alerts.SeverityWarning || !strings.Contains(got, "process 60") || !strings.Contains(got, "as its log says") || strings.Contains(got, "process 62") {
		t.Errorf("%s: %s", a.Severity, got)
	}
	s = begin(5 * time.Minute) // that of its timeout, which is the other's time too
	got = s.want(runawayRule, alerts.StateFiring).Subjects[0].Detail.String()
	if !strings.Contains(got, "process 60") || strings.Count(got, "log") != 1 || !strings.Contains(got, "process 62 job-62 (python ka.py)") || strings.Contains(got, "may be of this one") {
		t.Errorf("%s", got)
	}
}
