package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

func fileCall(session string) backend.Report {
	r := notStarted(session, "")
	r.FileCall, r.Text = true, backend.Text("Failed to read file '/workspace/a.txt' in session 'sandbox-demo': Unknown Error, TODO")
	return r
}

// TestFileCallsThatFailAsCommandsDo: they are counted as what they are; beside a look at the working directory that finds no link they
// name the control server's directory, unless the image outlives that or the directory was changed after the look.
func TestFileCallsThatFailAsCommandsDo(t *testing.T) {
	t.Parallel()
	listed := func(s *story, what backend.Literal) {
		s.workersBox(func(b *backend.Sandbox) {
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall}, {Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: s.wall, What: backend.Text(what)}})
		})
	}
	for name, c := range map[string]struct {
		does  func(s *story)
		state alerts.AlertState
		cause string
		says  []string
		not   string
	}{
		"alone": {func(s *story) { s.agentSays(fileCall("sandbox-demo")) }, alerts.StatePending, "reported running, but no file call begins in it, its agent's log says",
			[]string{"log: 1 file call in session sandbox-demo could not begin", "Failed to read file '/workspace/a.txt'"}, "1 command"},
		"with a command": {func(s *story) {
			s.agentSays(fileCall("sandbox-demo"))
			s.agentSays(notStarted("sandbox-demo", "ls"))
		}, alerts.StatePending, "reported running, but no command begins in it, and no file call does, its agent's log says", []string{"log: 1 command and 1 file call in session"}, "2 commands"},
		"with a look": {func(s *story) {
			listed(s, "/workspace has 2 entries")
			s.agentSays(fileCall("sandbox-demo"))
			s.agentSays(notStarted("sandbox-demo", "ls"))
		}, alerts.StateFiring, "reported running, but no command begins in it, and no file call does: the directory of its control server is gone", nil, "a probe cannot tell"},
		"with a missing directory": {func(s *story) {
			s.workersBox(func(b *backend.Sandbox) {
				*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall}, {Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: s.wall}})
			})
			s.agentSays(fileCall("sandbox-demo"))
		}, alerts.StateFiring, "reported running, but no file call begins in it: the directory of its control server is gone", nil, "link"},
		"in a linked directory": {func(s *story) {
			listed(s, backend.RootIsLink+"/mnt/r2, and has 3 entries")
			s.agentSays(fileCall("sandbox-demo"))
		}, alerts.StateFiring, "reported running, but no command begins in it, and its working directory is a link to /mnt/r2", nil, "control server is gone: no"},
		"a newer image": {func(s *story) {
			listed(s, "/workspace has 2 entries")
			s.workersBox(func(b *backend.Sandbox) { b.Image = backend.Text("cloudflare/sandbox:0.12.7") })
			s.agentSays(fileCall("sandbox-demo"))
		}, alerts.StatePending, "reported running, but no file call begins in it, its agent's log says, although a probe's command ran", nil, "since its"},
		"changed after the look": {func(s *story) {
			listed(s, "/workspace has 2 entries")
			s.wall = s.wall.Add(5 * time.Second)
			r := fileCall("sandbox-demo")
			r.Changed, r.ChangedAt = backend.Text("rm -rf /workspace"), s.wall.Add(-time.Second)
			s.agentSays(r)
		}, alerts.StateFiring, "reported running, but no file call begins in it since its working directory was changed: rm -rf /workspace", nil, "2 file calls"},
	} {
		s := beginWorkers(t)
		c.does(s)
		s.every(10*time.Second, time.Minute, func() { s.workersBox(nil) })
		all := s.look().alerts(contradictionRule)
		if len(all) != 1 || all[0].State != c.state || all[0].Cause.String() != c.cause {
			t.Errorf("%s: %d alerts: %v", name, len(all), all)
			for _, a := range all {
				t.Logf("%s %s", a.State, a.Cause)
			}
			continue
		}
		said := told(all[0])
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s: %q is missing in\n%s", name, want, said)
			}
		}
		if strings.Contains(said, c.not) {
			t.Errorf("%s: %q stands in\n%s", name, c.not, said)
		}
	}
}

