package actions

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// Phase is what a run is doing.
type Phase string

// The phases of a run.
const (
	PhaseActing    Phase = "acting"
	PhaseVerifying Phase = "verifying" // waiting for readings that show whether a wave worked
	PhaseWaiting   Phase = "waiting"   // the operator decides whether the next wave starts
	PhaseStopped   Phase = "stopped"   // ended before its last target
	PhaseDone      Phase = "done"
)

// Line is the state of one target.
type Line struct {
	Target Target
	Wave   int // 1 is the canary
	Result Result
	Text   backend.Safe
	Issued time.Time // zero: not begun
	At     time.Time // when Result was last set
	Done   Done
}

// decided reports whether the result of the line is final.
func (l *Line) decided() bool {
	return l.Result != ResultNone && l.Result != ResultIssued && l.Result != ResultAccepted && l.Result != ResultUnknown
}

// Progress is a moment of a run. It is a value.
type Progress struct {
	Plan  *Plan
	Phase Phase
	Wave  int
	Waves int
	Lines []Line
	// Why says what it waits for, or why it stopped.
	Why backend.Safe
	// CanContinue says that the viewer may start the next wave now.
	CanContinue bool
	// Own says that the viewer confirmed the plan.
	Own   bool
	Began time.Time
	Ended time.Time
	// Problem says what could not be written to the journal.
	Problem backend.Safe
}

// Over reports whether the run has ended.
func (p Progress) Over() bool { return p.Phase == PhaseStopped || p.Phase == PhaseDone }

// Count counts the lines of one of the results.
func (p Progress) Count(rs ...Result) int {
	n := 0
	for i := range p.Lines {
		if slices.Contains(rs, p.Lines[i].Result) {
			n++
		}
	}
	return n
}

// Acted counts the targets on which the verb was issued.
func (p Progress) Acted() int {
	n := 0
	for i := range p.Lines {
		if !p.Lines[i].Issued.IsZero() {
			n++
		}
	}
	return n
}

// Overall is the result of the whole plan: the worst of its lines, and unverified when targets were not reached.
func (p Progress) Overall() Result {
	order := []Result{ResultFailed, ResultFailedAgain, ResultUnknown, ResultUnverified, ResultIssued, ResultAccepted, ResultSkipped,
		ResultEnded, ResultVerified}
	if p.Acted() == 0 {
		if p.Plan.DryRun {
			return ResultVerified
		}
		return ResultSkipped
	}
	for _, r := range order {
		if p.Count(r) > 0 {
			return r
		}
	}
	return ResultUnverified
}

// Summary is the run in one line: "7 of 40 done: 6 verified, 1 failed".
func (p Progress) Summary() backend.Safe {
	if p.Plan.DryRun {
		return backend.Textf("dry run: %d of %d would be acted on, %d skipped", p.Acted(), len(p.Lines), p.Count(ResultSkipped))
	}
	var parts []string
	for _, r := range []Result{ResultVerified, ResultAccepted, ResultIssued, ResultUnverified, ResultFailed, ResultFailedAgain, ResultUnknown,
		ResultEnded, ResultSkipped} {
		if n := p.Count(r); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	var moved, freed int64
	for i := range p.Lines {
		moved, freed = moved+p.Lines[i].Done.Moved, freed+p.Lines[i].Done.Freed
	}
	if moved > 0 || freed > 0 {
		parts = append(parts, fmt.Sprintf("%s moved, %s freed", backend.Bytes(moved), backend.Bytes(freed)))
	}
	s := fmt.Sprintf("%d of %d done", p.Acted(), len(p.Lines))
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	return backend.Clean(s, backend.MaxTextRunes)
}
