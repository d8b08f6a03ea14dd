package text

import (
	"bytes"
	"fmt"
	"time"

	"sandglass/backend"
	"sandglass/views"
)

// Document is what `get -o json` prints: a head, and one list per kind under the kind's name.
type Document struct {
	Time        time.Time
	Environment string
	Kinds       []string            // in their order
	Rows        map[string][][]byte // by kind; docs/json.md describes each
}

// MarshalJSON writes the fields in their order.
func (d Document) MarshalJSON() ([]byte, error) {
	at, err := views.At(d.Time).MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"schema":%d,"time":%s,"environment":%s`, Schema, at, backend.QuoteJSON(d.Environment))
	for _, k := range d.Kinds {
		fmt.Fprintf(&b, `,%s:[%s]`, backend.QuoteJSON(k), bytes.Join(d.Rows[k], []byte(",")))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
