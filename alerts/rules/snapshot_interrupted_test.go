package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const interruptedRule = "snapshot-interrupted"

// probed is a sandbox in which a probe found an archive, written this long before.
func probed(restore bool, age time.Duration, edits ...func(*backend.Inside)) func(*story) {
	return func(s *story) {
		x := &backend.Inside{At: s.wall, Root: backend.Text("/workspace"),
			Archives: []backend.SandboxArchive{{Path: backend.Text("/tmp/bl-persist-4cf3926c7813.tar"), Restore: restore, Session: backend.Text("4cf3926c7813"), Size: 187e6, ChangedAt: s.wall.Add(-age)}}}
		for _, edit := range edits {
			edit(x)
		}
		s.sees(cloudBox, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, Passive: true, At: s.wall, Inside: x})
	}
}

func beginInterrupted(t testing.TB, do func(*story)) *story {
	s := beginCloud(t, interruptedRule)
	do(s)
	return s.look()
}

var interruptedLimits = []limit{
	{interruptedRule, func(t *testing.T, at bool) *story { // the SDK's own timeouts
		age := 330 * time.Second
		if at {
			age += time.Second
		}
		return beginInterrupted(t, probed(false, age))
	}},
}

func TestSnapshotInterruptedFires(t *testing.T) {
	s := beginInterrupted(t, probed(false, time.Hour))
	a := s.want(interruptedRule, alerts.StateFiring)
	wantEvidence(t, a, "/tmp/bl-persist-4cf3926c7813.tar, 187 MB, not written since 11:00:00Z, of the session that begins with 4cf3926c7813")
	if a.Severity != alerts.SeverityWarning || a.Subjects[0].Key != cloudKey(backend.KindSandbox, cloudBox) {
		t.Errorf("%s %v", a.Severity, a.Subjects)
	}
	probed(false, 0, func(x *backend.Inside) { x.Archives = nil })(s.after(time.Minute)) // it is removed
	for _, a := range s.look().alerts(interruptedRule) {
		if a.State != alerts.StateResolved {
			t.Errorf("the archive is gone, and it is %s", a.State)
		}
	}
}

// TestSnapshotInterruptedJoinsItsSession: by the digits in the name of the archive and a saved state, with what the log says of it.
func TestSnapshotInterruptedJoinsItsSession(t *testing.T) {
	s := beginCloud(t, interruptedRule)
	const session = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
	s.source("app", backend.InputEvictionLogs)
	s.lines(backend.MetricPersistFailed, session, 2, "tar: ./a: Cannot open")
	s.stateOn(cloudBox, s.wall, nil)
	s.refs[0].Session = backend.MustID(session)
	s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Session = backend.ID{} })
	probed(true, time.Hour, func(x *backend.Inside) {
		x.Archives[0].Session = backend.Text("0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d")
		x.Processes = []backend.SandboxProcess{{PID: backend.Text("42"), Class: backend.WorkRunning, Command: backend.Text("tar -C /workspace -xf /tmp/bl-persist-4cf3926c7813.tar")}}
	})(s)
	a := s.look().want(interruptedRule, alerts.StateFiring)
	wantEvidence(t, a, "of session "+session+"; process 42 still uses it")
	wantEvidence(t, a, "log: 2 lines of persist-failed, newest: tar: ./a: Cannot open")
	if a.Sessions != 1 || a.Cause.String() != "a restore of its files was cut off: part of them may be missing" {
		t.Errorf("%d sessions, cause %s", a.Sessions, a.Cause)
	}
}

// TestAnArchiveOfAnotherSession claims nothing of the snapshots of the session on its sandbox, and one of its own comes first.
func TestAnArchiveOfAnotherSession(t *testing.T) {
	for name, c := range map[string]struct {
		digits   []string
		severity alerts.Severity
		cause    string
	}{
		"only another's": {[]string{"4cf3926c7813"}, alerts.SeverityInfo, "an archive of another session's save or restore is in its /tmp"},
		"its own too":    {[]string{"4cf3926c7813", "0a1b2c3d4e5f"}, alerts.SeverityWarning, "a save of its files was cut off: the archive is still in /tmp"},
	} {
		a := beginInterrupted(t, func(s *story) {
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Session = backend.MustID("0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d") })
			probed(false, time.Hour, func(x *backend.Inside) {
				one := x.Archives[0]
				x.Archives = nil
				for _, d := range c.digits {
					one.Session = backend.Clean(d, 40)
					x.Archives = append(x.Archives, one)
				}
			})(s)
		}).want(interruptedRule, alerts.StateFiring)
		if a.Severity != c.severity || a.Cause.String() != c.cause {
			t.Errorf("%s: %s %s", name, a.Severity, a.Cause)
		}
	}
}

// TestSnapshotInterruptedByALostDrive: each drive that the saved state declares, and that is not mounted, is named.
func TestSnapshotInterruptedByALostDrive(t *testing.T) {
	drives := func(s *story) {
		s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) {
			x.Drives = []backend.Safe{backend.Text("/cache"), backend.Text("/data"), backend.Text("/models")}
		})
	}
	only := func(x *backend.Inside) { x.Archives, x.Mounts = nil, []backend.Safe{backend.Text("/data")} }
	s := beginInterrupted(t, func(s *story) { drives(s); probed(false, 0, only)(s) })
	wantEvidence(t, s.want(interruptedRule, alerts.StateFiring), "not mounted: /cache, /models")

	for name, edits := range map[string][]func(*backend.Inside){
		"a snapshot is made now":     {func(x *backend.Inside) { x.Mounts = nil }},
		"mounts could not be read":   {only, func(x *backend.Inside) { x.Unread = []backend.Safe{backend.Text(backend.PartMounts)} }},
		"all of them are mounted":    {only, func(x *backend.Inside) { x.Mounts = append(x.Mounts, backend.Text("/models"), backend.Text("/cache")) }},
		"the list of mounts was cut": {only, func(x *backend.Inside) { x.Mounts = slices.Repeat(x.Mounts, backend.MaxMountsKept) }},
	} {
		t.Run(name, func(t *testing.T) {
			beginInterrupted(t, func(s *story) { drives(s); probed(false, time.Minute, edits...)(s) }).quiet(interruptedRule)
		})
	}
}

