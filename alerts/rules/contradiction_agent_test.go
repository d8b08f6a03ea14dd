package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// beginWorkers is one running sandbox behind a Worker, whose application calls it demo, and the log of its agent.
func beginWorkers(t testing.TB) *story {
	s := begin(t, contradictionRule)
	s.source("workers", backend.InputContainers)
	s.source("agent-log")
	s.health("agent-log", func(h *fleet.SourceHealth) { h.About = []string{"workers"} })
	s.workersBox(nil)
	return s
}

func (s *story) workersBox(edit func(*backend.Sandbox)) {
	k := backend.Key{Kind: backend.KindSandbox, Source: "workers", ID: backend.MustID("demo")}
	b := &backend.Sandbox{Meta: backend.Meta{Key: k}, IsSandbox: true, Name: backend.Text("demo"), Provider: backend.Text("cloudflare"), Reported: backend.Text("running"),
		Class: backend.SandboxRunning, StartedAt: backend.Known(noon.Add(-time.Hour))}
	if old := s.sandboxes[k]; old != nil {
		c := *old
		b = &c
	}
	b.ReadAt, b.Region, b.BridgeID = s.wall, backend.Text("EEUR"), k.ID
	if edit != nil {
		edit(b)
	}
	s.sandboxes[k] = b
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) agentSays(r backend.Report) {
	r.Source, r.At = "agent-log", s.wall
	r.Sandbox, _ = backend.SandboxOfSession(r.Session.Raw())
	s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = backend.KeepReports(h.Reports, []backend.Report{r}, s.wall) })
}

func notStarted(session, command string) backend.Report {
	return backend.Report{Kind: backend.ReportNotStarted, Session: backend.MustID(session), Command: backend.Text(backend.Literal(command))}
}

func told(a *alerts.Alert) (out string) {
	for _, e := range a.Evidence {
		out += "\n" + e.Text.String()
	}
	return out
}

