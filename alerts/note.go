package alerts

import (
	"encoding/json"
	"maps"
	"slices"

	"sandglass/backend"
)

// Note is what a rule remembers about one subject between States. Each rule declares a type of its own for it; the engine
// stores the note without looking into it. A note is immutable: a change makes a new one. The zero Note is none.
type Note struct{ held any } // a pointer to the rule's type; the raw JSON while a state file is being read

// NoteOf wraps a rule's note; nil gives the zero Note.
func NoteOf[N any](n *N) Note {
	if n == nil {
		return Note{}
	}
	return Note{n}
}

// NoteAs returns the note of a rule whose type is N, nil when there is none.
func NoteAs[N any](n Note) *N {
	held, _ := n.held.(*N)
	return held
}

// NoteTaker is a rule that remembers something.
type NoteTaker interface {
	// NewNote returns an empty note about a subject, to decode a saved one into. Its JSON must give back what it holds.
	NewNote(key backend.Key) Note
}

// Remarks is what rules noticed about a subject that is no alert, and of which they can say no more.
func (b *Board) Remarks(k backend.Key) []backend.Safe {
	var out []backend.Safe
	if b == nil || b.memory == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(b.memory.rules)) {
		r := b.memory.rules[name].get(k)
		if r == nil {
			continue
		}
		if x, says := r.Note.held.(interface{ Remark() backend.Safe }); says && !x.Remark().IsEmpty() {
			out = append(out, x.Remark())
		}
	}
	return out
}

// IsZero reports whether there is no note.
func (n Note) IsZero() bool { return n.held == nil }

// MarshalJSON writes what the note holds.
func (n Note) MarshalJSON() ([]byte, error) { return json.Marshal(n.held) }

// UnmarshalJSON keeps the text: only the rule knows its type. decoded reads it.
func (n *Note) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		n.held = json.RawMessage(slices.Clone(data))
	}
	return nil
}

// decoded is a note from a state file as the type of its rule; none when the rule remembers nothing.
func (n Note) decoded(r Rule, key backend.Key) (Note, error) {
	raw, is := n.held.(json.RawMessage)
	taker, takes := r.(NoteTaker)
	if !is || !takes {
		return Note{}, nil
	}
	out := taker.NewNote(key)
	return out, json.Unmarshal(raw, out.held)
}
