package runbook

import (
	"slices"
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestWhatIsDoneByHandSaysWhy: each step that only a person can take says why Sandglass does not, in the advice and on the page. A
// summary names the step behind the evidence too.
func TestWhatIsDoneByHandSaysWhy(t *testing.T) {
	cloud := func(b *backend.Sandbox) { b.Region, b.Class = backend.Text("usc"), backend.SandboxRunning }
	woke := world{sandboxes: []*backend.Sandbox{box("b", "s1", cloud)}, board: &alerts.Board{Alerts: []*alerts.Alert{{ID: "w", Rule: "wake-failed", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring,
		Cause: backend.Text("its wake failed"), SubjectCount: 1, Subjects: []alerts.Subject{{Key: sessionKey("s1"), State: alerts.StateFiring}}}}}}
	emptied := world{sandboxes: []*backend.Sandbox{box("b", "s1", cloud, func(b *backend.Sandbox) {
		b.Observed = backend.Known(backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailFilesystemMissing, At: before(0), What: backend.Text("1 entry, and had 9")}}})
	})}}
	boxKey := emptied.sandboxes[0].Key
	for want, d := range map[string]Diagnosis{
		"Or restart its driver job by hand, if commands run.":   woke.diagnose("contradiction", sessionKey("s1")),
		"Restore a named checkpoint by hand, if there is one. ": emptied.diagnose("contradiction", boxKey),
	} {
		i := slices.IndexFunc(d.Do, func(x backend.Safe) bool { return strings.HasPrefix(x.String(), want) })
		if i < 0 || !strings.Contains(d.Do[i].String(), "Sandglass does not: ") {
			t.Errorf("%q is not a step that says why: %v, %s", want, d.Do, d.Conclusion)
		}
	}
	for name, c := range map[string]struct {
		d     Diagnosis
		steps int
	}{"evidence first, then the remedy": {emptied.diagnose("contradiction", boxKey), 2}, "a remedy first": {world{workspaces: []*backend.Workspace{failed("s1", "box", "boom")}}.diagnose("1", wsKey("s1", "box")), 1}} {
		if got := c.d.Steps(); len(got) != c.steps || len(c.d.Do) < 2 {
			t.Errorf("%s: a summary names %v of %v", name, got, c.d.Do)
		}
	}
	page, _ := Incident("contradiction")
	d := emptied.diagnose("contradiction", boxKey)
	if text := strings.Join(strings.Fields(page.Fitting(&d).Advice(Local{})), " "); !strings.Contains(text, "By hand only: restart the driver job, restore a named checkpoint. The first ends the agent's work") {
		t.Error(text)
	}
}

// TestTheCauseOfOneWakeIsNotToldForAll: a mount that is gone under one of two sessions tells nothing of the other.
func TestTheCauseOfOneWakeIsNotToldForAll(t *testing.T) {
	cloud := func(b *backend.Sandbox) { b.Region, b.Class = backend.Text("usc"), backend.SandboxRunning }
	gone := func(b *backend.Sandbox) {
		b.Observed = backend.Known(backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailMountGone, At: before(0), What: backend.Text("its mount is gone")}}})
	}
	w := world{sandboxes: []*backend.Sandbox{box("a", "s1", cloud, gone), box("b", "s2", cloud)}, board: &alerts.Board{Alerts: []*alerts.Alert{{ID: "w", Rule: "wake-failed", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring,
		Cause: backend.Text("its wake failed"), SubjectCount: 2, Subjects: []alerts.Subject{{Key: sessionKey("s1"), State: alerts.StateFiring}, {Key: sessionKey("s2"), State: alerts.StateFiring}}}}}}
	c := w.about(SubjectOfAlert(w.board.Alerts[0]))
	c.Alert = "w"
	d := c.Diagnose("contradiction")
	all := d.Conclusion.String()
	for _, x := range slices.Concat(d.Do, d.Dont) {
		all += "\n" + x.String()
	}
	if !strings.Contains(all, "Their wakes failed") || strings.Contains(all, "mount is gone") || strings.Contains(all, "replace it") || strings.Contains(all, "sandglass replace") {
		t.Errorf("what one shows is told for both: %s", all)
	}
	if !strings.Contains(all, "why s1") || !strings.Contains(all, "bundle w.") {
		t.Errorf("no step names the alert and the first session: %s", all)
	}
}
