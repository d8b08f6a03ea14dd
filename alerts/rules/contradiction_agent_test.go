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
		}, alerts.StatePending, []string{"although a probe's command ran", "a probe cannot tell"}},
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
