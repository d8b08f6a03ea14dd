package filter

import (
	"strings"
	"unicode/utf8"
)

// Match reports whether the row fulfils every term.
func (f Filter) Match(r Row) bool {
	for i := range f.terms {
		if f.terms[i].match(r) == f.terms[i].negate {
			return false
		}
	}
	return true
}

func (t *term) match(r Row) bool {
	if t.op == opText {
		return t.needle.in(r.Text())
	}
	if t.compares != nil {
		if m, ok := r.(Measured); ok {
			if n, ok := m.Measure(t.field); ok {
				return t.compares(n, t.want.n)
			}
		}
	}
	v, ok := r.Field(t.field)
	if !ok {
		return false
	}
	switch t.op {
	case opContains:
		if t.needle.low == "" {
			return v != ""
		}
		return t.needle.in(v)
	case opEqual:
		return strings.EqualFold(v, t.needle.raw)
	case opNot:
		return !strings.EqualFold(v, t.needle.raw)
	case opPattern:
		return t.pattern.MatchString(v)
	case opOver, opAtLeast, opUnder, opAtMost:
		have, ok := parseQuantity(v)
		return ok && have.comparable(t.want) && t.compares(have.n, t.want.n)
	case opText:
	}
	return false
}

// comparison returns what an operator asks of two numbers, nil for operators that compare texts.
func (op operator) comparison() func(have, want float64) bool {
	switch op {
	case opOver:
		return func(have, want float64) bool { return have > want }
	case opAtLeast:
		return func(have, want float64) bool { return have >= want }
	case opUnder:
		return func(have, want float64) bool { return have < want }
	case opAtMost:
		return func(have, want float64) bool { return have <= want }
	case opText, opContains, opEqual, opNot, opPattern:
	}
	return nil
}

// needle is text to look for, upper and lower case alike. Rows are many and mostly ASCII, so an ASCII needle is
// looked for byte by byte without allocating; any other takes the slower way through lower-casing both. The search
// jumps to the needle's rarest byte, because names share their beginnings.
type needle struct {
	raw, low string
	ascii    bool
	anchor   int  // index of the rarest byte
	a, b     byte // that byte in lower and upper case
}

// commonBytes lists the bytes of names and English text, the most common first.
const commonBytes = "esinoart-ld0chu1pm2gf345y6789wbkvxjzq/._"

func newNeedle(s string) needle {
	n := needle{raw: s, low: strings.ToLower(s), ascii: true}
	rarest := -1
	for i := 0; i < len(n.low); i++ {
		n.ascii = n.ascii && n.low[i] < utf8.RuneSelf
		rank := strings.IndexByte(commonBytes, n.low[i])
		if rank < 0 {
			rank = len(commonBytes)
		}
		if rank > rarest {
			rarest, n.anchor = rank, i
		}
	}
	if n.low != "" {
		n.a, n.b = n.low[n.anchor], upper(n.low[n.anchor])
	}
	return n
}

func (n *needle) in(s string) bool {
	if n.low == "" {
		return true
	}
	if !n.ascii {
		return strings.Contains(strings.ToLower(s), n.low)
	}
	for from := n.anchor; len(s)-from >= len(n.low)-n.anchor; {
		rest := s[from:]
		i := strings.IndexByte(rest, n.a)
		if n.a != n.b {
			if i >= 0 {
				rest = rest[:i]
			}
			if j := strings.IndexByte(rest, n.b); j >= 0 {
				i = j
			}
		}
		if i < 0 {
			return false
		}
		if n.at(s[from+i-n.anchor:]) {
			return true
		}
		from += i + 1
	}
	return false
}

func (n *needle) at(s string) bool {
	if len(s) < len(n.low) {
		return false
	}
	for k := 0; k < len(n.low); k++ {
		if c := s[k]; c != n.low[k] && (c < 'A' || c > 'Z' || c+'a'-'A' != n.low[k]) {
			return false
		}
	}
	return true
}

func upper(c byte) byte {
	if c >= 'a' && c <= 'z' {
		return c - ('a' - 'A')
	}
	return c
}
