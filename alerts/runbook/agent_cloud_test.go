package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestPagesOfBrokenBlaxelSandboxes: what fails there has ends of its own, with no verb, question or setting of another platform.
func TestPagesOfBrokenBlaxelSandboxes(t *testing.T) {
	for name, c := range map[string]struct {
		v               backend.Verdict
		concludes, step string
		rescues         bool
	}{
		"its root is missing": {failedVerdict(backend.PlaneList, backend.FailWorkDirMissing), "Its working directory is missing.", "See what removed it", true},
		"it is gone":          {failedVerdict(backend.PlaneList, backend.FailGone), "Its record is there, and it is gone.", "Ask the vendor", false},
		"a command goes on":   {failedVerdict(backend.PlaneExec, backend.FailExecTimeout), "Work does not begin in it.", "Read what runs in it", true},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
			*b = *b.WithObserved([]backend.Verdict{c.v})
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		var all []string
		for _, x := range d.Do {
			all = append(all, x.String())
		}
		text := strings.Join(all, " ")
		if !strings.HasPrefix(d.Conclusion.String(), c.concludes) || len(all) == 0 || !strings.HasPrefix(all[0], c.step) || strings.Contains(text, "sandglass rescue") != c.rescues {
			t.Errorf("%s: %s: %s", name, d.Conclusion, text)
		}
		for _, foreign := range []string{"wake", "replace", "pause", "prove", "docker", "trace ids"} {
			if strings.Contains(text, "sandglass "+foreign) || strings.Contains(text, foreign+" ids") || strings.Contains(text, "docker ") {
				t.Errorf("%s: advice of another platform: %s", name, text)
			}
		}
		for _, check := range d.Checks {
			if strings.Contains(" no-checkpoint jobs wake resume reaped ", " "+check.Name+" ") {
				t.Errorf("%s: asks %s", name, check.Question)
			}
		}
	}
}

func failedVerdict(p backend.Plane, k backend.FailureKind) backend.Verdict {
	return backend.Verdict{Plane: p, Outcome: backend.OutcomeFailed, Kind: k, At: before(time.Second)}
}

// TestABlaxelPageSendsToNoPageThatOneReads: nor to a probe that was made, nor speaks of a timeout where none was. What an alert tells does
// not stand beside the words that nothing tells it.
func TestABlaxelPageSendsToNoPageThatOneReads(t *testing.T) {
	full := failedVerdict(backend.PlaneExec, "")
	full.What = backend.Text("write /tmp/x: no space left on device; its disk is full")
	timedOut := failedVerdict(backend.PlaneExec, backend.FailExecTimeout)
	runs := []backend.SandboxProcess{{PID: backend.Text("7"), Command: backend.Text("npm test"), Class: backend.WorkRunning}}
	for name, c := range map[string]struct {
		v          backend.Verdict
		inside     *backend.Inside
		step, dont string
	}{
		"full, and nothing runs":     {full, &backend.Inside{}, "Let its agent remove files that are not needed.", "Don't destroy it"},
		"not probed":                 {timedOut, nil, "Read what runs in it: sandglass probe b.", "Don't repeat a command that timed out"},
		"probed, and something runs": {timedOut, &backend.Inside{Processes: runs}, "Read what runs in it, on this page", "Don't repeat a command that timed out"},
	} {
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
			all := []backend.Verdict{c.v}
			if c.inside != nil {
				all = append(all, backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: before(time.Second), Inside: c.inside})
			}
			*b = *b.WithObserved(all)
		})}}
		d := w.diagnose("contradiction", sbKey("b"))
		if len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), c.step) || len(d.Dont) == 0 || !strings.HasPrefix(d.Dont[0].String(), c.dont) || anyHas(d.Do, "sandglass why b") {
			t.Errorf("%s: %v, not %v", name, d.Do, d.Dont)
		}
		for _, check := range d.Checks {
			if check.Mark == Confirmed && strings.Contains(check.Fact.String(), nothingTells) {
				t.Errorf("%s: confirmed: %s", name, check.Fact)
			}
		}
	}
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING")
		*b = *b.WithObserved([]backend.Verdict{failedVerdict(backend.PlaneList, backend.FailGone)})
	})}}
	a := &alerts.Alert{ID: "x", Rule: "contradiction", Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Text("reported DEPLOYED RUNNING, but it is gone"), Confirmed: now,
		Subjects: []alerts.Subject{{Key: sbKey("b")}}, SubjectCount: 1}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{a}}
	for _, check := range w.page(a).Checks {
		if check.Mark == Confirmed && strings.Contains(check.Fact.String(), nothingTells) {
			t.Errorf("confirmed by an alert: %s", check.Fact)
		}
	}
}
