package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/text"
)

// mostCopied bounds what is sent to the clipboard, in bytes: terminals drop longer texts without a word.
const mostCopied = 70_000

// copyOf sends something of what is here to the clipboard: its name, its last error, its reading as JSON or YAML, or the ids of
// all that it is about.
func (x *scope) copyOf(what string) reply {
	key := x.here()
	if key == (backend.Key{}) {
		return reply{Say: noRow}
	}
	send, said := "", what
	switch what {
	case "name":
		send = subjects.NameOf(key, x.frame.Snapshot).String()
	case "json":
		send, said = x.readingOf(key), "reading as JSON"
	case "yaml":
		send, said = x.readingAsYAML(key), "reading as YAML"
	case "error":
		send = subjects.LastError(key, x.frame.Snapshot).String()
	case "ids":
		var ids []string
		for _, k := range x.chosen().keys {
			ids = append(ids, k.Path().Raw())
		}
		send, said = strings.Join(ids, "\n"), kit.Count(len(ids), "id", "ids")
		if a := x.alert(); a != nil && a.Left() > 0 {
			said += fmt.Sprintf(" (the alert names %d of %s)", len(a.Subjects), kit.Number(a.SubjectCount))
		}
	}
	switch {
	case send == "":
		return reply{Say: "nothing copied: this has no " + said}
	case len(send) > mostCopied:
		return reply{Say: fmt.Sprintf("nothing copied: it has %s bytes, and terminals take at most %s", kit.Number(len(send)), kit.Number(mostCopied))}
	}
	return reply{Copy: send, Say: said + " sent to the clipboard"}
}

// readingOf is a subject as `get -o json` prints it, indented; empty: it is not there.
func (x *scope) readingOf(key backend.Key) string {
	var out bytes.Buffer
	if raw := x.rawReading(key); raw == nil || json.Indent(&out, raw, "", "  ") != nil {
		return ""
	}
	return out.String()
}

// readingAsYAML is a subject as `get -o yaml` prints it; empty: it is not there.
func (x *scope) readingAsYAML(key backend.Key) string {
	var out strings.Builder
	if raw := x.rawReading(key); raw == nil || text.WriteYAML(&out, json.RawMessage(raw)) != nil {
		return ""
	}
	return out.String()
}

// rawReading is a subject's JSON document; nil: it is not there.
func (x *scope) rawReading(key backend.Key) []byte {
	for _, l := range subjects.Listings() {
		if l.Of != key.Kind {
			continue
		}
		for rec := range l.Each(x.frame.Snapshot) {
			if rec.Key() != key {
				continue
			}
			raw, err := rec.JSON()
			if err != nil {
				return nil
			}
			return raw
		}
	}
	return nil
}
