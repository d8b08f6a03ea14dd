package backend

import "time"

// KindWorkspace is the kind of a Workspace.
const KindWorkspace Kind = "workspace"

var workspaceKind = SubjectKind{
	Kind: KindWorkspace, Name: "workspace", Plural: "workspaces", List: "workspaces", Short: "ws", Input: InputRegistry,
	Parents: []Kind{KindSession}, PathHasParent: true, PartOfParent: true, Copy: copyOf[Workspace],
	InUse: func(e Entity) bool {
		class := e.(*Workspace).Class
		return class != ClassFailed && class != ClassEvicted && class != ClassClosed
	},
	Carry: func(next, old Entity, seen Bounds) { next.(*Workspace).carry(old, seen) },
	Forget: func(e Entity) {
		e.(*Workspace).LostSuccess, e.(*Workspace).WorkedAt, e.(*Workspace).Moved = time.Time{}, time.Time{}, ID{}
	},
}

// Workspace is one entry of a session's registry.
type Workspace struct {
	Meta
	// Named is false for the single unnamed workspace of the newest framework edition; its key's ID is "workspace".
	Named bool `json:"named"`
	// Reported is the state literal, verbatim.
	Reported Safe `json:"reported"`
	// Class is what the literal is known or configured to mean.
	Class StateClass `json:"class"`
	// LastError is the cause the registry gives, empty when it gives none.
	LastError Safe `json:"last_error,omitzero"`
	// LastAttemptAt, LastSuccessAt and LastOpAt are the registry's times, corrected by the source's clock offset.
	// Not applicable: the key is absent or null, there is no such time; unknown: the registry wrote something that is
	// no time, or the source's clock cannot be trusted.
	LastAttemptAt Value[time.Time] `json:"last_attempt_at,omitzero"`
	LastSuccessAt Value[time.Time] `json:"last_success_at,omitzero"`
	LastOpAt      Value[time.Time] `json:"last_op_at,omitzero"`
	// Unreadable says that the registry of the entry cannot be read any more though nothing says that it ended; its
	// values are the last ones and conclude nothing.
	Unreadable bool `json:"unreadable,omitempty"`
	// LostSuccess is the last success that an earlier reading reported and a later one does not know, although the
	// workspace was there all along. Zero: none was lost. The fleet sets it.
	LostSuccess time.Time `json:"lost_success,omitzero"`
	// WorkedAt is when the workspace was last read without a failure before its newest change: what fails now began after
	// that. Zero: it was never read so. The fleet sets it.
	WorkedAt time.Time `json:"worked_at,omitzero"`
	// Moved is the namespace that an earlier reading named where the newest names another. The fleet sets it.
	Moved ID `json:"moved,omitzero"`
	WorkspaceFacts
	Extra []Field `json:"extra,omitempty"`
}

// attemptTolerance is how far the two times of one successful attempt may lie apart: a registry writes one after the other.
const attemptTolerance = time.Second

// TriedSince reports whether the newest attempt is another one than that of the last success.
func (w *Workspace) TriedSince() bool {
	attempt, tried := w.LastAttemptAt.Get()
	success, worked := w.LastSuccessAt.Get()
	if worked && w.Class != ClassFailed && w.Class != ClassEvicted && w.LastError.IsEmpty() {
		success = success.Add(attemptTolerance)
	}
	return tried && (!worked || attempt.After(success))
}

// clockWobble is how far a corrected time may move between two readings though nothing happened.
const clockWobble = time.Minute

// carry copies what only earlier readings say: a success that is no longer known, and when it last worked.
func (w *Workspace) carry(old Entity, seen Bounds) {
	was, ok := old.(*Workspace)
	if !ok {
		return
	}
	w.LostSuccess, w.WorkedAt, w.Moved = was.LostSuccess, was.WorkedAt, was.Moved
	if !was.Namespace.IsZero() && !w.Namespace.IsZero() && was.Namespace != w.Namespace {
		w.Moved = was.Namespace
	}
	if lost := w.SuccessLost(was); !lost.IsZero() {
		w.LostSuccess = lost
	}
	tried := was.LastAttemptAt.IsKnown()
	switch {
	case was.Class == ClassFailed, was.Class == ClassEvicted, was.Unreadable, was.TriedSince(),
		!tried && !was.LastAttemptAt.IsNotApplicable():
	default:
		w.WorkedAt = seen.Earliest
	}
}

