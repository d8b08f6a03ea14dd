package text

import (
	"bytes"
	"encoding/json"
	"io"
	"regexp"
	"time"
)

// WriteJSON prints one indented document. Times are made UTC; what could act on a terminal is escaped by the types
// that hold foreign text.
func WriteJSON[T any](w io.Writer, document T) error {
	raw, err := compact(document)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	_, err = w.Write(b.Bytes())
	return err
}

// WriteJSONLine prints a document in one line.
func WriteJSONLine[T any](w io.Writer, document T) error {
	raw, err := compact(document)
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

func compact[T any](document T) ([]byte, error) {
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
