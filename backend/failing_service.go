package backend

// FailingService is a service of a source that does not answer as it should while the rest of the source does.
type FailingService struct {
	What  Safe `json:"what,omitzero"`  // which one, as a cause; empty: all answer
	Why   Safe `json:"why,omitzero"`   // its error
	Tries int  `json:"tries,omitzero"` // how often it was asked in a row without an answer, at least 1
}

// BridgeFailing begins the words of a bridge that does not answer.
const BridgeFailing = "its bridge does not answer"
