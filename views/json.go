package views

import (
	"bytes"
	"encoding/json"
	"regexp"
	"time"
)

// Time is written as RFC 3339 in UTC, the zero Time as null.
type Time struct{ time.Time }

// At is a moment as JSON has it.
func At(t time.Time) Time { return Time{t} }

// MarshalJSON writes the time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().MarshalJSON()
}

// JSON encodes a document. Times are made UTC; what acts on a terminal is escaped by the types that hold foreign text.
func JSON[T any](document T) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(document); err != nil {
		return nil, err
	}
	return zoned.ReplaceAllFunc(bytes.TrimRight(b.Bytes(), "\n"), inUTC), nil
}

// zoned finds times of entities that carry an offset. A quotation mark inside a string is escaped in JSON, so that no
// text can look like a key and its value.
var zoned = regexp.MustCompile(`"(?:at|born|newest|started|[a-z_]+_at)":"\d{4}-\d\d-\d\dT[0-9:.]+[+-]\d\d:\d\d"`)

func inUTC(match []byte) []byte {
	i := bytes.Index(match, []byte(`:"`)) + 2
	t, err := time.Parse(time.RFC3339Nano, string(match[i:len(match)-1]))
	if err != nil {
		return match
	}
	return append(append(bytes.Clone(match[:i]), t.UTC().Format(time.RFC3339Nano)...), '"')
}

// List makes an empty list be written as [] instead of null.
func List[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
