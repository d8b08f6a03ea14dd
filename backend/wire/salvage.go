package wire

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"sandglass/backend"
)

// BadElement is an element of a list that is no valid JSON: a lone surrogate, invalid UTF-8, a name twice. Strings end where
// their quotes do, so that the elements around it can be told from it.
type BadElement struct {
	Index int
	Err   error // of kind invalid, with the place inside the whole body
	raw   []byte
}

// Text is a string inside the element, found by its JSON pointer; empty when it cannot be read.
func (e BadElement) Text(pointer string) string {
	at, ok := find(e.raw, pointer)
	if !ok || e.raw[at] != '"' {
		return ""
	}
	end, ok := looseString(e.raw, at)
	if !ok {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, e.raw[at:end])
	if err != nil {
		return ""
	}
	return string(text)
}

// ParseList is Parse for a body that holds a list at a pointer: an element that is no valid JSON costs that element alone.
// In the document such an element is the number 0. A body that is broken elsewhere is refused as Parse refuses it.
func ParseList(body []byte, pointer string) (Doc, []BadElement, error) {
	doc, err := Parse(body)
	if err == nil {
		return doc, nil, nil
	}
	at, ok := find(body, pointer)
	if !ok || body[at] != '[' {
		return Doc{}, nil, err
	}
	patched := bytes.Clone(body)
	var bad []BadElement
	index := 0
	for at = looseSpace(body, at+1); at < len(body) && body[at] != ']'; index++ {
		end, ok := looseSkip(body, at)
		if !ok || end == at {
			return Doc{}, nil, err
		}
		if _, wrong := Parse(body[at:end]); wrong != nil {
			bad = append(bad, BadElement{index, invalidAt(elementPath(pointer, index), int64(at), "%v", causeOf(wrong)), body[at:end]})
			patched[at] = '0'
			for i := at + 1; i < end; i++ {
				patched[i] = ' '
			}
		}
		if at = looseSpace(body, end); at < len(body) && body[at] == ',' {
			at = looseSpace(body, at+1)
		}
	}
	if doc, wrong := Parse(patched); wrong == nil {
		return doc, bad, nil
	}
	return Doc{}, nil, err
}

// elementPath is the JSON pointer of an element.
func elementPath(list string, index int) string { return list + "/" + strconv.Itoa(index) }

// causeOf is an error without the place that it names inside a part.
func causeOf(err error) error {
	var e *backend.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// find returns where the value behind a pointer starts in a body that may be invalid elsewhere.
func find(b []byte, pointer string) (at int, ok bool) {
	at = looseSpace(b, 0)
	if pointer == "" {
		return at, at < len(b)
	}
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		if at >= len(b) || b[at] != '{' {
			return 0, false
		}
		if at, ok = member(b, at, token); !ok {
			return 0, false
		}
	}
	return at, true
}

// member returns where the value of a name starts in the object at an index.
func member(b []byte, at int, name string) (int, bool) {
	for at = looseSpace(b, at+1); at < len(b) && b[at] == '"'; {
		end, ok := looseString(b, at)
		if !ok {
			return 0, false
		}
		found := string(b[at+1:end-1]) == name
		if at = looseSpace(b, end); at >= len(b) || b[at] != ':' {
			return 0, false
		}
		if at = looseSpace(b, at+1); found || at >= len(b) {
			return at, found && at < len(b)
		}
		if end, ok = looseSkip(b, at); !ok {
			return 0, false
		}
		if at = looseSpace(b, end); at < len(b) && b[at] == ',' {
			at = looseSpace(b, at+1)
		}
	}
	return 0, false
}

func looseSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// looseSkip returns the index behind the value that starts at i, going by quotes and brackets only.
func looseSkip(b []byte, i int) (end int, ok bool) {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i, ok = looseString(b, i); !ok {
				return 0, false
			}
			if i--; depth == 0 {
				return i + 1, true
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i, true
			}
			if depth--; depth == 0 {
				return i + 1, true
			}
		case ',':
			if depth == 0 {
				return i, true
			}
		}
	}
	return 0, false
}

// looseString returns the index behind the string that starts at i.
func looseString(b []byte, i int) (end int, ok bool) {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1, true
		}
	}
	return 0, false
}
