package text

import (
	"bytes"
	"encoding/json"
	"io"

	"sandglass/views"
)

// WriteJSON prints one indented document. Times are made UTC; what could act on a terminal is escaped by the types
// that hold foreign text.
func WriteJSON[T any](w io.Writer, document T) error {
	raw, err := views.JSON(document)
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
	raw, err := views.JSON(document)
	if err != nil {
		return err
	}
	_, err = w.Write(append(raw, '\n'))
	return err
}

// Time is written as RFC 3339 in UTC, the zero Time as null.
type Time = views.Time
