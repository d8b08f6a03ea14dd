package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestStepsFollowTheKindOfAFailure: what helps follows from the step in which a save or restore failed, and from why an address was not made.
func TestStepsFollowTheKindOfAFailure(t *testing.T) {
	for name, c := range map[string]struct{ rule, page, evidence, concludes, first, not string }{
		"tar":          {"persist-failed", "2", "log: " + backend.PhaseTar.Means().String(), "What it says is the cause", "Save them: sandglass rescue b", "store"},
		"unpacking":    {"hydrate-failed", "2", "log: " + backend.PhaseUnpack.Means().String(), "The contents are partial", "Do not let the agent save now", "Pause"},
		"no room":      {"hydrate-failed", "2", "log: tar: Cannot open: No space left on device (" + backend.PhaseUnpack.Means().String() + ")", "The contents are partial", "The disk was full: make room, and restore it again.", "another snapshot"},
		"rescue":       {"hydrate-failed", "2", "log: " + backend.PhaseUnpack.Means().String(), "The contents are partial", "Save what is there first: sandglass rescue b", "larger"},
		"untold":       {"hydrate-failed", "2", "log: failed", "No check tells the cause", "Save what is there first: sandglass rescue b", "Pause"},
		"noop":         {"hydrate-failed", "2", "log: failed", "No check tells the cause", "names no other snapshot", "Restore another"},
		"refused":      {"hydrate-failed", "2", "log: " + backend.PhaseRefused.Means().String(), "nothing was changed", "Nothing was changed by it", "Pause"},
		"no bytes":     {"hydrate-failed", "2", "", "gave no bytes: nothing was sent, and nothing was changed", "Correct what calls the restore", "older snapshot"},
		"detach":       {"persist-failed", "2", "log: " + backend.PhaseDetach.Means().String(), "phase: detach, before tar ran", "Save them: sandglass rescue b", "store"},
		"re-attach":    {"persist-failed", "2", "log: " + backend.PhaseReattach.Means().String(), "Mounts may be absent now", "See which are there: sandglass probe b", "store"},
		"untold save":  {"persist-failed", "2", "log: failed (phase: cannot tell)", "No check tells the cause", "Check the snapshot store", "mount"},
		"noop save":    {"persist-failed", "2", "log: failed (phase: cannot tell)", "No check tells the cause", "Read the lines before it", "store"},
		"noop refused": {"hydrate-failed", "2", "log: " + backend.PhaseRefused.Means().String(), "nothing was changed", "names no other snapshot", "older"},
		"waited":       {"persist-failed", "2", "log: newest: WorkspaceArchiveReadError: x, after TimeoutError (phase: cannot tell)", "Its SDK waited no longer", "Raise workspace_tar_s (now 300 s", "store"},
		"… pending":    {"persist-failed", "2", "log: newest: WorkspaceArchiveReadError: x, after TimeoutError (phase: cannot tell)", "persist-failed is pending", "Raise workspace_tar_s (now 300 s", "store"},
		"… restore":    {"hydrate-failed", "2", "log: newest: WorkspaceArchiveWriteError: x, after ExecTimeoutError (phase: cannot tell)", "Its SDK waited no longer", "its contents may be partial", "snapshot store"},
		"no token":     {"preview-failed", "contradiction", "log: preview_token_creation_failed", "Its agent could not get the address", "No token was made", "exposed ports"},
		"no answer":    {"preview-failed", "contradiction", "log: preview_creation_failed", "Its agent could not get the address", "The platform did not make", "No token"},
		"no kind":      {"preview-failed", "contradiction", "log: failed", "Its agent could not get the address", "Read the line", "No token"},
		"api":          {"public-preview", "contradiction", "", "An address of its own API opens without a token", "Remove the address of its API now", "exposed_port_public"},
		"private":      {"public-preview", "contradiction", "", "An address of it opens without a token", "Read which port it is", "exposed_port_public"},
	} {
		cause := backend.Text("the snapshot was not saved")
		if name == "private" {
			cause = backend.Text("a port of it is open to the internet, and its saved state says private")
		}
		if name == "no bytes" {
			cause = backend.Text("WorkspaceWriteTypeError: write() expects a binary file-like object: path: /tmp/bl-hydrate-0a.tar")
		}
		detail := cause
		if name == "api" {
			cause = backend.Text("its own API is open to the internet: files, commands and terminals")
			detail = backend.Text("port 443, preview api, to its own API; port 3000, preview port-3000; of the agent's ports its saved state says private")
		}
		state := alerts.StateFiring
		if name == "… pending" {
			state = alerts.StatePending
		}
		a := &alerts.Alert{ID: "x", Rule: c.rule, Source: "docker", Runbook: c.page, State: state, Cause: cause, Confirmed: now,
			Evidence: []alerts.Evidence{{Text: backend.Clean(c.evidence, 300)}}, Subjects: []alerts.Subject{{Key: sbKey("b"), Detail: detail}}, SubjectCount: 1}
		snapshot := backend.Text("remote")
		if strings.HasPrefix(name, "noop") {
			snapshot = backend.Text("noop")
		}
		saved := savedRef("s1", backend.NotApplicable[int](), func(r *backend.Ref) {
			r.Sandbox, r.Provider, r.Agent = backend.MustID("b"), backend.Text("blaxel"), &backend.AgentState{Snapshot: snapshot, LeftOut: backend.LeftOut{Skips: []backend.Safe{backend.Text("cache")}}}
		})
		d := world{saved: []*backend.Ref{saved}, sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
			b.Provider, b.Reported, b.LifecycleAt = backend.Text("blaxel"), backend.Text("DEPLOYED RUNNING"), before(time.Second)
		})}, board: &alerts.Board{Alerts: []*alerts.Alert{a}}}.page(a)
		steps := ""
		for _, x := range d.Do {
			steps += x.String() + "\n"
		}
		if !strings.Contains(d.Conclusion.String(), c.concludes) || !strings.Contains(steps, c.first) || strings.Contains(steps, c.not) {
			t.Errorf("%s: %s\n%s", name, d.Conclusion, steps)
		}
		about, warned := c.page == "2" && snapshot.String() != "noop", strings.Contains(backend.Join(d.Dont, " ").String(), "Don't look for cache in its snapshots: they leave that out.")
		if about != warned {
			t.Errorf("%s: %v", name, d.Dont)
		}
	}
}
