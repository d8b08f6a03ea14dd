package rules

import (
	"iter"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// remembers is part of a rule that remembers an N about each of its subjects.
//
// JSON names in notes stay when a field is renamed: state files of former versions are read.
type remembers[N any] struct{}

// NewNote is an empty note.
func (remembers[N]) NewNote(backend.Key) alerts.Note { return alerts.NoteOf(new(N)) }

// each walks notes that are of one type.
func each[N any](notes alerts.Notes) iter.Seq2[backend.Key, *N] {
	return func(yield func(backend.Key, *N) bool) {
		for k, n := range notes.All {
			if !yield(k, alerts.NoteAs[N](n)) {
				return
			}
		}
	}
}

// own is a note that may be changed: n itself when it was made in this evaluation, else a copy of it.
func own[N any](old, n *N) *N {
	if n != old {
		return n
	}
	c := *n
	return &c
}

// point is what a rule measured at one moment.
type point struct {
	At time.Time  `json:"at"` // steady
	N  [3]float64 `json:"n"`  // what each number means is the rule's
}

// causeNote is the cause that an error text names.
type causeNote struct {
	Cause       backend.Safe `json:"cause,omitzero"`
	Fingerprint string       `json:"fingerprint,omitempty"`
	Raw         backend.Safe `json:"-"` // the text that Cause was made of, to spare making it again
}

func (c *causeNote) errorCause() *causeNote { return c }

// owner is to whom a workspace belongs.
type owner struct {
	Session  backend.ID   `json:"session,omitzero"`
	Provider backend.Safe `json:"provider,omitzero"`
	Tenant   backend.Safe `json:"tenant,omitzero"`
}

func (o *owner) belongs() *owner { return o }

func ownerOf(env *alerts.Env, w *backend.Workspace) owner {
	o := owner{Session: w.Key.Parent, Provider: w.Provider}
	if s := env.SessionOf(w); s != nil {
		o.Tenant = s.Tenant
	}
	return o
}

// seriesNote is part of the notes of a rule that judges by series.
type seriesNote struct {
	Series []backend.Series `json:"series,omitempty"`
}
