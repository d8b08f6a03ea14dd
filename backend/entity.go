package backend

import (
	"time"
)

// Meta is what every entity carries. An entity is immutable once it is in a State; a change makes a new one.
type Meta struct {
	Key    Key       `json:"key"`
	ReadAt time.Time `json:"read_at"` // when this entity was last read successfully
	// Stale says that newer readings of this entity failed, so that its values are those of ReadAt.
	Stale bool `json:"stale,omitempty"`
	// StaleWhy says what failed.
	StaleWhy Safe `json:"stale_why,omitzero"`

	// Rev is the number of the State that last changed the entity; FirstSeen the time of the first reading that had
	// it; History its last status changes, oldest first. The fleet sets these three; an adapter leaves them zero.
	Rev       uint64         `json:"rev,omitempty"`
	FirstSeen time.Time      `json:"first_seen,omitzero"`
	History   []StatusChange `json:"history,omitempty"`
	// Raw is the reading as the backend gave it, masked and bounded, for the details view.
	Raw Safe `json:"raw,omitzero"`
}

// MaxHistory bounds Meta.History.
const MaxHistory = 8

// StatusChange is one change of the reported status.
type StatusChange struct {
	Status Safe      `json:"status"`
	At     time.Time `json:"at"`
}

// Entity is any of the things in a State. Its methods serve merging; an Entity is immutable.
type Entity interface {
	EntityMeta() *Meta
	StatusWord() Safe // the reported status literal, empty when there is none
}

// EntityMeta gives access to the common part.
func (m *Meta) EntityMeta() *Meta { return m }

// Field is one unrecognised or additional fact, shown generically.
type Field struct {
	Name  Safe `json:"name"`
	Value Safe `json:"value"`
}
