package backend

import "time"

// EventKind says what sort of thing happened.
type EventKind string

// The kinds of events.
const (
	EventTransition EventKind = "transition" // an alert changed its state
	EventAction     EventKind = "action"     // a user acted through Sandglass
	EventNote       EventKind = "note"       // a user wrote a note
	EventPlatform   EventKind = "platform"   // a backend reported that something happened
	EventChange     EventKind = "change"     // a process start, boot, new version: something that explains what follows
)

// Event is one neutral line of the timeline.
type Event struct {
	Kind     EventKind `json:"kind"`
	At       time.Time `json:"at"`                 // our time
	SourceAt time.Time `json:"source_at,omitzero"` // the source's own time, when it gave one
	Source   string    `json:"source,omitempty"`
	Subject  Key       `json:"subject,omitzero"`
	// About are the subjects of what concerns several, which has no Subject; of very many only the first.
	About []Key  `json:"about,omitempty"`
	Alert string `json:"alert,omitempty"` // the id of the alert that changed its state
	Name  string `json:"name"`            // short machine word: die, oom, firing, …
	Text  Safe   `json:"text"`
	// Leaves is the class in which the event leaves the sandbox that it is about, empty where it says none. It is for the reading
	// that brings the event.
	Leaves SandboxClass `json:"-"`
}

// Says reports whether the event says that its sandbox is of a class. What ended may be started again, or be on its way out.
func (e *Event) Says(c SandboxClass) bool {
	switch c {
	case SandboxExited, SandboxDead, SandboxRestarting, SandboxRemoving:
		return e.Leaves == SandboxExited
	case SandboxUnknown, SandboxCreated, SandboxRunning, SandboxPaused, SandboxAsleep:
	}
	return e.Leaves == c
}

// EventExit is the name of an event that tells the end of a container's run.
const EventExit = "exit"

// The names of changes that are none of the fleet's.
const (
	ChangeStart  = "start"  // one container started, which is daily life
	ChangeCheck  = "check"  // a check of the site says something else than before
	ChangeConfig = "config" // Sandglass itself runs with another configuration
)

// ChangeProtocol is the name of a change of versions: a Worker and its containers do not understand each other.
const ChangeProtocol = "control-protocol"

// MayRestart reports whether an event is a change that may have reopened workspaces: a rollout, a process or a host
// that started, a change that the site reported.
func (e *Event) MayRestart() bool {
	return e.Kind == EventChange && e.Name != ChangeStart && e.Name != ChangeCheck && e.Name != ChangeConfig
}