// TestAnAgentSaysThatNoCommandBegins: its line alone is pending and tells no case; a second fact fires; a command that runs in the
// same session ends it, and one elsewhere does not.
func TestAnAgentSaysThatNoCommandBegins(t *testing.T) {
	t.Parallel()
	state := func(s *story) (alerts.AlertState, string) {
		s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
		all := s.look().alerts(contradictionRule)
		switch len(all) {
		case 0:
			return "", ""
		case 1:
			return all[0].State, all[0].Cause.String() + told(all[0])
		}
		t.Fatalf("%d alerts", len(all))
		return "", ""
	}
	for name, c := range map[string]struct {
		does  func(s *story)
		state alerts.AlertState
		says  []string
	}{
		"the line alone": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			s.agentSays(notStarted("sandbox-demo", "pwd"))
		}, alerts.StatePending, []string{"no command begins in it, its agent's log says", "2 commands in session sandbox-demo", "the newest: pwd", "one cause"}},
		"another sandbox": {func(s *story) { s.agentSays(notStarted("sandbox-other", "ls")) }, "", nil},
		"no sandbox":      {func(s *story) { s.agentSays(notStarted("default", "ls")) }, "", nil},
		"it was removed": {func(s *story) {
			r := notStarted("sandbox-demo", "ls")
			r.Changed, r.ChangedAt, r.GoodAt = backend.Text("rm -rf /workspace"), s.wall.Add(-10*time.Second), s.wall.Add(-20*time.Second)
			s.agentSays(r)
		}, alerts.StateFiring, []string{"since its working directory was changed: rm -rf /workspace", "before it, at", "the newest command that ran in it before"}},
		"and a probe": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall, What: backend.Text("it is missing")}})
			})
		}, alerts.StateFiring, []string{"its working directory is missing", "1 command in session sandbox-demo could not begin"}},
		"one ran later": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			s.wall = s.wall.Add(time.Second)
			ran := notStarted("sandbox-demo", "ls")
			ran.Kind = backend.ReportCommandRan
			s.agentSays(ran)
		}, "", nil},
		"one ran elsewhere": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			ran := notStarted("sandbox-other", "ls")
			ran.Kind = backend.ReportCommandRan
			s.agentSays(ran)
		}, alerts.StatePending, nil},
		"a probe ran": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall.Add(time.Second)}})
			})
		}, alerts.StatePending, []string{"although a probe's command ran", "a probe cannot tell"}},
		"a fault is gone": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved(backend.MergeVerdicts([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall.Add(time.Second)}},
					[]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall.Add(2 * time.Second)}}))
			})
		}, "", nil},
		"beside a valid link": {func(s *story) {
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall.Add(time.Second)},
					{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, What: backend.Textf("%s/mnt/r2/project, and has 3 entries", backend.Text(backend.RootIsLink)), At: s.wall.Add(time.Second)}})
			})
			s.agentSays(notStarted("sandbox-demo", "ls"))
		}, alerts.StateFiring, []string{"its working directory is a link to /mnt/r2/project", "old images begin no command"}},
		"after a probe that ran": {func(s *story) {
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall.Add(-time.Second)}})
			})
			s.agentSays(notStarted("sandbox-demo", "ls"))
		}, alerts.StatePending, []string{"its agent's log says", "exec worked", "before the fault", "a plain command ran at 11:59:59Z, before the first such line: that tells nothing of now"}},
		"a probe that ran after the line, and a later one that found commands to fail": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			s.workersBox(func(b *backend.Sandbox) {
				ran := s.wall.Add(5 * time.Second)
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerDir, At: s.wall.Add(9 * time.Second), LastOK: ran},
					{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: ran}, {Plane: backend.PlaneRead, Outcome: backend.OutcomeUnknown, At: ran, What: backend.Text(backend.EmptyRead)}})
			})
		}, alerts.StateFiring, []string{"a probe's command still ran at 12:00:05Z, later than the first of its agent that could not begin", "at 12:00:05Z, before commands of a probe failed: filesystem list worked",
			"at 12:00:05Z, before commands of a probe failed: the file that was asked for came back empty"}},
		"a link alone": {func(s *story) {
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall},
					{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, What: backend.Textf("%s/mnt, and has 3 entries", backend.Text(backend.RootIsLink)), At: s.wall}})
			})
		}, "", nil},
		"it began again": {func(s *story) {
			s.agentSays(notStarted("sandbox-demo", "ls"))
			s.workersBox(func(b *backend.Sandbox) { b.StartedAt = backend.Known(s.wall.Add(time.Second)) })
		}, "", nil},
	} {
		s := beginWorkers(t)
		c.does(s)
		is, said := state(s)
		if is != c.state {
			t.Errorf("%s: %q, want %q\n%s", name, is, c.state, said)
		}
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, said)
			}
		}
	}
}

// repair is what a repair observed: the fault that it found, and the proof that it is gone.
func (s *story) repair() {
	s.workersBox(func(b *backend.Sandbox) {
		o, _ := b.Observed.Get()
		*b = *b.WithObserved(backend.MergeVerdicts(o.Verdicts, []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall}},
			[]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall.Add(time.Second), Repaired: s.wall.Add(time.Second)}}))
	})
}

func (s *story) probeRan() {
	s.workersBox(func(b *backend.Sandbox) {
		o, _ := b.Observed.Get()
		*b = *b.WithObserved(backend.MergeVerdicts(o.Verdicts, []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall}}))
	})
}

