package runbook

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// saidOf is a contradiction about one sandbox, with what its log says.
func saidOf(b *backend.Sandbox, state alerts.AlertState, cause backend.Literal, log ...backend.Literal) *alerts.Board {
	a := &alerts.Alert{ID: "a", Rule: "contradiction", Source: b.Key.Source, Runbook: "contradiction", State: state, Confirmed: now, Cause: backend.Text(cause),
		Subjects: []alerts.Subject{{Key: b.Key, State: state}}, SubjectCount: 1}
	for _, l := range log {
		a.Evidence = append(a.Evidence, alerts.Evidence{Text: backend.Text(l), Source: "alog", At: now})
	}
	return &alerts.Board{Alerts: []*alerts.Alert{a}}
}

func workersBox(edit func(*backend.Sandbox), planes ...backend.Verdict) *backend.Sandbox {
	return box("b", "", func(b *backend.Sandbox) {
		b.Provider = backend.Text("cloudflare")
		if edit != nil {
			edit(b)
		}
		*b = *b.WithObserved(planes)
	})
}

func steps(d *Diagnosis) (out string) {
	for _, l := range append(append([]backend.Safe{d.Conclusion}, d.Do...), d.Dont...) {
		out += "\n" + l.String()
	}
	return out
}

// TestNoPageSendsToAnActionThatReachesNothing: an instance without an id of the bridge, and one behind a bridge that takes no orders.
func TestNoPageSendsToAnActionThatReachesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loose   bool
		refuses backend.Literal
		want    string
	}{
		"unattributed": {true, "", "no id of the bridge is known"},
		"the preview":  {false, "this bridge is the 1.0 preview", "1.0 preview"},
	} {
		b := workersBox(func(b *backend.Sandbox) { b.Unattributed = c.loose })
		w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StatePending, "reported running, but no command begins in it, its agent's log says", "log: 1 command in session sandbox-b could not begin since 12:00:00Z"),
			refuses: c.refuses}
		d := w.diagnose("contradiction", b.Key)
		if all := steps(&d); !strings.Contains(all, c.want) || strings.Contains(all, "sandglass probe") || strings.Contains(all, "sandglass destroy") || strings.Contains(all, "before a probe") {
			t.Errorf("%s:%s", name, all)
		}
		for _, k := range d.Checks {
			if strings.Contains(k.WouldTell.String(), "sandglass probe") {
				t.Errorf("%s: %s would tell: %s", name, k.Question, k.WouldTell)
			}
		}
	}
}

// TestAProbeThatCannotTellIsNotAdvisedAgain: neither where its command ran nor where a new session of it began in /workspace; nothing
// is destroyed for a line that does not tell why.
func TestAProbeThatCannotTellIsNotAdvisedAgain(t *testing.T) {
	t.Parallel()
	b := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now}, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: now, What: backend.Text("/workspace has 1 entry")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StatePending, "not reported, but no command begins in it, its agent's log says, although a probe's command ran", "log: 1 command in session sandbox-b could not begin since 12:00:00Z")}
	d := w.diagnose("contradiction", b.Key)
	if all := steps(&d); strings.Contains(all, "sandglass probe") || !strings.Contains(all, "Destroy it only then") || strings.Contains(all, "Destroy it:") {
		t.Errorf("its command ran:%s", all)
	}
	entered := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, At: now, What: backend.Text(backend.RootEntered + ": look at disk and memory")})
	w = world{sandboxes: []*backend.Sandbox{entered}, board: saidOf(entered, alerts.StateFiring, "not reported, but exec fails")}
	d = w.diagnose("contradiction", entered.Key)
	for _, k := range d.Checks {
		out := k.Name == "dangling" || k.Name == "missing" || k.Name == "occupied" || k.Name == "frozen"
		if out && k.Mark != RuledOut || k.Name == "server-dir" && (k.Mark != CannotTell || strings.Contains(k.WouldTell.String(), "probe")) {
			t.Errorf("%s: %s, %s, would tell: %s", k.Question, k.Mark, k.Fact, k.WouldTell)
		}
	}
	if all := steps(&d); !strings.Contains(all, "df and free") || strings.Contains(d.Do[0].String(), "probe") {
		t.Errorf("a new session began:%s", all)
	}
}

