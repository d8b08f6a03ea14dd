package backend

import "time"

// LifecycleEvent is one thing that a platform did to a sandbox, as it tells.
type LifecycleEvent struct {
	Kind LifecycleKind `json:"kind"`
	Type Safe          `json:"type"` // the platform's own word
	At   time.Time     `json:"at"`   // the platform's time, corrected by the source's clock offset; ours where it gave none
	ID   ID            `json:"id,omitzero"`
	// Checkpoint is the checkpoint that it names; empty: none is named.
	Checkpoint Safe `json:"checkpoint,omitzero"`
	// Deferred is whether a resume was only noted and its work postponed; unknown: the platform does not say.
	Deferred Value[bool] `json:"deferred"`
	// Previous is the status before it, empty where none is named.
	Previous Safe `json:"previous,omitzero"`
}

// LifecycleKind is the meaning of a platform's word for a lifecycle event.
type LifecycleKind string

// The kinds of lifecycle events.
const (
	LifecycleCreated      LifecycleKind = "created"
	LifecycleStarted      LifecycleKind = "started"
	LifecycleSuspended    LifecycleKind = "suspended"
	LifecycleResumed      LifecycleKind = "resumed"
	LifecycleEvacuated    LifecycleKind = "evacuated"    // the platform moves it off its host
	LifecycleCheckpointed LifecycleKind = "checkpointed" // a checkpoint was received
	LifecycleReconciled   LifecycleKind = "reconciled"   // the platform corrected its record afterwards
	LifecycleDestroyed    LifecycleKind = "destroyed"
	LifecycleOther        LifecycleKind = "other"
)

// MaxLifecycle bounds Sandbox.Lifecycle: the newest stay.
const MaxLifecycle = 12

// Latest is the newest lifecycle event of some kinds; false: none of them is known.
func (b *Sandbox) Latest(kinds ...LifecycleKind) (LifecycleEvent, bool) {
	for i := len(b.Lifecycle) - 1; i >= 0; i-- {
		for _, k := range kinds {
			if b.Lifecycle[i].Kind == k {
				return b.Lifecycle[i], true
			}
		}
	}
	return LifecycleEvent{}, false
}

// resumeUndo is how soon after a resume an evacuation or a suspend undid it.
const resumeUndo = 5 * time.Minute

// OddResume is the newest event that does not fit a resume which went well: the resume was only noted, the platform moved or
// suspended the sandbox right after it, or corrected its record from asleep; false: there is none.
func OddResume(all []LifecycleEvent) (odd LifecycleEvent, is bool) {
	var resumed time.Time
	for _, e := range all {
		found := false
		switch e.Kind {
		case LifecycleStarted, LifecycleCreated:
			is, resumed = false, time.Time{}
		case LifecycleResumed:
			resumed, is = e.At, false
			found = e.Deferred.Or(false)
		case LifecycleReconciled:
			found = e.Previous.String() == "suspended" || e.Previous.String() == "paused"
		case LifecycleEvacuated, LifecycleSuspended:
			found = !resumed.IsZero() && e.At.Sub(resumed) < resumeUndo
		case LifecycleCheckpointed, LifecycleDestroyed, LifecycleOther:
		}
		if found {
			odd, is = e, true
		}
	}
	return odd, is
}