// TestCommandsDoNotBeginAfterARepair: what was said before the repair is over; lines after it fire with their own onset, also after
// a later probe and whether or not somebody looked in between; a new removal is named with its own onset.
func TestCommandsDoNotBeginAfterARepair(t *testing.T) {
	t.Parallel()
	for _, looks := range []bool{true, false} {
		s := beginWorkers(t)
		look := func(secs int) []*alerts.Alert {
			s.pass(time.Duration(secs) * time.Second)
			s.workersBox(nil)
			if !looks {
				return nil
			}
			return s.look().alerts(contradictionRule)
		}
		r := notStarted("sandbox-demo", "ls")
		r.Changed, r.ChangedAt, r.GoodAt = backend.Text("rm -rf /workspace"), s.wall.Add(-10*time.Second), s.wall.Add(-20*time.Second)
		s.agentSays(r)
		if all := look(10); looks && (len(all) != 1 || all[0].State != alerts.StateFiring) {
			t.Fatalf("before the repair: %d alerts", len(all))
		}
		s.repair()
		if all := look(10); looks && len(all) == 1 && all[0].State == alerts.StateFiring {
			t.Fatalf("the repair ended nothing: %s", all[0].Cause)
		}
		r = notStarted("sandbox-demo", "pwd")
		r.Changed, r.ChangedAt, r.GoodAt = backend.Text("rm -rf /workspace"), noon.Add(-10*time.Second), noon.Add(-20*time.Second) // the log still remembers it
		failed := s.wall
		s.agentSays(r)
		look(10)
		s.probeRan()
		looks = true
		all := look(10)
		if len(all) != 1 || all[0].State != alerts.StateFiring {
			t.Fatalf("after the repair: %d alerts", len(all))
		}
		said := all[0].Cause.String() + told(all[0])
		for _, want := range []string{"no command begins in it after its repair at ", "1 command in session sandbox-demo could not begin since " + failed.UTC().Format("15:04:05"), "what was repaired is not all"} {
			if !strings.Contains(said, want) {
				t.Errorf("%q is missing in\n%s", want, said)
			}
		}
		if !all[0].Bounds.Latest.Equal(failed) {
			t.Errorf("began at %v, want %v", all[0].Bounds.Latest, failed)
		}
		r.ChangedAt, r.GoodAt = s.wall.Add(-2*time.Second), s.wall.Add(-2*time.Second)
		s.repair()
		s.pass(5 * time.Second)
		r.Changed, r.ChangedAt = backend.Text("rm -r /workspace"), s.wall.Add(-2*time.Second)
		r.GoodAt = r.ChangedAt
		failed = s.wall
		s.agentSays(r)
		if all = look(5); len(all) != 1 || all[0].State != alerts.StateFiring || !strings.Contains(all[0].Cause.String(), "was changed: rm -r /workspace") ||
			!all[0].Bounds.Latest.Equal(failed) || !all[0].Bounds.Earliest.Equal(r.GoodAt) {
			t.Fatalf("a new removal: %+v", all)
		}
	}
}

// TestTheOnsetOfLinesStays: lines that are read again without the first ones, and older ones without a command that ran before them,
// leave the onset between the last command that ran and the first that could not begin.
func TestTheOnsetOfLinesStays(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	good, first := s.wall.Add(-30*time.Second), s.wall
	r := notStarted("sandbox-demo", "ls")
	r.Changed, r.ChangedAt, r.GoodAt = backend.Text("rm -rf /workspace"), s.wall.Add(-10*time.Second), good
	s.agentSays(r)
	s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
	check := func(when string) {
		t.Helper()
		all := s.look().alerts(contradictionRule)
		if len(all) != 1 || all[0].State != alerts.StateFiring {
			t.Fatalf("%s: %d alerts", when, len(all))
		}
		if b := all[0].Bounds; !b.Latest.Equal(first) || !b.Earliest.Equal(good) {
			t.Errorf("%s: between %v and %v, want %v and %v", when, b.Earliest, b.Latest, good, first)
		}
		if said := all[0].Cause.String() + told(all[0]); !strings.Contains(said, "since "+first.UTC().Format("15:04:05")) || !strings.Contains(said, "rm -rf /workspace") {
			t.Errorf("%s: %s", when, said)
		}
	}
	check("at first")
	s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = nil })
	s.agentSays(notStarted("sandbox-demo", "pwd"))
	s.workersBox(nil)
	check("read again")
	if said := told(s.board.Alerts[0]); !strings.Contains(said, "log: at least 1 command in session sandbox-demo") {
		t.Errorf("the first lines are not read any more: %s", said)
	}
	first = first.Add(-5 * time.Second)
	older := notStarted("sandbox-demo", "make")
	older.Source, older.At = "agent-log", first
	older.Sandbox, _ = backend.SandboxOfSession(older.Session.Raw())
	s.health("agent-log", func(h *fleet.SourceHealth) {
		h.Reports = backend.KeepReports(h.Reports, []backend.Report{older}, s.wall)
	})
	s.workersBox(nil)
	check("an older line")
}

