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
	if strings.Contains(a.Cause.String(), "WorkspaceWriteTypeError") { // what was to be restored is no archive, and was not written
		return backend.PhaseRefused
	}
	for _, p := range []backend.SnapshotPhase{backend.PhaseTar, backend.PhaseUnpack, backend.PhaseRefused} {
		for _, e := range a.Evidence {
			if strings.Contains(e.Text.String(), p.Means().String()) {
				return p
			}
		}
	}
	return ""
}

// endPhase ends the page about a save or restore whose step is known: what that step means, and what helps then. false: it is not known.
func (s *subjectView) endPhase(d *Diagnosis, a *alerts.Alert) bool {
	p := phaseOf(a)
	d.Do = nil
	switch p {
	case backend.PhaseTar:
		copied := backend.Text("Copy what matters")
		if len(s.sandboxes) == 1 && s.platform() == agentCloud {
			copied = backend.Textf("Save them: sandglass rescue %s", called(s.sandboxes[0]))
		}
		d.do("Do not end the sandbox: the files are still in it. %s.", copied)
		d.do("Read what tar said. No space: make room in /tmp of the sandbox, where the archive is written.")
	case backend.PhaseUnpack:
		d.do("Do not let the agent save now: its contents are partial.")
		d.do("Read what tar said. The archive may be cut off, or the disk full. Restore another snapshot into a new sandbox.")
	case backend.PhaseRefused:
		d.do("Nothing was changed by it. Take an older snapshot, or mend this archive.")
	case backend.PhaseUntold, backend.PhaseDetach, backend.PhaseReattach, "":
		return false
	}
	d.Conclusion = backend.Textf("%s. %s.", sentence(s.says(a)), p.Means())
	return true
}
