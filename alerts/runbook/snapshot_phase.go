package runbook

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// phaseOf is the step in which a save or restore failed that an alert is about, as its evidence says; empty: nothing tells one.
func phaseOf(a *alerts.Alert) backend.SnapshotPhase {
	if a.Rule != "persist-failed" && a.Rule != "hydrate-failed" {
		return ""
	}
	if strings.Contains(a.Cause.String(), "WorkspaceWriteTypeError") {
		return backend.PhaseNoBytes
	}
	for _, p := range []backend.SnapshotPhase{backend.PhaseTar, backend.PhaseUnpack, backend.PhaseRefused, backend.PhaseDetach, backend.PhaseReattach} {
		for _, e := range a.Evidence {
			if strings.Contains(e.Text.String(), p.Means().String()) {
				return p
			}
		}
	}
	return ""
}

// endPhase ends the page about a save or restore whose step is known: what that step means, and what helps then. false: it is not known, or
// the alert is about something else, whose first steps are its own.
func (s *subjectView) endPhase(d *Diagnosis, a *alerts.Alert) bool {
	if a.Rule != "persist-failed" && a.Rule != "hydrate-failed" {
		return false
	}
	known := s.endsIn(d, a, phaseOf(a))
	if a.Rule == "persist-failed" || a.Rule == "hydrate-failed" {
		s.inNoSnapshot(d)
	}
	room := s.noRoom()
	if room.IsEmpty() || phaseOf(a) == backend.PhaseNoBytes {
		return known
	}
	name := called(s.sandboxes[0])
	if !known {
		d.do("Do not end the sandbox: the files are still in it. Save them: sandglass rescue %s.", name)
		d.Conclusion = backend.Textf("%s.", sentence(s.says(a)))
	}
	d.do("Make room before the next try. What fills it: sandglass why %s --kind sandbox", name)
	d.Conclusion = backend.Textf("%s Its disk has no space left: %s.", d.Conclusion, room)
	return true
}

// endsIn ends it by the phase alone.
func (s *subjectView) endsIn(d *Diagnosis, a *alerts.Alert, p backend.SnapshotPhase) bool {
	d.Do = nil
	if p != backend.PhaseNoBytes && timedOut(a) && s.platform() == agentCloud {
		s.endTimedOut(d, a)
		return true
	}
	switch p {
	case backend.PhaseNoBytes:
		s.noBytes(d)
	case backend.PhaseTar:
		copied := backend.Text("Copy what matters")
		if len(s.sandboxes) == 1 && s.platform() == agentCloud {
			copied = backend.Textf("Save them: sandglass rescue %s", called(s.sandboxes[0]))
		}
		d.do("Do not end the sandbox: the files are still in it. %s.", copied)
		d.do("Read what tar said. No space: make room in /tmp of the sandbox, where the archive is written.")
	case backend.PhaseUnpack:
		d.do("Do not let the agent save now: its contents are partial.")
		s.restoreAgain(d, a)
	case backend.PhaseRefused:
		d.do("Nothing was changed by it. %s", backend.Text(map[bool]backend.Literal{true: "The saved state names no other snapshot: mend what makes this archive.", false: "Take an older snapshot, or mend this archive."}[s.savesNothing()]))
	case backend.PhaseUntold, backend.PhaseDetach, backend.PhaseReattach, "":
		if s.platform() != agentCloud {
			return false
		}
		if a.Rule == "persist-failed" {
			s.endSave(d, a, p)
			return true
		}
		d.do("Do not let the agent save now. Nothing tells how much was restored.")
		s.restoreAgain(d, a)
		d.Conclusion = backend.Textf("%s. No check tells the cause behind it.", sentence(s.says(a)))
		return true
	}
	d.Conclusion = backend.Textf("%s. %s.", sentence(s.says(a)), p.Means())
	return true
}

