package actions

import "sandglass/backend"

// Verb is what is done: a lower-case word with dashes, the same on the screen, on the command line, in the
// configuration and in the journal. Operators add verbs of their own.
type Verb string

// The verbs that Sandglass itself brings.
const (
	Reset   Verb = "reset"
	Destroy Verb = "destroy"
	Stop    Verb = "stop"
	Start   Verb = "start"
	Restart Verb = "restart"
	Shell   Verb = "shell" // on the terminal of the person
	Pause   Verb = "pause"
	Resume  Verb = "resume"
	Repair  Verb = "repair"
	Probe   Verb = "probe"
	Prove   Verb = "prove"  // tries the platform on a sandbox of its own
	Rescue  Verb = "rescue" // copies what can still be read
	Wake    Verb = "wake"   // has a hub resume a session
	Replace Verb = "replace"
	Clean   Verb = "clean"
	Purge   Verb = "purge" // ends the grace period of a cleaned directory
	Undo    Verb = "undo"  // puts a cleaned directory back

	StopProcess Verb = "stop-process" // asks one process in a sandbox to end
	KillProcess Verb = "kill-process"
	RevokeToken Verb = "revoke-token" // of a private preview
)

// Gesture is how a plan is confirmed.
type Gesture int

// The gestures, lightest first. A plan asks for at least the gesture of its verb; several targets, a removal of
// directories and a production environment always ask for the count.
const (
	GestureTwice Gesture = iota // the verb's key twice within 5 s
	GestureYes                  // the word yes
	GestureName                 // the target's short name
	GestureCount                // the number of targets and the last four characters of the digest
)

// Cap says which limit of the number of targets holds for a verb.
type Cap int

// The caps. The share cap is a quarter of the subjects of the source that work or of which nothing is known, never
// below one target: failed ones do not count, because losing them costs nothing more. Targets that are of no use to
// anybody (failed entries to reset, ownerless directories) have an absolute cap instead.
const (
	CapShare Cap = iota
	CapAbsolute
)

// Spec declares a verb as data.
type Spec struct {
	Verb Verb
	Of   backend.Kind // what it is done to
	// Title is what the plan is called before the number of targets ("destroy"), Effect what it does to one target.
	Title, Effect string
	// Cost is what it starts, records and bills; empty: what Effect says.
	Cost string
	// Undo says how it is taken back; empty: it cannot be.
	Undo    string
	Gesture Gesture
	Cap     Cap
	// Most is the absolute cap of targets in one plan, 0 for the default of 1,000.
	Most int
	// PerMinute bounds how many targets are acted on in a minute, 0 for 60.
	PerMinute int
	// Makes says that it makes a sandbox of its own, which it removes again.
	Makes bool
	// Empties says that it ends a container with its files, though the sandbox keeps its id.
	Empties bool
	// Takes says that it takes over the terminal of the person for as long as it lasts.
	Takes bool
	// Custom marks a verb that the operator's configuration defines.
	Custom bool

	_ [0]func() // specs are never compared as a whole: no code for that is compiled
}

// mostTargets and perMinute are the defaults of Spec.
const (
	mostTargets = 1000
	perMinute   = 60
)

func (s Spec) most() int {
	if s.Most > 0 {
		return s.Most
	}
	return mostTargets
}

func (s Spec) perMinute() int {
	if s.PerMinute > 0 {
		return s.PerMinute
	}
	return perMinute
}