// SuccessLost is the last success that an earlier reading gave and that this one does not know; zero: it knows it. A time that
// cannot be read is not lost.
func (w *Workspace) SuccessLost(was *Workspace) time.Time {
	before, had := was.LastSuccessAt.Get()
	if now, has := w.LastSuccessAt.Get(); had && (w.LastSuccessAt.IsNotApplicable() || has && before.Sub(now) > clockWobble) {
		return before
	}
	return time.Time{}
}

// StatusWord returns the reported state literal.
func (w *Workspace) StatusWord() Safe { return w.Reported }

// WorkspaceFacts are optional facts that an aggregate route or a declaration gives.
type WorkspaceFacts struct {
	Provider            Safe                 `json:"provider,omitzero"`
	ProviderID          ID                   `json:"provider_id,omitzero"` // the sandbox id the provider was given
	Namespace           ID                   `json:"namespace,omitzero"`
	ShareAcrossSessions Value[bool]          `json:"share_across_sessions"`
	InheritWorkspaces   Value[bool]          `json:"inherit_workspaces"`
	DestroyOnClose      Value[bool]          `json:"destroy_on_close"`
	SleepAfter          Value[time.Duration] `json:"sleep_after"`
	CloseTimeout        Value[time.Duration] `json:"close_timeout"`
	Concurrency         Value[int]           `json:"concurrency"`
	MaxFileSize         Value[int64]         `json:"max_file_size"` // bytes
	RetryAttempts       Value[int]           `json:"retry_attempts"`
	ResetAfter          Value[time.Duration] `json:"reset_after"`
}

// StateClass is the meaning of a state literal. Only failed and evicted are known words of the framework; every other
// meaning comes from the configuration.
type StateClass string

// The meanings a state literal can have.
const (
	ClassUnknown StateClass = "unknown"
	ClassHealthy StateClass = "healthy"
	ClassOpening StateClass = "opening"
	ClassFailed  StateClass = "failed"
	ClassEvicted StateClass = "evicted"
	ClassClosed  StateClass = "closed"
)

// Condition says whether a workspace works, concluded from its timestamps alone.
type Condition string

// The conditions of a workspace.
const (
	CondUnknown Condition = "unknown" // nothing to conclude from
	CondWorking Condition = "working" // the last attempt succeeded
	CondBusy    Condition = "busy"    // one newer attempt, younger than the longest operation
	CondFailing Condition = "failing" // attempts without success since
	CondUnused  Condition = "unused"  // never attempted
)

// Condition concludes whether the workspace works at now. longest is how long one operation may take before an
// attempt without success counts as failing. A failed or evicted state never reads as working or busy.
func (w *Workspace) Condition(now time.Time, longest time.Duration) Condition {
	if w.Unreadable {
		return CondUnknown
	}
	bad := w.Class == ClassFailed || w.Class == ClassEvicted
	attempt, attempted := w.LastAttemptAt.Get()
	succeeded := w.LastSuccessAt.IsKnown()
	switch {
	case !attempted && !succeeded:
		switch {
		case bad:
			return CondFailing
		case w.LastOpAt.IsKnown():
			return CondUnknown
		case w.LastAttemptAt.IsNotApplicable() && w.LastSuccessAt.IsNotApplicable():
			return CondUnused
		}
		return CondUnknown
	case bad:
		return CondFailing
	case !attempted:
		return CondWorking
	case !w.TriedSince():
		return CondWorking
	case now.Sub(attempt) < longest:
		return CondBusy
	}
	return CondFailing
}

// RunsLong reports whether the newest attempt has no outcome after longest: no error and no state says that it failed.
func (w *Workspace) RunsLong(now time.Time, longest time.Duration) bool {
	return !w.Unreadable && w.Class != ClassFailed && w.Class != ClassEvicted && w.LastError.IsEmpty() &&
		w.TriedSince() && now.Sub(w.LastAttemptAt.Or(now)) >= longest
}