// TestWhatALostControlServerHides: a probe that found it looked at nothing else, and another one would not either.
func TestWhatALostControlServerHides(t *testing.T) {
	t.Parallel()
	b := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerDir, At: now, What: backend.Text("the working directory of its control server was removed")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "not reported, but the working directory of its control server is missing")}
	d := w.diagnose("contradiction", b.Key)
	if !d.is("server-dir") || d.Mark("frozen") != RuledOut {
		t.Errorf("%+v", d.Checks)
	}
	for _, k := range d.Checks {
		if k.Mark == CannotTell && k.Name != "many" && k.WouldTell.String() != string(commandsTell) {
			t.Errorf("%s would tell: %s", k.Question, k.WouldTell)
		}
	}
}

// TestAFileCallNamesTheControlServersDirectory: the page answers by its own criterion, with the line, and as its alert does.
func TestAFileCallNamesTheControlServersDirectory(t *testing.T) {
	t.Parallel()
	const line = "log: a file call failed with these words, as one does where the directory of the control server is gone: Failed to read file"
	for _, c := range []struct {
		cause backend.Literal
		image backend.Literal
		mark  Mark
		says  string
		never string
	}{
		{"not reported, but no command begins in it, and no file call does: the directory of its control server is gone", "agent:1", Confirmed, "The directory of its control server is gone", "does not tell why"},
		{"not reported, but no command begins in it, and no file call does, its agent's log says, although a probe's command ran", "cloudflare/sandbox:0.12.7", CannotTell, "See what its image really runs", "Read the errors of the application"},
	} {
		b := workersBox(func(b *backend.Sandbox) { b.Image = backend.Text(c.image) }, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: now}, backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: now, What: backend.Text("/workspace has 1 entry")})
		w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, c.cause, "log: 1 command and 1 file call in session sandbox-b could not begin since 12:00:00Z", line)}
		d := w.diagnose("contradiction", b.Key)
		for _, k := range d.Checks {
			if k.Name == "server-dir" && (k.Mark != c.mark || !strings.Contains(k.Fact.String(), "Failed to read file") || k.Source != "alog") {
				t.Errorf("%s: %s: %s (%s)", k.Question, k.Mark, k.Fact, k.Source)
			}
		}
		if all := steps(&d); !strings.Contains(all, c.says) || strings.Contains(all, c.never) {
			t.Errorf("%s:%s", c.cause, all)
		}
	}
}

// TestAMovedDirectoryIsMovedBack: its page says where its files may be before it makes an empty one; it names no mounts that nobody
// listed, and no plane of its own that only a test of the directory told.
func TestAMovedDirectoryIsMovedBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ran   backend.Literal
		moved bool
	}{{"log: before it, at 11:59:58Z, the agent ran: mv /workspace /w2", true}, {"log: before it, at 11:59:58Z, the agent ran: rm -rf /workspace", false}} {
		b := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now.Add(1), What: backend.Text("/workspace is missing")},
			backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now.Add(1), What: backend.Text(backend.NotListed + "a test in a new session says that /workspace is missing")})
		w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "not reported, but its working directory is missing", c.ran)}
		d := w.diagnose("contradiction", b.Key)
		all := steps(&d)
		if strings.Contains(all, "mv /w2 /workspace") != c.moved || strings.Contains(all, "is gone.") == c.moved || !strings.Contains(all, "sandglass repair b") {
			t.Errorf("%s:%s", c.ran, all)
		}
		if d.is("planes") {
			t.Errorf("a plane that was not tried confirms")
		}
	}
	b := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirDangling, At: now, What: backend.Text("/workspace is a link to /mnt/r2, which is missing")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "not reported, but its working directory is a link to nothing")}
	if d := w.diagnose("contradiction", b.Key); strings.Contains(d.Conclusion.String(), "mounted") || !d.is("dangling") {
		t.Errorf("%s", d.Conclusion)
	}
}

// TestWhatManyAgentsRanThemselves is not looked for in a rollout.
func TestWhatManyAgentsRanThemselves(t *testing.T) {
	t.Parallel()
	b := workersBox(nil)
	for ran, outside := range map[backend.Literal]bool{"log: in 6 of 6 its own agent ran what changed its working directory, such as: rm -rf /workspace": false,
		"log: in 2 of 6, not in most, its own agent ran what changed its working directory, such as: rm -rf /workspace": true, "log: another": true} {
		w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "many sandboxes at once are not reported, but no command begins in them, their agents' logs say", "6 sandboxes of cf show it", ran)}
		many := w.board.Alerts[0]
		many.ID, many.SubjectCount = "many", 6
		own := *many
		own.ID, own.SubjectCount, own.InhibitedBy, own.Evidence = "own", 1, "many", nil
		w.board.Alerts = append(w.board.Alerts, &own)
		d := w.diagnose("contradiction", b.Key)
		if all := steps(&d); strings.Contains(all, "last rollout") != outside || strings.Contains(all, "rm -rf /workspace") == outside {
			t.Errorf("%s:%s", ran, all)
		}
	}
}