// TestADriveMayBeAbsentDuringASave: it is no alert until the save is over, nor the end of one. Afterwards each is named, also beside an
// archive that was left.
func TestADriveMayBeAbsentDuringASave(t *testing.T) {
	const save = "sh -c 'tar -C /workspace -cf /tmp/bl-persist-4cf3926c7813.tar .'"
	tar := func(s *story, began time.Duration, end time.Time) func(*backend.Inside) {
		return func(x *backend.Inside) {
			p := backend.SandboxProcess{PID: backend.Text("42"), Command: backend.Text(save), Class: backend.WorkRunning, StartedAt: s.wall.Add(-began), EndedAt: end}
			if !end.IsZero() {
				p.Class = backend.WorkSucceeded
			}
			x.Archives, x.Processes = nil, []backend.SandboxProcess{p}
		}
	}
	s := beginInterrupted(t, func(s *story) {
		s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) { x.Drives = []backend.Safe{backend.Text("/cache"), backend.Text("/data")} })
		probed(false, 0, tar(s, time.Minute, time.Time{}))(s)
	})
	s.quiet(interruptedRule)
	s.after(time.Minute)
	ended := s.wall.Add(-31 * time.Second)
	probed(false, 0, tar(s, 2*time.Minute, ended))(s)
	a := s.look().want(interruptedRule, alerts.StateFiring)
	wantEvidence(t, a, "not mounted: /cache, /data")
	s.after(time.Minute)
	probed(false, 0, tar(s, time.Second, time.Time{}))(s) // the next save
	if a := s.look().want(interruptedRule, alerts.StateHeld); !strings.Contains(a.Why.String(), "a save or restore of its files was under way then (process 42): mounts may be absent until it ends") {
		t.Errorf("held, because %s", a.Why)
	}
	s.after(time.Hour)
	probed(false, 40*time.Minute)(s) // which was cut off
	for _, a := range s.look().alerts(interruptedRule) {
		if a.State == alerts.StateFiring {
			wantEvidence(t, a, "; not mounted: /cache, /data")
			return
		}
	}
	t.Error("nothing fires for the archive that was left")
}

func TestSnapshotInterruptedDoesNotFire(t *testing.T) {
	for name, do := range map[string]func(*story){
		"not probed":         func(*story) {},
		"in use":             probed(false, time.Minute),
		"its age is unknown": probed(false, time.Hour, func(x *backend.Inside) { x.Archives[0].ChangedAt = time.Time{} }),
		"nothing is left":    probed(false, 0, func(x *backend.Inside) { x.Archives = nil }),
		"its timeouts are longer": func(s *story) {
			s.stateOn(cloudBox, s.wall, func(x *backend.AgentState) {
				x.Timeouts = backend.AgentTimeouts()
				x.Timeouts[4].Seconds = 7200
			})
			probed(false, 2*time.Hour)(s)
		},
		"it is gone": func(s *story) {
			probed(false, time.Hour)(s)
			s.cloudBox(cloudBox, func(b *backend.Sandbox) { b.Class = backend.SandboxExited })
		},
	} {
		t.Run(name, func(t *testing.T) { beginInterrupted(t, do).quiet(interruptedRule) })
	}
}

// TestSnapshotInterruptedGapRestart: a probe that cannot read /tmp proves nothing, and neither does a restart.
func TestSnapshotInterruptedGapRestart(t *testing.T) {
	s := beginInterrupted(t, probed(false, time.Hour))
	first := s.want(interruptedRule, alerts.StateFiring).ID
	s.restart()
	if a := s.look().want(interruptedRule, alerts.StateFiring); a.ID != first {
		t.Errorf("another alert after a restart")
	}
	probed(false, 0, func(x *backend.Inside) {
		x.Archives, x.Unread = nil, []backend.Safe{backend.Text(backend.PartArchives)}
	})(s.after(time.Minute))
	if a := s.look().want(interruptedRule, alerts.StateHeld); a.ID != first {
		t.Errorf("another alert without /tmp")
	}
}

// TestNotProbedIsNotFine: until a probe read a sandbox of a source, the rules about what is inside say that they see nothing there.
func TestNotProbedIsNotFine(t *testing.T) {
	s := beginCloud(t, interruptedRule, runawayRule)
	s.source("cloud", backend.InputContainers, backend.InputPlatform)
	s.health("cloud", func(h *fleet.SourceHealth) { h.Kind = "blaxel" })
	s.cloudBox(cloudBox, nil)
	s.look()
	for rule, want := range map[string]string{interruptedRule: "no probe has read /tmp of a sandbox of cloud", runawayRule: "no probe has read the processes of a sandbox of cloud"} {
		if got := s.blindWhy(rule, "cloud"); !strings.Contains(got, want) {
			t.Errorf("%s: %q", rule, got)
		}
	}
	probed(false, time.Second)(s)
	s.look()
	if got := s.blindWhy(interruptedRule, "cloud") + s.blindWhy(runawayRule, "cloud"); got != "" {
		t.Errorf("after a probe: %s", got)
	}
}
