package backend

// Mute is a service of a source that does not answer as it should while the rest of the source does.
type Mute struct {
	What  Safe `json:"what,omitzero"`  // which one, as a cause; empty: all answer
	Why   Safe `json:"why,omitzero"`   // its error
	Tries int  `json:"tries,omitzero"` // how often it was asked in a row without an answer, at least 1
}

// BridgeMute begins the words of a bridge that does not answer.
const BridgeMute = "its bridge does not answer"