// TestALineThatIsNotReadAnyMore: a process that looks later than the log is read back says so, under the log that had the line, and a command
// that ran since ends it.
func TestALineThatIsNotReadAnyMore(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	s.agentSays(notStarted("sandbox-demo", "ls"))
	at := s.wall
	s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
	if said := told(s.want(contradictionRule, alerts.StatePending)); !strings.Contains(said, "1 command in session sandbox-demo") || strings.Contains(said, "\nreported: no command begins") {
		t.Errorf("the line is read: %s", said)
	}
	s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = nil })
	s.restart()
	s.every(10*time.Second, 20*time.Minute, func() { s.workersBox(nil) })
	a := s.want(contradictionRule, alerts.StatePending)
	wantEvidence(t, a, "log: a command could not begin at "+at.UTC().Format("15:04:05")+"Z; that line is older than what is read now, which shows none that ran since")
	if e := a.Evidence[len(a.Evidence)-1]; e.Source != "agent-log" {
		t.Errorf("it is told by %s", e.Source)
	}
	ran := notStarted("sandbox-demo", "ls")
	ran.Kind = backend.ReportCommandRan
	s.agentSays(ran)
	s.workersBox(nil)
	s.look().quiet(contradictionRule)
}

// TestManyAgentsNameNoCase: of many sandboxes whose agents' logs alone tell, the group says what they say and no case.
func TestManyAgentsNameNoCase(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	for i, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} { // of the last two nothing but the line is known
		k := backend.Key{Kind: backend.KindSandbox, Source: "workers", ID: backend.MustID(id)}
		b := *s.sandboxes[backend.Key{Kind: backend.KindSandbox, Source: "workers", ID: backend.MustID("demo")}]
		b.Key, b.Name, b.BridgeID = k, k.Safe(), k.ID
		s.sandboxes[k] = &b
		s.delta.Changed = append(s.delta.Changed, k)
		r := notStarted("sandbox-"+id, "ls")
		r.GoodAt = s.wall.Add(-20 * time.Second)
		if i < 6 {
			r.Changed, r.ChangedAt = backend.Text("rm -rf /workspace"), s.wall.Add(-10*time.Second)
		}
		s.agentSays(r)
	}
	good := s.wall.Add(-20 * time.Second)
	s.look()
	all := s.look().alerts(contradictionRule)
	n := 0
	for _, a := range all {
		if a.SubjectCount > 1 {
			n++
			if said := a.Cause.String(); !strings.Contains(said, "no command begins in them, their agents' logs say") || strings.Contains(said, "missing") {
				t.Errorf("the group says: %s", said)
			}
			if said := told(a); a.SubjectCount != 8 || a.Sessions != 0 || !strings.Contains(said, "8 sandboxes of workers show it") || !strings.Contains(said, "in 6 of 8 its own agent") {
				t.Errorf("%d sandboxes, %d sessions: %s", a.SubjectCount, a.Sessions, said)
			}
			if !a.Bounds.Earliest.Equal(good) {
				t.Errorf("it began after %s, want %s", a.Bounds.Earliest, good)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d groups among %d alerts", n, len(all))
	}
}

// TestANewImageIsNotBlamed: a link explains lines only where the image may be one of the old ones.
func TestANewImageIsNotBlamed(t *testing.T) {
	t.Parallel()
	for image, old := range map[backend.Literal]bool{"docker.io/cloudflare/sandbox:0.8.11": true, "registry/agent:1": true, "docker.io/cloudflare/sandbox:0.9.0": false, "cloudflare/sandbox:0.12.7-python": false, "cloudflare/sandbox:1.0.1": false} {
		s := beginWorkers(t)
		s.workersBox(func(b *backend.Sandbox) {
			b.Image = backend.Text(image)
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall},
				{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, What: backend.Textf("%s/mnt/r2, and has 3 entries", backend.Text(backend.RootIsLink)), At: s.wall}})
		})
		s.agentSays(notStarted("sandbox-demo", "ls"))
		all := s.look().alerts(contradictionRule)
		if len(all) != 1 || (all[0].State == alerts.StateFiring) != old || strings.Contains(told(all[0]), "old images begin no command") != old {
			t.Errorf("%s: %+v", image, all)
		}
	}
}

