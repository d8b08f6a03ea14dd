package filter

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"sandglass/backend"
)

// Error says where a filter cannot be understood and why.
type Error struct {
	Position int // of the character, from 1
	What     string
}

// Error gives position and reason.
func (e *Error) Error() string { return fmt.Sprintf("filter, character %d: %s", e.Position, e.What) }

// operator is how a term compares; the zero operator searches the row's text.
type operator string

const (
	opText     operator = ""
	opContains operator = ":"
	opEqual    operator = "="
	opNot      operator = "!="
	opOver     operator = ">"
	opAtLeast  operator = ">="
	opUnder    operator = "<"
	opAtMost   operator = "<="
	opPattern  operator = "~"
)

// operators in the order in which they are tried: the longer ones first.
var operators = [...]operator{opContains, opEqual, opNot, opPattern, opOver, opAtLeast, opUnder, opAtMost}

// Signs that may be meant as an operator. A run of them directly after a name is one, and only a known one is accepted.
const signs = "!=<>:~^*|&≥≤≠≈"

// compares are signs of which one makes an operator of a run that begins with ~.
const compares = "=<>≥≤≠≈"

// maxPattern bounds the text after ~ in bytes.
const maxPattern = 200

// term is one condition of a filter.
type term struct {
	negate bool
	field  string
	op     operator
	needle needle
	want   quantity // of opOver and its like
	// compares is set for opOver and its like.
	compares func(have, want float64) bool
	pattern  *regexp.Regexp // of opPattern
}

// Filter is a parsed filter. It is immutable; the zero Filter matches every row.
type Filter struct {
	terms []term
	text  string
}

// String returns the text that was parsed.
func (f Filter) String() string { return f.text }

// IsZero reports whether every row matches.
func (f Filter) IsZero() bool { return len(f.terms) == 0 }

// Parse reads a filter. When fields are given, another field name is an error that lists them; without, any name is
// accepted and rows that lack the field do not match. Errors are of type *Error; the Filter then holds the terms before
// the one that is wrong.
func Parse(s string, fields ...string) (Filter, error) {
	f := Filter{text: s}
	for i := 0; i < len(s); {
		if strings.IndexByte(blanks, s[i]) >= 0 {
			i++
			continue
		}
		t, next, err := parseTerm(s, i, fields)
		if err != nil {
			return f, err
		}
		f.terms = append(f.terms, t)
		i = next
	}
	return f, nil
}

// blanks part terms: a filter that is copied from a screen can have a line end in it.
const blanks = " \t\r\n"

func parseTerm(s string, start int, fields []string) (term, int, error) {
	var t term
	i := start
	if s[i] == '!' {
		t.negate = true
		i++
	}
	if name, run := fieldAndSigns(s[i:]); run != "" {
		if !slices.Contains(operators[:], operator(run)) {
			return t, 0, fail(s, i+len(name), "there is no operator %q. Write one of %s directly after a field; to search for the text itself, quote it", run, operatorNames())
		}
		t.field, t.op = strings.ToLower(name), operator(run)
		if len(fields) > 0 && !slices.Contains(fields, t.field) {
			return t, 0, fail(s, i, "there is no field %q%s The fields are %s; to search for the text itself, quote it",
				name, meant(t.field, fields), strings.Join(fields, ", "))
		}
		i += len(name) + len(run)
	} else if run := leadingSigns(s[i:]); run != "" {
		return t, 0, fail(s, i, "the operator %q needs a field directly before it; to search for the text itself, quote it", run)
	}
	value, next, err := parseValue(s, i)
	if err != nil {
		return t, 0, err
	}
	switch t.op {
	case opText:
		if value == "" {
			return t, 0, fail(s, start, "a word is missing after %q", s[start:next])
		}
	case opOver, opAtLeast, opUnder, opAtMost:
		t.compares = t.op.comparison()
		var ok bool
		if t.want, ok = parseQuantity(value); !ok {
			return t, 0, fail(s, i, "%s%s needs an age, a size or a number, for example 10m, 64MB or 0.5", t.field, t.op)
		}
	case opPattern:
		var err error
		if t.pattern, err = pattern(value); err != nil {
			return t, 0, fail(s, i, "%s", err)
		}
	case opContains, opEqual, opNot:
	}
	// Rows hold drawn text, in which whatever acts on a terminal has a stand-in; the value may be a raw id as JSON
	// printed it.
	t.needle = newNeedle(backend.Clean(value, backend.MaxTextRunes).String())
	return t, next, nil
}