// endSave ends the page about a save of which tar is not known to have run.
func (s *subjectView) endSave(d *Diagnosis, a *alerts.Alert, p backend.SnapshotPhase) {
	probe := backend.Text("a probe tells")
	if len(s.sandboxes) == 1 {
		b := s.sandboxes[0]
		probe = backend.Textf("sandglass probe %s", called(b))
		d.do("Do not end the sandbox: the files are still in it. Save them: sandglass rescue %s.", called(b))
	} else {
		d.do("Do not end the sandbox: the files are still in it. Copy what matters.")
	}
	switch p {
	case backend.PhaseReattach:
		d.do("Let the agent write nothing below a mount yet. See which are there: %s", probe)
		d.do("Read the lines before it: an earlier error may be hidden.")
	case backend.PhaseDetach:
		d.do("Read which mount could not be detached. See which are there: %s", probe)
	case backend.PhaseUntold, backend.PhaseTar, backend.PhaseUnpack, backend.PhaseRefused, backend.PhaseNoBytes, "":
		d.do("Read the lines before it: which call failed.")
		if !s.savesNothing() {
			d.do("Check the snapshot store: credentials, quota, reachability.")
		}
		d.Conclusion = backend.Textf("%s. No check tells the cause behind it.", sentence(s.says(a)))
		return
	}
	d.Conclusion = backend.Textf("%s. %s.", sentence(s.says(a)), p.Means())
}

// savesNothing reports whether the saved state of the page's only sandbox names no snapshot that keeps files.
func (s *subjectView) savesNothing() bool {
	if len(s.sandboxes) != 1 {
		return false
	}
	x := s.State.StateOn(s.sandboxes[0])
	return x != nil && x.Agent.KeepsNothing()
}

// timedOut reports whether the lines behind an alert about a save or restore name a wait that ended as the cause.
func timedOut(a *alerts.Alert) bool {
	return (a.Rule == "persist-failed" || a.Rule == "hydrate-failed") && says(a, "timeouterror")
}

// endTimedOut ends the page about a save or restore for which the SDK waited no longer.
func (s *subjectView) endTimedOut(d *Diagnosis, a *alerts.Alert) {
	probe, waits := backend.Text("a probe"), (*backend.AgentState)(nil).Waits(backend.AgentTar)
	if len(s.sandboxes) == 1 {
		b := s.sandboxes[0]
		probe = backend.Textf("sandglass probe %s", called(b))
		if x := s.State.StateOn(b); x != nil {
			waits = x.Agent.Waits(backend.AgentTar)
		}
		if a.Rule == "persist-failed" {
			d.do("Do not end the sandbox: the files are still in it. Save them: sandglass rescue %s.", called(b))
		}
	} else if a.Rule == "persist-failed" {
		d.do("Do not end the sandbox: the files are still in it. Copy what matters.")
	}
	if a.Rule == "hydrate-failed" {
		d.do("Do not let the agent save now: its contents may be partial.")
	}
	d.do("See whether tar still runs and how large the tree is: %s. Only the SDK's own wait ended.", probe)
	d.do("Raise workspace_tar_s (now %s). Or skip caches and builds in the snapshot.", waits)
	d.Conclusion = backend.Textf("%s. Its SDK waited no longer: tar was too slow, or the sandbox did not answer.", sentence(s.says(a)))
}

// noBytes says what helps where the caller of a restore gave nothing to restore: nothing is known of an archive.
func (s *subjectView) noBytes(d *Diagnosis) {
	d.do("Correct what calls the restore. It must give bytes, or an open file.")
	if s.savesNothing() {
		d.do("Its saved state has a noop snapshot. Nothing was ever saved, so nothing can be restored.")
		return
	}
	d.do("See whether the snapshot of its saved state is there.")
}

// restoreAgain says how the files come back after a restore that failed: by room where the disk is full, else by what the saved state keeps.
func (s *subjectView) restoreAgain(d *Diagnosis, a *alerts.Alert) {
	one := len(s.sandboxes) == 1 && s.platform() == agentCloud
	if one {
		d.do("Save what is there first: sandglass rescue %s. It wakes the sandbox.", called(s.sandboxes[0]))
	}
	other := backend.Literal("Restore another snapshot into a new sandbox.")
	if one && s.savesNothing() {
		other = "The saved state names no other snapshot: what is lost comes back from outside only."
	}
	if full(a) {
		d.do("The disk was full: make room, and restore it again. A larger sandbox is the other way.")
		return
	}
	d.do("Read whether a cut archive, no room or a mount failed. %s", backend.Text(other))
}

// full reports whether the lines behind an alert say that a disk was full.
func full(a *alerts.Alert) bool {
	return says(a, "no space left")
}

// says reports whether the cause, the evidence or a subject of an alert has words, in lower case.
func says(a *alerts.Alert, words string) bool {
	has := func(t backend.Safe) bool { return strings.Contains(strings.ToLower(t.String()), words) }
	for _, e := range a.Evidence {
		if has(e.Text) {
			return true
		}
	}
	for i := range a.Subjects {
		if has(a.Subjects[i].Detail) {
			return true
		}
	}
	return has(a.Cause)
}