// TestAWorkingDirectoryThatCannotBeListedIsANote, while plain commands run; where they do not it is an alert.
func TestAWorkingDirectoryThatCannotBeListedIsANote(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[backend.Outcome]alerts.Severity{backend.OutcomeOK: alerts.SeverityInfo, backend.OutcomeFailed: alerts.SeverityCritical} {
		s := beginWorkers(t)
		s.workersBox(func(b *backend.Sandbox) {
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: outcome, At: s.wall}, {Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, At: s.wall, What: backend.Text("/workspace cannot be listed")}})
		})
		if a := s.look().want(contradictionRule, alerts.StateFiring); a.Severity != want {
			t.Errorf("plain commands %s: %s, want %s: %s", outcome, a.Severity, want, a.Cause)
		}
	}
}

// TestSilenceOfAWorkersSandboxIsNoFrozenProcess: of a probe that nothing answered the alert says what the probe did, and no more: it
// waits for a second one where nothing showed that the sandbox runs.
func TestSilenceOfAWorkersSandboxIsNoFrozenProcess(t *testing.T) {
	t.Parallel()
	for kind, c := range map[backend.FailureKind]struct {
		state alerts.AlertState
		cause string
	}{
		backend.FailServerFrozen: {alerts.StateFiring, "reported running, but its control server answers nothing"},
		backend.FailExecTimeout:  {alerts.StatePending, "reported running, but no command in it ended: its control server hangs, or its container does not start"},
	} {
		s := beginWorkers(t)
		s.workersBox(func(b *backend.Sandbox) {
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: kind, At: s.wall, What: backend.Text("nothing ended")}})
		})
		all := s.look().alerts(contradictionRule)
		if len(all) != 1 || all[0].State != c.state || all[0].Cause.String() != c.cause {
			t.Errorf("%s: %d alerts: %+v", kind, len(all), all)
		}
	}
}

// TestAFaultThatAProbeFoundBeganAfterTheLogsLastCommand: the log shows no failing line, and its newest command before the fault bounds
// the onset all the same, with the line as evidence; one after the first command that was not answered does not.
func TestAFaultThatAProbeFoundBeganAfterTheLogsLastCommand(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	good := s.wall.Add(-time.Minute)
	says := func(at time.Time) {
		r := backend.Report{Kind: backend.ReportCommandGood, Session: backend.MustID("sandbox-demo"), Source: "agent-log", At: at}
		r.Sandbox, _ = backend.SandboxOfSession("sandbox-demo")
		s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports = backend.KeepReports(h.Reports, []backend.Report{r}, s.wall) })
	}
	says(good)
	s.look().quiet(contradictionRule)
	s.pass(3 * time.Minute)
	first := s.wall.Add(-170 * time.Second)
	s.workersBox(func(b *backend.Sandbox) {
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerFrozen, At: s.wall, Since: first, What: backend.Text("nothing ended")}})
	})
	a := s.look().want(contradictionRule, alerts.StateFiring)
	if !a.Bounds.Earliest.Equal(good) || !a.Bounds.Latest.Equal(first) {
		t.Errorf("between %s and %s, want between %s and %s", a.Bounds.Earliest, a.Bounds.Latest, good, first)
	}
	wantEvidence(t, a, "log: the newest command that ran in it before was at 11:59:00Z")
	says(s.wall)
	if b := s.after(time.Second).want(contradictionRule, alerts.StateFiring).Bounds; b != a.Bounds {
		t.Errorf("a later line moved it: %v, was %v", b, a.Bounds)
	}
}