// meant asks whether the nearest of the fields was meant.
func meant(name string, fields []string) string {
	if near := backend.Nearest(name, fields); near != "" {
		return ": did you mean " + near + "?"
	}
	return " here."
}

// fieldAndSigns splits a term that begins with a name and signs; both are empty for any other.
func fieldAndSigns(s string) (name, run string) {
	n := 0
	for n < len(s) && (isLetter(s[n]) || n > 0 && (s[n] >= '0' && s[n] <= '9' || s[n] == '_' || s[n] == '-')) {
		n++
	}
	if run = signsOf(s[n:]); n == 0 || run == "" {
		return "", ""
	}
	if rest := strings.TrimPrefix(run, string(opPattern)); rest != run && !strings.ContainsAny(rest, string(opPattern)+"!:"+compares) {
		run = string(opPattern) // a pattern may begin with other signs
	}
	return s[:n], run
}

// leadingSigns is the operator with which a term begins. ":8080" and "~/src" are words.
func leadingSigns(s string) string {
	run := signsOf(s)
	if rest := s[len(run):]; rest != "" && (run == ":" && rest[0] >= '0' && rest[0] <= '9' || run == "~" && rest[0] == '/') {
		return ""
	}
	return run
}

func signsOf(s string) string {
	for i, r := range s {
		if !strings.ContainsRune(signs, r) {
			return s[:i]
		}
	}
	return s
}

func operatorNames() string {
	var names []string
	for _, op := range operators {
		names = append(names, string(op))
	}
	return strings.Join(names, " ")
}

// pattern compiles the text after ~: a regular expression of RE2, upper and lower case alike.
func pattern(value string) (*regexp.Regexp, error) {
	if value == "" {
		return nil, errors.New("a pattern is missing after ~")
	}
	if len(value) > maxPattern {
		return nil, fmt.Errorf("a pattern has at most %d bytes", maxPattern)
	}
	p, err := regexp.Compile("(?i:" + value + ")")
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return nil, fmt.Errorf("the pattern is wrong: %s; a sign that is meant as it is needs \\ before it", e.Code)
		}
		return nil, err
	}
	return p, nil
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// parseValue reads a quoted or a bare value; it returns the value and where the next term begins.
func parseValue(s string, i int) (string, int, error) {
	if i >= len(s) || s[i] != '"' && s[i] != '\'' {
		end := i + strings.IndexAny(s[i:]+" ", blanks)
		return s[i:end], end, nil
	}
	quote := s[i]
	end := i + 1
	for end < len(s) && s[end] != quote {
		if quote == '"' && s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s) {
		return "", 0, fail(s, i, "the quotation mark is not closed")
	}
	if end+1 < len(s) && strings.IndexByte(blanks, s[end+1]) < 0 {
		return "", 0, fail(s, end+1, "put a space after the closing quotation mark")
	}
	if quote == '\'' {
		return s[i+1 : end], end + 1, nil
	}
	var v string
	if err := json.Unmarshal([]byte(s[i:end+1]), &v); err != nil {
		return "", 0, fail(s, i, `inside "" the escapes of JSON apply; write '' around text that holds a backslash`)
	}
	return v, end + 1, nil
}

func fail(s string, at int, format string, args ...any) error {
	return &Error{Position: utf8.RuneCountInString(s[:min(at, len(s))]) + 1, What: fmt.Sprintf(format, args...)}
}
