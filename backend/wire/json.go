package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sandglass/backend"
)

// Doc is one JSON document that has been read to its end and found valid: one value, valid UTF-8, no name twice in an
// object, nothing after it. Nodes point into its body.
type Doc struct{ body []byte }

// Parse checks a whole body. Its error is of kind invalid and names the place as a JSON pointer and a byte offset.
func Parse(body []byte) (Doc, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if err := dec.SkipValue(); err != nil {
		return Doc{}, syntaxError(body, err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Doc{}, invalidAt("", dec.InputOffset(), "data after the JSON value")
	}
	return Doc{body: body}, nil
}

func syntaxError(body []byte, err error) error {
	var s *jsontext.SyntacticError
	pointer, offset := "", int64(len(body))
	if errors.As(err, &s) {
		pointer, offset, err = string(s.JSONPointer), s.ByteOffset, s.Err
	}
	switch {
	case len(bytes.TrimSpace(body)) == 0:
		return invalidAt("", 0, "the body is empty")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return invalidAt(pointer, offset, "the JSON value is cut off")
	}
	return invalidAt(pointer, offset, "%v", err)
}

func invalidAt(pointer string, offset int64, format string, args ...any) *backend.Error {
	where := "whole body"
	if pointer != "" {
		where = backend.Clean(pointer, 200).String()
	}
	return backend.Errorf(backend.ErrInvalid, fmt.Sprintf("%s (byte %d)", where, offset), format, args...)
}

// Root is the document's value.
func (d Doc) Root() Node {
	start := space(d.body, 0)
	return Node{doc: d.body, from: start, to: len(bytes.TrimRight(d.body, " \t\r\n"))}
}

// Find follows a JSON pointer (RFC 6901) from the root; "" is the root itself.
func (d Doc) Find(pointer string) (Node, bool) { return d.Root().Find(pointer) }

// Node is one value of a checked document. The zero Node is absent.
type Node struct {
	doc      []byte
	from, to int
}

// Raw is the value's text, part of the body.
func (n Node) Raw() []byte { return n.doc[n.from:n.to] }

// Exists reports whether there is such a value; null exists.
func (n Node) Exists() bool { return n.to > n.from }

// Kind is the first byte of the value's kind: 'n', 'f', 't', '"', '0', '{', '['; 0 when absent.
func (n Node) Kind() jsontext.Kind {
	if !n.Exists() {
		return 0
	}
	switch c := n.doc[n.from]; {
	case c == '-' || c >= '0' && c <= '9':
		return '0'
	default:
		return jsontext.Kind(c)
	}
}

// IsNull reports whether the value is null.
func (n Node) IsNull() bool { return n.Kind() == 'n' }

// Text is the value of a string; false for anything else.
func (n Node) Text() (string, bool) {
	b, ok := n.TextBytes()
	return string(b), ok
}

// TextBytes is Text without a copy where the string holds no escape: it then shares memory with the body.
func (n Node) TextBytes() ([]byte, bool) {
	if n.Kind() != '"' {
		return nil, false
	}
	raw := n.doc[n.from+1 : n.to-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw, true
	}
	out, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), n.Raw())
	return out, err == nil
}

// Float is the value of a number; false for anything else, and for numbers beyond a float64.
func (n Node) Float() (float64, bool) {
	if n.Kind() != '0' {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(n.Raw()), 64)
	return f, err == nil
}

// Bool is the value of true or false; the second result is false for anything else.
func (n Node) Bool() (value, ok bool) {
	k := n.Kind()
	return k == 't', k == 't' || k == 'f'
}

// Members walks an object in its order; it is empty for anything else. Names are unquoted and share memory with the
// body where they can: copy what is kept.
func (n Node) Members() iter.Seq2[[]byte, Node] {
	return func(yield func([]byte, Node) bool) {
		if n.Kind() != '{' {
			return
		}
		for at := space(n.doc, n.from+1); n.doc[at] != '}'; {
			end := skip(n.doc, at)
			name := n.doc[at+1 : end-1]
			if bytes.IndexByte(name, '\\') >= 0 {
				name, _ = jsontext.AppendUnquote(nil, n.doc[at:end]) // the document is valid, so this cannot fail
			}
			at = space(n.doc, space(n.doc, end)+1)
			end = skip(n.doc, at)
			if !yield(name, Node{doc: n.doc, from: at, to: end}) {
				return
			}
			if at = space(n.doc, end); n.doc[at] == ',' {
				at = space(n.doc, at+1)
			}
		}
	}
}

// Elements walks an array; it is empty for anything else.
func (n Node) Elements() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != '[' {
			return
		}
		for at := space(n.doc, n.from+1); n.doc[at] != ']'; {
			end := skip(n.doc, at)
			if !yield(Node{doc: n.doc, from: at, to: end}) {
				return
			}
			if at = space(n.doc, end); n.doc[at] == ',' {
				at = space(n.doc, at+1)
			}
		}
	}
}

// Get is the member of that name, absent when there is none.
func (n Node) Get(name string) Node {
	for k, v := range n.Members() {
		if string(k) == name {
			return v
		}
	}
	return Node{}
}

// Find follows a JSON pointer from this value; "" is the value itself.
func (n Node) Find(pointer string) (Node, bool) {
	if pointer == "" {
		return n, n.Exists()
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if strings.Contains(token, "~") {
			token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		}
		if n.Kind() == '[' {
			n = n.element(token)
		} else {
			n = n.Get(token)
		}
		if !n.Exists() {
			return Node{}, false
		}
	}
	return n, true
}

func (n Node) element(token string) Node {
	want, err := strconv.Atoi(token)
	if err != nil {
		return Node{}
	}
	for e := range n.Elements() {
		if want == 0 {
			return e
		}
		want--
	}
	return Node{}
}

// RawWithout is the value's text with one value inside it left out.
func (n Node) RawWithout(inner Node, instead string) string {
	if !inner.Exists() || inner.from < n.from || inner.to > n.to {
		return string(n.Raw())
	}
	return string(n.doc[n.from:inner.from]) + instead + string(n.doc[inner.to:n.to])
}

// Invalid makes an error of kind invalid that names this value as JSON pointer and byte offset.
func (n Node) Invalid(format string, args ...any) error {
	return invalidAt(pointerTo(n.doc, n.from), int64(n.from), format, args...)
}

// Expect refuses names of an object that differ from a known name in case only: "State" beside or instead of "state".
// Readers that ignore case would take it for the known one, others would not see it.
func (n Node) Expect(known ...string) error {
	for name, v := range n.Members() {
		for _, k := range known {
			if len(name) == len(k) && string(name) != k && strings.EqualFold(string(name), k) {
				return v.Invalid("the name %q is %q in the wrong case", name, k)
			}
		}
	}
	return nil
}

// ValidPointer reports whether s is a JSON pointer.
func ValidPointer(s string) bool { return s == "" || s[0] == '/' }
