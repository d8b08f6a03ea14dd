package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestTheDiskOfAnAgentsSandboxIsFull: its page names what was read that fills it and the safe steps, no probe first; the page of a save or
// restore that failed in it names it as the cause.
func TestTheDiskOfAnAgentsSandboxIsFull(t *testing.T) {
	t.Parallel()
	const fact = "nothing can be written: / is 100% full, 0 of 10G free, by a df of 11:59:00Z"
	b := box("b", "s1", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
		in := &backend.Inside{At: before(time.Second), Answered: true, Archives: []backend.SandboxArchive{{Path: backend.Text("/tmp/bl-persist-0a.tar"), Size: 3 << 30}}}
		*b = *b.WithObserved([]backend.Verdict{
			{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: before(time.Second), Passive: true, Inside: in},
			{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: before(time.Second), What: backend.Text("true ran in /workspace")},
			{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailNoSpace, At: before(time.Second), What: backend.Text(fact)},
		})
	})
	w := world{sessions: []*backend.Session{session("s1", true)}, sandboxes: []*backend.Sandbox{b}}
	d := w.diagnose("contradiction", b.Key)
	want(t, d, map[string]Mark{"disk": Confirmed, "commands": RuledOut})
	text := steps(&d)
	for _, x := range []string{"Its disk has no space left", fact, "sandglass rescue b", "/tmp/bl-persist-0a.tar (3.2 GB)", "du -xh /", "sandglass probe b"} {
		if !strings.Contains(text, x) {
			t.Errorf("%q is missing:\n%s", x, text)
		}
	}
	if !strings.Contains(d.Do[0].String(), "Save its files first") {
		t.Errorf("first: %s", d.Do[0])
	}
	for _, rule := range []string{"persist-failed", "hydrate-failed"} {
		a := &alerts.Alert{ID: "x", Rule: rule, Source: "docker", Runbook: "2", State: alerts.StateFiring, Cause: backend.Text("it failed"), Confirmed: now, Subjects: []alerts.Subject{{Key: sbKey("b")}}, SubjectCount: 1}
		w.board = &alerts.Board{Alerts: []*alerts.Alert{a}}
		if d := w.page(a); !strings.Contains(d.Conclusion.String(), "Its disk has no space left: "+fact) || !strings.Contains(steps(&d), "Make room before the next try") {
			t.Errorf("%s: %s", rule, steps(&d))
		}
	}
}

// TestTheServersOwnErrorIsTold: where the server in a sandbox answers that its root cannot be listed, that is what fails.
func TestTheServersOwnErrorIsTold(t *testing.T) {
	t.Parallel()
	const said = "/ cannot be listed: answered 500 Internal Server Error: stat /: input/output error"
	b := box("b", "s1", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, At: before(time.Second), What: backend.Text(said)}})
	})
	w := world{sessions: []*backend.Session{session("s1", true)}, sandboxes: []*backend.Sandbox{b}}
	d := w.diagnose("contradiction", b.Key)
	if !strings.Contains(d.Conclusion.String(), "Its own server answers, and fails: "+said) || !strings.Contains(steps(&d), "sandglass rescue b") || strings.Contains(steps(&d), "Work does not begin") {
		t.Errorf("%s", steps(&d))
	}
}

// TestADiskThatOnlyALogCallsFull: the page says whose word it is, and what would show it.
func TestADiskThatOnlyALogCallsFull(t *testing.T) {
	t.Parallel()
	const cause = "reported DEPLOYED RUNNING, but its disk has no space left, its agent's log says"
	b := box("b", "s1", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
	})
	a := &alerts.Alert{ID: "x", Rule: "contradiction", Source: "docker", Runbook: "contradiction", State: alerts.StatePending, Cause: backend.Text(cause), Why: backend.Text("its agent's word: fires when a probe shows it"),
		Confirmed: now, Subjects: []alerts.Subject{{Key: b.Key, State: alerts.StatePending}}, SubjectCount: 1}
	w := world{sessions: []*backend.Session{session("s1", true)}, sandboxes: []*backend.Sandbox{b}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
	d := w.page(a)
	want(t, d, map[string]Mark{"disk": CannotTell})
	if !strings.Contains(d.Conclusion.String(), "Its agent's log says that its disk has no space left. Nothing else shows it yet.") || !strings.HasPrefix(d.Do[0].String(), "Probe it: sandglass probe b") || !strings.Contains(steps(&d), "sandglass rescue b") {
		t.Errorf("%s\n%s", d.Conclusion, steps(&d))
	}
}

// TestCommandsThatOnlyALogCallsFailed: the page says whose word it is and what would show it. A probe before them rules nothing out.
func TestCommandsThatOnlyALogCallsFailed(t *testing.T) {
	t.Parallel()
	const cause = "reported DEPLOYED RUNNING, but commands of its agent fail: its root is missing, its agent's log says"
	const said = "by its agent, 6 times, newest 11:59:30Z: ExecTransportError, folder /workspace, directory missing"
	b := box("b", "s1", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
		*b = *b.WithObserved([]backend.Verdict{
			{Plane: backend.PlaneExec, Outcome: backend.OutcomeOK, At: before(23 * time.Minute), What: backend.Text("true ran in /workspace")},
			{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: before(23 * time.Minute), What: backend.Text("/workspace was listed")}})
	})
	a := &alerts.Alert{ID: "x", Rule: "contradiction", Source: "docker", Runbook: "contradiction", State: alerts.StatePending, Cause: backend.Text(cause), Why: backend.Text("its agent's word: fires when a probe shows it"),
		Confirmed: now, Bounds: alerts.Bounds{Latest: before(time.Minute)}, Subjects: []alerts.Subject{{Key: b.Key, State: alerts.StatePending, Detail: backend.Textf("%s: %s", backend.Literal(cause), backend.Literal(said))}}, SubjectCount: 1}
	w := world{sessions: []*backend.Session{session("s1", true)}, sandboxes: []*backend.Sandbox{b}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
	d := w.page(a)
	want(t, d, map[string]Mark{"commands": CannotTell, "missing": CannotTell, "planes": CannotTell})
	if d.Conclusion.String() != "Its agent's log says that commands in it fail. Nothing else shows it yet. It is told "+said+"." || !strings.HasPrefix(d.Do[0].String(), "Probe it: sandglass probe b") || !strings.Contains(steps(&d), "sandglass rescue b") {
		t.Errorf("%s\n%s", d.Conclusion, steps(&d))
	}
}
