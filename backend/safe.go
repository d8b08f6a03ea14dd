package backend

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Safe is text that can be drawn: it holds no control, escape, bidi or invisible character and its length is
// bounded. The only ways to get one are Clean, Textf, a Cleaner, and joining Safe values.
type Safe struct{ s string }

// String returns the text. It is harmless on a terminal.
func (s Safe) String() string { return s.s }

// IsEmpty reports whether there is no text.
func (s Safe) IsEmpty() bool { return s.s == "" }

// MarshalJSON writes the text.
func (s Safe) MarshalJSON() ([]byte, error) { return []byte(QuoteJSON(s.s)), nil }

// UnmarshalJSON cleans what it reads, so that a Safe from a file is as safe as any other.
func (s *Safe) UnmarshalJSON(b []byte) error {
	raw, err := unquoteJSON(b)
	if err != nil {
		return err
	}
	*s = Clean(raw, MaxTextRunes)
	return nil
}

// MaxTextRunes bounds any drawn text.
const MaxTextRunes = 4096

// Literal is text of our own source code; only untyped constants convert to it outside this package's callers' view.
type Literal string

// Text makes drawable text of a constant of our own. It is called and not copied into each of its places, which makes the program smaller.
//
//go:noinline
func Text(l Literal) Safe { return Clean(string(l), MaxTextRunes) }

// Textf formats and cleans. Arguments may be anything printable; whatever they carry is cleaned, and cleaning what is
// clean changes nothing.
func Textf(format Literal, args ...any) Safe {
	return Clean(fmt.Sprintf(string(format), args...), MaxTextRunes)
}

// Join puts sep between parts.
func Join(parts []Safe, sep Literal) Safe {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(string(sep))
		}
		b.WriteString(p.s)
	}
	return Clean(b.String(), MaxTextRunes)
}

// Clean turns untrusted text into drawable text of at most limit characters (an ellipsis marks a cut). C0 controls
// become U+2400 pictures, everything else that acts, hides or reorders becomes `<U+XXXX>`; at most two combining
// marks follow a base character.
func Clean(raw string, limit int) Safe {
	if len(raw) <= limit && plainASCII(raw) {
		return Safe{raw}
	}
	var b strings.Builder
	n, marks := 0, 0
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		if n >= limit {
			return Safe{cut(b.String())}
		}
		i += size
		switch {
		case combining(r) && !unsafeRune(r):
			if marks++; marks > 2 {
				continue
			}
			b.WriteRune(r)
			n++
			continue
		case r == utf8.RuneError && size == 1:
			b.WriteRune('\uFFFD')
		case r < 0x20:
			b.WriteRune('\u2400' + r)
		case r == 0x7f:
			b.WriteRune('\u2421')
		case unsafeRune(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
			n += 7
		default:
			b.WriteRune(r)
		}
		marks = 0
		n++
	}
	return Safe{b.String()}
}

func cut(s string) string {
	_, size := utf8.DecodeLastRuneInString(s)
	return s[:len(s)-size] + "…"
}

func plainASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

func combining(r rune) bool {
	return r >= 0x300 && r <= 0x36f || r >= 0x483 && r <= 0x489 || r >= 0x1ab0 && r <= 0x1aff ||
		r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff || r >= 0xfe20 && r <= 0xfe2f
}

// unsafeRune lists what must never reach a terminal raw besides C0: C1 controls, bidi controls, zero-width and other
// invisible characters, separators, tags, variation selectors, private use and noncharacters. It follows the Unicode
// standard's Default_Ignorable_Code_Point property, of which Go has the parts.
func unsafeRune(r rune) bool {
	switch {
	case r < 0x7f:
		return false
	case r <= 0x9f, r == 0x2800, r == 0x2028, r == 0x2029, r >= 0xfff0 && r <= 0xfffb, r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Unsafe reports whether a character must not reach a terminal as it is.
func Unsafe(r rune) bool { return r < 0x20 || unsafeRune(r) }

func unquoteJSON(b []byte) (string, error) {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return "", fmt.Errorf("want a JSON string: %w", err)
	}
	return s, nil
}
