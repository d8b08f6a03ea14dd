package backend

import "time"

// Rejection is what the guards of one workspace refused with one first word and one metacharacter, as log lines of the last
// hour say.
type Rejection struct {
	Session   ID `json:"session,omitzero"`   // zero: the lines name none, and they fit no one session alone
	Workspace ID `json:"workspace,omitzero"` // zero: the lines name none
	// Word is the first word of the command, empty where the lines name no command.
	Word Safe `json:"word,omitzero"`
	// Metacharacter is what the guard refused, empty where neither the line nor the command shows one.
	Metacharacter Safe    `json:"metacharacter,omitzero"`
	Lines         float64 `json:"lines"`      // written in full
	Suppressed    float64 `json:"suppressed"` // that rollups stand for
	LowerBound    bool    `json:"lower_bound,omitempty"`
	// FirstSeen and LastSeen are the times of the first and the last line, rollups included.
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	// First is the first line that was written in full, at FirstAt; empty where only rollups were read.
	First   Safe      `json:"first,omitzero"`
	FirstAt time.Time `json:"first_at,omitzero"`
	// Fits is how many sessions have full lines of that workspace and word, where Session is zero.
	Fits int `json:"fits,omitempty"`
}