// TestAFaultAfterARepairIsAnother: after a command ran that came after the repair, a new line is alone again; a probe that then finds the
// directory missing has the onset of this fault, and what was removed before the repair explains nothing.
func TestAFaultAfterARepairIsAnother(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	look := func(secs int) *alerts.Alert {
		s.pass(time.Duration(secs) * time.Second)
		s.workersBox(nil)
		if all := s.look().alerts(contradictionRule); len(all) == 1 {
			return all[0]
		}
		return &alerts.Alert{}
	}
	r := notStarted("sandbox-demo", "ls")
	r.Changed, r.ChangedAt, r.GoodAt = backend.Text("rm -rf /workspace"), s.wall.Add(-10*time.Second), s.wall.Add(-20*time.Second)
	s.agentSays(r)
	look(10)
	s.repair()
	look(10)
	good := s.wall
	r = notStarted("other", "make")
	r.Changed, r.ChangedAt, r.GoodAt = backend.Text("rm -rf /workspace"), noon.Add(-10*time.Second), good
	s.pass(4 * time.Second)
	failed := s.wall
	s.agentSays(r)
	s.health("agent-log", func(h *fleet.SourceHealth) { h.Reports[len(h.Reports)-1].Sandbox = backend.MustID("demo") })
	if a := look(5); a.State == alerts.StateFiring || strings.Contains(a.Cause.String()+told(a), "what was repaired is not all") || strings.Contains(told(a), "rm -rf") {
		t.Errorf("%s %s%s", a.State, a.Cause, told(a))
	}
	if why := s.last.Unfit("repair", s.last.Entity(backend.Key{Kind: backend.KindSandbox, Source: "workers", ID: backend.MustID("demo")}).(*backend.Sandbox)).String(); !strings.Contains(why, "its agent's log says since then that none begins") {
		t.Errorf("a repair is refused by %q", why)
	}
	s.workersBox(func(b *backend.Sandbox) {
		o, _ := b.Observed.Get()
		*b = *b.WithObserved(backend.MergeVerdicts(o.Verdicts, []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall}}))
	})
	a := look(5)
	if a.State != alerts.StateFiring || !a.Bounds.Latest.Equal(failed) || !a.Bounds.Earliest.Equal(good) || strings.Contains(told(a), "rm -rf") {
		t.Errorf("%s between %v and %v, want %v and %v%s", a.State, a.Bounds.Earliest, a.Bounds.Latest, good, failed, told(a))
	}
}

// TestAnotherRunDatesTheSameLinesAgain: each run measures the clock of the log's source anew, so that one line has times a little apart. The
// onset keeps both its bounds.
func TestAnotherRunDatesTheSameLinesAgain(t *testing.T) {
	t.Parallel()
	s := beginWorkers(t)
	first := s.wall
	r := notStarted("sandbox-demo", "ls")
	r.Changed, r.ChangedAt, r.GoodAt = backend.Text("rm -rf /workspace"), first, first
	s.agentSays(r)
	check := func(when string) {
		t.Helper()
		s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
		all := s.look().alerts(contradictionRule)
		if len(all) != 1 || !all[0].Bounds.Latest.Equal(first) || !all[0].Bounds.Earliest.Equal(first) {
			t.Errorf("%s: %+v, want %v", when, all, first)
		}
	}
	check("as it was read")
	for _, off := range []time.Duration{-120 * time.Millisecond, 80 * time.Millisecond, -400 * time.Millisecond} {
		s.restart()
		s.health("agent-log", func(h *fleet.SourceHealth) {
			x := r
			x.Source, x.Sandbox = "agent-log", h.Reports[0].Sandbox
			x.At, x.GoodAt, x.ChangedAt = first.Add(off), first.Add(off), first.Add(off)
			h.Reports = []backend.Report{x}
		})
		check(off.String())
	}
}
