package backend

import "strings"

// SnapshotPhase is in which step an agent SDK failed to save or restore the files of a session. It detaches mounts, lets tar work, and
// attaches the mounts again.
type SnapshotPhase string

// The phases. A line that does not speak of an archive has none.
const (
	PhaseUntold   SnapshotPhase = "cannot tell"
	PhaseDetach   SnapshotPhase = "detach"
	PhaseTar      SnapshotPhase = "tar"
	PhaseUnpack   SnapshotPhase = "unpack"
	PhaseRefused  SnapshotPhase = "archive refused"
	PhaseReattach SnapshotPhase = "re-attach"
	PhaseNoBytes  SnapshotPhase = "no bytes"
)

// snapshotMarks are what tells a phase, those first that come last: what fails then may hide what failed before.
var snapshotMarks = []struct {
	mark  string
	phase SnapshotPhase
}{
	{"restore_after_snapshot", PhaseReattach}, {"error_before_remount_corruption", PhaseReattach}, {"additional_remount_errors", PhaseReattach},
	{"additional remount errors", PhaseReattach}, {"error before remount corruption", PhaseReattach},
	{"unsafe_or_invalid_tar", PhaseRefused}, {"tar_extract_failed", PhaseUnpack}, {"tar_failed", PhaseTar}, {"teardown_for_snapshot", PhaseDetach},
	{"workspace_archive_read_error", PhaseUntold}, {"workspace_archive_write_error", PhaseUntold},
}

// PhaseIn is the phase that a line of an agent SDK tells; empty: none.
func PhaseIn(line string) SnapshotPhase {
	for _, m := range snapshotMarks {
		if strings.Contains(line, m.mark) {
			return m.phase
		}
	}
	return ""
}

const phaseSign = " (phase: "

// Sign writes a phase behind a text.
func (p SnapshotPhase) Sign() string {
	if p == "" {
		return ""
	}
	return phaseSign + string(p) + ")"
}

// SignedPhase is the phase that was written behind a text; empty: none was.
func SignedPhase(text Safe) SnapshotPhase {
	i := strings.LastIndex(text.String(), phaseSign)
	if i < 0 {
		return ""
	}
	p, _, _ := strings.Cut(text.String()[i+len(phaseSign):], ")")
	switch p := SnapshotPhase(p); p {
	case PhaseUntold, PhaseDetach, PhaseTar, PhaseUnpack, PhaseRefused, PhaseReattach, PhaseNoBytes:
		return p
	}
	return ""
}

// Means says what follows from a phase.
func (p SnapshotPhase) Means() Safe {
	switch p {
	case PhaseDetach:
		return Text("phase: detach, before tar ran. Mounts that were detached were attached again")
	case PhaseTar:
		return Text("phase: tar. What it says is the cause; nothing of this save is kept")
	case PhaseUnpack:
		return Text("phase: unpack. The contents are partial: unpacking adds files and never removes any")
	case PhaseRefused:
		return Text("phase: before tar. The archive is unsafe or invalid, and nothing was changed")
	case PhaseNoBytes:
		return Text("phase: before tar. The caller gave no bytes: nothing was sent, and nothing was changed")
	case PhaseUntold:
	case PhaseReattach:
		return Text("phase: re-attach. Mounts may be absent now, and an earlier error may be hidden")
	}
	return Text("phase: cannot tell")
}
