package actions

import (
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Result is the outcome for one target.
type Result = audit.Result

// The results, as the journal spells them; ResultNone: not begun.
const (
	ResultNone        = audit.ResultNone
	ResultIssued      = audit.ResultIssued
	ResultAccepted    = audit.ResultAccepted
	ResultVerified    = audit.ResultVerified
	ResultUnverified  = audit.ResultUnverified
	ResultFailed      = audit.ResultFailed
	ResultFailedAgain = audit.ResultFailedAgain
	ResultEnded       = audit.ResultEnded
	ResultSkipped     = audit.ResultSkipped
	ResultRefused     = audit.ResultRefused
	ResultUnknown     = audit.ResultUnknown
)

// Gone judges a verb after which the target must be no more: verified when the State, built from a later reading of its
// source that answers, lists it no longer.
func Gone(t Target, issued time.Time, s *fleet.State) Verdict {
	h := s.Source(t.Key.Source)
	switch {
	case h == nil || !h.LastOK.After(issued):
		return Verdict{ResultAccepted, backend.Text("its source was not read since")}
	case s.Entity(t.Key) != nil:
		return Verdict{ResultAccepted, backend.Text("it is still listed")}
	case h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting:
		return Verdict{ResultAccepted, backend.Text("its source does not answer")}
	}
	return Verdict{ResultVerified, backend.Text("its source lists it no longer")}
}

// SandboxEnded waits until a reading shows that a sandbox ended or is listed no more.
type SandboxEnded struct{ StillListed }

// Verify judges by later readings.
func (SandboxEnded) Verify(t Target, issued time.Time, s *fleet.State) Verdict {
	b := s.Sandbox(t.Key)
	switch {
	case b == nil:
		return Gone(t, issued, s)
	case !s.ReadAt(&b.Meta).After(issued):
		return Verdict{Result: ResultAccepted, Why: backend.Text("it was not read since")}
	case b.Class == backend.SandboxExited || b.Class == backend.SandboxDead:
		return Verdict{Result: ResultVerified, Why: backend.Textf("it is reported %s", b.Reported)}
	case b.Class == backend.SandboxUnknown:
		return Verdict{Result: ResultAccepted, Why: backend.Text("whether it runs is not shown by a reading")}
	}
	return Verdict{Result: ResultAccepted, Why: backend.Textf("it is still reported %s", b.Reported)}
}
