package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestPagesOfAnAgentSDK: what an alert about an agent's snapshots, its terminals or a sandbox that answers after its end concludes.
func TestPagesOfAnAgentSDK(t *testing.T) {
	for _, c := range []struct{ rule, cause, check, concludes, first string }{
		{"snapshot-interrupted", "a save of its files was cut off: the archive is still in /tmp", "interrupted", "The newest snapshot did not end well: a save of its files was cut off", "Rescue the files first: sandglass rescue"},
		{"runaway-process", "a command runs past its timeout: its agent gave it up, the process did not", "runaway", "A process in it runs on without its agent", "Ask it to end: sandglass stop-process"},
		{"package-missing", "the extra blaxel of the OpenAI Agents SDK is not installed where the agent runs: pip install 'openai-agents[blaxel]'", "package", "Its agent lacks a package for its sandboxes. the extra blaxel", "Install it where the agent runs"},
		{"pty-pressure", "its agent has nearly as many terminals open as the SDK keeps", "terminals", "Its agent keeps too many terminals open.", "Let the agent end what it does not need."},
		{"pty-failed", "a terminal of an agent could not be used: it took no input", "terminal-fails", "Terminals of its agent fail.", "Read what a terminal needs"},
		{"contradiction", "reported TERMINATED, but / of it was listed since", "answers", "It answers, although it is reported to have ended.", "Copy what matters"},
		{"contradiction", "its agent takes it for not running, but a command ran in it", "believed", "Its agent gave it up, and it is there.", "Probe it, if that was not done: sandglass probe b."},
		{"contradiction", "its agent takes it for running, but its status is TERMINATED", "believed", "It is gone, and its agent does not know.", "Stop the agent's run first."},
	} {
		a := &alerts.Alert{ID: "x", Rule: c.rule, Source: "docker", Runbook: "contradiction", State: alerts.StateFiring, Cause: backend.Clean(c.cause, 200), Confirmed: now,
			Subjects: []alerts.Subject{{Key: sbKey("b")}}, SubjectCount: 1}
		w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("us-pdx-1"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
		})}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}
		d := w.page(a)
		want(t, d, map[string]Mark{c.check: Confirmed})
		if !strings.HasPrefix(d.Conclusion.String(), c.concludes) || len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), c.first) {
			t.Errorf("%s: %s: %v", c.rule, d.Conclusion, d.Do)
		}
	}
}

// TestPage3WeighsWhatAnAgentSDKHolds: unread output of terminals and the archive of a snapshot are in the agent's memory.
func TestPage3WeighsWhatAnAgentSDKHolds(t *testing.T) {
	died := lines("app-log", backend.MetricAgentOOM, "s1", 1)
	none := world{sessions: []*backend.Session{session("s1", true)}, counts: died}.diagnose("3", sessionKey("s1"))
	want(t, none, map[string]Mark{"snapshot": CannotTell})
	for check, c := range map[string]struct {
		metric backend.Metric
		step   string
	}{"pty-output": {backend.MetricPTYCount, "Let the agent read or end its terminals."}, "snapshot": {backend.MetricPersistDone, "Keep large files out of snapshots."}} {
		d := world{sessions: []*backend.Session{session("s1", true)}, counts: append(lines("app-log", c.metric, "s1", 1), died...)}.diagnose("3", sessionKey("s1"))
		want(t, d, map[string]Mark{check: Confirmed})
		advises := func(d Diagnosis) bool {
			for _, do := range d.Do {
				if strings.HasPrefix(do.String(), c.step) {
					return true
				}
			}
			return false
		}
		if !advises(d) || advises(none) {
			t.Errorf("%s: %v; without: %v", check, d.Do, none.Do)
		}
	}
}
