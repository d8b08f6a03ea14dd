// Package views holds what screens are given and what they give back. A screen is a pure function of its Frame and the
// intents before: it does no I/O and reads no clock, environment or global.
package views

import (
	"time"

	"sandglass/actions"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Frame is everything a screen may look at.
type Frame struct {
	*Snapshot // Now, State, Board
	Theme     *theme.Theme
	Summary   *Summary
	// Diagnoses are those that were worked out; one that is missing is under way.
	Diagnoses map[Question]*runbook.Diagnosis
	// Keys are this viewer's; nil: those without a configuration.
	Keys *keys.Map
	// In is the context of the table or page that is shown, below any dialog.
	In keys.Context
	// Pins are the subjects that stay on top; nil: none do.
	Pins *Pins
	// Say is the remark in the footer; empty: none.
	Say string
	// Spin is the sign that turns while this viewer waits for an answer; empty: it waits for none.
	Spin string
	// Acting is what this viewer may do and does, as of the last message.
	Acting Acting
	// Printed says that the text goes to a command's output: it names no keys and no screens.
	Printed bool
	// Local is what the operators of this site add to the runbook, by rule, and by page where no rule is asked about.
	Local map[string]runbook.Local
}

// Acting is what a viewer may do to the backends, and what goes on.
type Acting struct {
	At  time.Time // when it was read; later than the Frame's Now, which moves once a second
	Can bool      // some verb is allowed here
	// Abilities are the verbs of every source, the unavailable ones with their reason; nil where this viewer only looks.
	Abilities []actions.Ability
	Until     time.Time // end of the arming; zero: not armed
	Examines  bool      // the read routes of sources can be tried here
	// Run is the plan that some viewer carries out, or the last one; nil: none yet.
	Run *actions.Progress
}

// AbilitiesFor are the verbs for a thing.
func (a *Acting) AbilitiesFor(k backend.Key) (out []actions.Ability) {
	for i := range a.Abilities {
		if x := &a.Abilities[i]; x.For(k) {
			out = append(out, *x)
		}
	}
	return out
}

// Question asks what the runbook's page of an incident says about a subject. The zero Key asks about everything.
type Question struct {
	Incident string
	Subject  backend.Key
	Alert    string // id of the alert whose page it is; empty: the page is about the subject alone
}

// Outcome is what a screen asks the program for.
type Outcome struct {
	Open backend.Key // show everything about it; zero: nothing
	Say  string      // one line for the footer
	Copy string      // raw ids for the clipboard
}

// Suggestion is one way in which the filter that is being typed can go on.
type Suggestion struct {
	Word string // as it is offered
	Text string // the whole filter with it
}

// Screen is one numbered screen.
type Screen interface {
	Number() int
	Name() string
	Update(in keys.Intent, f *Frame) Outcome
	// Render draws exactly w×h cells.
	Render(w, h int, f *Frame) kit.Block
	// Offered reports whether the screen can have something to show; one that cannot has no tab.
	Offered(f *Frame) bool
	// Need is how many lines the screen could use; the program gives up its own lines first.
	Need(w int, f *Frame) int
	// Status is the right end of the footer: how many rows there are, and which are in sight where brief does not leave that to the
	// screen itself. FilterText is the filter in force.
	Status(f *Frame, brief bool) string
	FilterText() string
	// FilterProblem says what is wrong with the filter that is being typed, and at which of its characters, from 1; empty: nothing.
	FilterProblem() (what string, at int)
	// Suggest offers how the filter that is being typed can go on, the likeliest first.
	Suggest(f *Frame) []Suggestion
	// Busy reports that a filter over very many rows is still being applied; Step goes on with it for some milliseconds.
	Busy() bool
	Step()
	// Cursor is the key of the row under the cursor, the zero Key when it is on none.
	Cursor(f *Frame) backend.Key
	// Marked are the keys of the marked rows, in order, and of those that a filter hides.
	Marked() (shown, hidden []backend.Key)
	// Visible are the keys of the rows on the screen.
	Visible() []backend.Key
	// Look is how the rows are shown now; SetLook shows them in another way, as far as that fits the screen. CheckLook names the part
	// that does not fit (filter, sort or columns), and why; empty: everything fits.
	Look() Look
	SetLook(Look)
	// Click puts the cursor on the row that was drawn at a cell of the screen, and reports whether there is one.
	Click(x, y int, f *Frame) bool
	// Seek puts the cursor on a row as soon as it is there, unless the viewer moves it before.
	Seek(backend.Key)
	CheckLook(Look) (part, why string)
	// History reports whether the screen shows the Frame's Events, which are read only for such a screen.
	History() bool
}
