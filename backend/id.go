package backend

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxIDBytes bounds a raw identifier; a longer one is refused as invalid, because nothing real is that long and
// every table would have to carry it.
const MaxIDBytes = 4 << 10

// ID is the raw identifier of something in a backend. It is used for joins, calls and digests and never drawn: it
// has no String method on purpose; Safe gives the drawable form. The zero ID is "no identifier".
type ID struct{ raw string }

// NewID wraps a raw identifier. Empty and longer than MaxIDBytes are errors.
func NewID(raw string) (ID, error) {
	switch {
	case raw == "":
		return ID{}, fmt.Errorf("empty identifier")
	case len(raw) > MaxIDBytes:
		return ID{}, fmt.Errorf("identifier of %d bytes is longer than %d", len(raw), MaxIDBytes)
	}
	return ID{raw: raw}, nil
}

// MustID wraps an identifier that the program itself made; it panics on an invalid one.
func MustID(raw string) ID {
	id, err := NewID(raw)
	if err != nil {
		panic(err)
	}
	return id
}

// Raw returns the identifier as the backend spelled it, for calls, joins and digests. Never draw it.
func (id ID) Raw() string { return id.raw }

// IsZero reports whether there is no identifier.
func (id ID) IsZero() bool { return id.raw == "" }

// Safe is the drawable form, bounded to 200 characters.
func (id ID) Safe() Safe { return Clean(id.raw, 200) }

// Compare orders identifiers bytewise.
func (id ID) Compare(o ID) int { return strings.Compare(id.raw, o.raw) }

// Format keeps an ID from slipping into drawn text through fmt: it prints the Safe form.
func (id ID) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(id.Safe().String())) }

// MarshalJSON writes the raw identifier; characters that act on a terminal (U+007F-009F, bidi controls and the like)
// are written as JSON escapes, so that printing the document is harmless and parsing it gives the identifier back.
func (id ID) MarshalJSON() ([]byte, error) { return []byte(QuoteJSON(id.raw)), nil }

// UnmarshalJSON accepts what MarshalJSON wrote.
func (id *ID) UnmarshalJSON(b []byte) error {
	s, err := unquoteJSON(b)
	if err != nil {
		return err
	}
	id.raw = s
	return nil
}

// Key identifies one entity of the fleet. Keys are comparable. Parent is the raw id of what the entity is part of, and
// zero where its kind has no parent (SubjectKind.Parents).
type Key struct {
	Kind   Kind   `json:"kind"`
	Source string `json:"source"`
	Parent ID     `json:"parent,omitzero"`
	ID     ID     `json:"id"`
}

// Compare orders keys by kind, source, parent, id.
func (k Key) Compare(o Key) int {
	// One field after the other, not cmp.Or: this runs millions of times a second, and most keys of a table share
	// their first fields.
	if c := strings.Compare(string(k.Kind), string(o.Kind)); c != 0 {
		return c
	}
	if c := strings.Compare(k.Source, o.Source); c != 0 {
		return c
	}
	if c := strings.Compare(k.Parent.raw, o.Parent.raw); c != 0 {
		return c
	}
	return strings.Compare(k.ID.raw, o.ID.raw)
}

// Path is the raw id under which people and commands address the entity: `<parent>/<id>` where its kind says so, such as
// `<session>/<name>` for a workspace, and the raw id for everything else. For calls and JSON, never for drawing.
func (k Key) Path() ID {
	if k.Kind.Spec().PathHasParent {
		return ID{raw: k.Parent.raw + "/" + k.ID.raw}
	}
	return k.ID
}

// Safe is the drawable form of Path.
func (k Key) Safe() Safe { return k.Path().Safe() }

// QuoteJSON quotes s as a JSON string in which everything that could act on a terminal or reorder text is escaped.
// Invalid UTF-8 becomes U+FFFD, as everywhere in JSON.
func QuoteJSON(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == utf8.RuneError:
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				b.WriteString(`\ufffd`)
			} else {
				b.WriteRune(r)
			}
		case r < 0x20 || unsafeRune(r):
			escapeRune(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func escapeRune(b *strings.Builder, r rune) {
	if r > 0xffff {
		r -= 0x10000
		fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		return
	}
	fmt.Fprintf(b, `\u%04x`, r)
}