// TestNoProbeIsAdvisedWhereNoneIsTaken: not behind the 1.0 preview, and not for an instance whose id of the bridge nothing names.
func TestNoProbeIsAdvisedWhereNoneIsTaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(s *story)
		want   string
	}{
		"a bridge that obeys": {func(*story) {}, "sandglass probe demo"},
		"the preview": {func(s *story) {
			s.health("workers", func(h *fleet.SourceHealth) { h.Refuses = backend.Text("this bridge is the 1.0 preview") })
		}, "No probe gives one: this bridge is the 1.0 preview"},
		"unattributed": {func(s *story) {
			s.workersBox(func(b *backend.Sandbox) { b.Unattributed, b.BridgeID = true, backend.ID{} })
		}, "No probe gives one: no id of the bridge is known for it"},
	} {
		s := beginWorkers(t)
		s.agentSays(notStarted("sandbox-demo", "ls"))
		c.change(s)
		a := s.look().want(contradictionRule, alerts.StatePending)
		if why := a.Why.String(); !strings.Contains(why, c.want) || strings.Contains(why, "sandglass probe") != (name == "a bridge that obeys") {
			t.Errorf("%s: %s", name, why)
		}
	}
}

// TestManyThatNobodyReports: the alert about many says of them what each one's says, and does not look outside for what their agents ran.
func TestManyThatNobodyReports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		unlisted int
		did      int
		changed  backend.Literal
		cause    string
		says     string
		outside  bool
	}{
		{0, 0, "", "many sandboxes at once are reported well, but no command begins in them", "6 sandboxes of workers show it", true},
		{6, 6, "rm -rf /workspace", "many sandboxes at once are not reported, but no command begins in them", "log: in 6 of 6 its own agent ran what changed its working directory, such as: rm -rf /workspace", false},
		{2, 4, "rm -rf /workspace", "many sandboxes at once are reported well or not at all, but no command begins in them", "log: in 4 of 6 its own agent", false},
		{2, 2, "rm -rf /workspace", "many sandboxes at once are reported well or not at all, but no command begins in them", "log: in 2 of 6, not in most, its own agent", true},
	} {
		s := beginWorkers(t)
		for i, id := range []string{"a", "b", "c", "d", "e", "f"} {
			k := backend.Key{Kind: backend.KindSandbox, Source: "workers", ID: backend.MustID(id)}
			b := *s.sandboxes[backend.Key{Kind: backend.KindSandbox, Source: "workers", ID: backend.MustID("demo")}]
			b.Key, b.Name, b.BridgeID = k, k.Safe(), k.ID
			if i < c.unlisted {
				b.Unlisted, b.Class = true, backend.SandboxUnknown
			}
			if i >= c.did {
				b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: s.wall}, {Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: s.wall, What: backend.Textf("%s/mnt, and has 3 entries", backend.Text(backend.RootIsLink))}})
			}
			s.sandboxes[k] = &b
			s.delta.Changed = append(s.delta.Changed, k)
			r := notStarted("sandbox-"+id, "ls")
			if i < c.did {
				r.Changed, r.ChangedAt, r.GoodAt = backend.Text(c.changed), s.wall.Add(-10*time.Second), s.wall.Add(-20*time.Second)
			}
			s.agentSays(r)
		}
		groups := 0
		for _, a := range s.look().alerts(contradictionRule) {
			if a.SubjectCount != 6 {
				continue
			}
			groups++
			if said := told(a); !strings.Contains(a.Cause.String(), c.cause) || strings.Contains(said, "one cause outside") != c.outside || !strings.Contains(said, c.says) {
				t.Errorf("%d that nobody reports: %s%s", c.unlisted, a.Cause, said)
			}
		}
		if groups != 1 {
			t.Errorf("%d that nobody reports: %d groups", c.unlisted, groups)
		}
	}
}