// TestAProbeThatFoundNoInstanceIsAdvisedAfterRoom: the page says first what a probe needs that was refused.
func TestAProbeThatFoundNoInstanceIsAdvisedAfterRoom(t *testing.T) {
	t.Parallel()
	b := workersBox(func(b *backend.Sandbox) { b.Class = backend.SandboxUnknown }, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailThrottled, At: now, What: backend.Text("the bridge answered 503")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StatePending, "not reported, but no command begins in it, its agent's log says", "log: 1 command in session sandbox-b could not begin since 12:00:00Z")}
	d := w.diagnose("contradiction", b.Key)
	if len(d.Do) < 2 || !strings.Contains(d.Do[0].String(), "Make room first") || !strings.Contains(d.Do[1].String(), "sandglass probe") {
		t.Errorf("%s", steps(&d))
	}
}

// TestAProbeFromBeforeTheFaultRulesNothingOut: what worked before the agent's first line, or before commands failed, tells nothing of now.
func TestAProbeFromBeforeTheFaultRulesNothingOut(t *testing.T) {
	t.Parallel()
	ok := func(p backend.Plane, at time.Time) backend.Verdict {
		return backend.Verdict{Plane: p, Outcome: backend.OutcomeOK, At: at, What: backend.Text("fine")}
	}
	early := now.Add(-time.Minute)
	said := workersBox(nil, ok(backend.PlaneExec, early), ok(backend.PlaneList, early), ok(backend.PlaneRead, early))
	board := saidOf(said, alerts.StatePending, "reported running, but no command begins in it, its agent's log says", "log: 1 command in session sandbox-b could not begin since 12:00:00Z")
	board.Alerts[0].Bounds.Latest = now.Add(-10 * time.Second)
	failed := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailServerDir, At: now, What: backend.Text("its control server lost it")},
		ok(backend.PlaneList, early), ok(backend.PlaneRead, early))
	for name, w := range map[string]world{
		"a line":  {sandboxes: []*backend.Sandbox{said}, board: board},
		"a probe": {sandboxes: []*backend.Sandbox{failed}, board: saidOf(failed, alerts.StateFiring, "reported running, but the working directory of its control server is missing")},
	} {
		d := w.diagnose("contradiction", w.sandboxes[0].Key)
		for _, c := range d.Checks {
			if c.Mark == RuledOut && slices.Contains([]string{"missing", "dangling", "occupied", "planes"}, c.Name) {
				t.Errorf("%s: %s is ruled out: %s", name, c.Question, c.Fact)
			}
		}
		if name == "a line" && !strings.Contains(steps(&d), "sandglass probe") {
			t.Errorf("%s: no probe is advised:%s", name, steps(&d))
		}
	}
}

// TestWhoRemovedTheDirectoryIsKeptFromIt: after a probe too the page tells which agent's command did it, and who else loses by that.
func TestWhoRemovedTheDirectoryIsKeptFromIt(t *testing.T) {
	t.Parallel()
	b := workersBox(nil, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now.Add(1), What: backend.Text("/workspace is missing")})
	w := world{sandboxes: []*backend.Sandbox{b}, board: saidOf(b, alerts.StateFiring, "reported running, but its working directory is missing",
		"log: before it, at 11:59:58Z, the agent coder ran, with exit code 128: rm -rf /workspace && x", "log: commands in it are run by coder and planner")}
	d := w.diagnose("contradiction", b.Key)
	if all := steps(&d); !strings.Contains(all, "sandglass repair b") || !strings.Contains(all, "Keep the agent coder from running it again, or this comes back: rm -rf /workspace && x") || !strings.Contains(all, "Give coder and planner a sandbox each.") {
		t.Errorf("%s", all)
	}
	if !d.is("changed") || d.fact("changed").String() != "at 11:59:58Z, the agent coder ran, with exit code 128: rm -rf /workspace && x. Commands in it are run by coder and planner" {
		t.Errorf("%+v", d.Checks)
	}
	w.board = saidOf(b, alerts.StateFiring, "reported running, but its working directory is missing")
	if d := w.diagnose("contradiction", b.Key); strings.Contains(steps(&d), "Keep the") || d.is("changed") {
		t.Errorf("no log names a command: %s", steps(&d))
	}
}
