// Package theme holds the look: what a tone or a mark is drawn as, for each tier of colours and glyphs. It knows
// nothing of what is drawn.
package theme

// Tone says what a text means; the theme decides how that looks. Colour is only ever used through a Tone.
type Tone uint8

// The tones.
const (
	Normal   Tone = iota
	Dim           // there, but not what the eye should find
	Strong        // headings and names
	Good          // works
	Warn          // needs a look
	Bad           // broken
	Critical      // broken, and hurts most
	Accent        // the cursor and what it is on
	toneCount
)

// Mark is the small sign in front of a state's word, so that a state can be told without colour.
type Mark uint8

// The marks.
const (
	MarkNone     Mark = iota
	MarkGood          // works
	MarkBusy          // under way
	MarkIdle          // at rest, not used
	MarkWarn          // needs a look
	MarkBad           // broken
	MarkCritical      // broken, and hurts most
	MarkUnknown       // nobody knows
	MarkHeld          // true when last seen
	MarkSuspect       // perhaps
	markCount
)
