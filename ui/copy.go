package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// mostCopied bounds what is sent to the clipboard, in bytes: terminals drop longer texts without a word.
const mostCopied = 70_000

// copyOf sends something of what is here to the clipboard: its name, its reading as JSON, or the ids of all that it is about.
func (x *scope) copyOf(what string) reply {
	key := x.here()
	if key == (backend.Key{}) {
		return reply{Say: noRow}
	}
	text, said := "", what
	switch what {
	case "name":
		text = subjects.NameOf(key, x.frame.Snapshot).String()
	case "json":
		text, said = x.readingOf(key), "reading as JSON"
	case "ids":
		var ids []string
		for _, k := range x.chosen().keys {
			ids = append(ids, k.Path().Raw())
		}
		text, said = strings.Join(ids, "\n"), kit.Count(len(ids), "id", "ids")
		if a := x.alert(); a != nil && a.SubjectCount > len(a.Subjects) {
			said += fmt.Sprintf(" (the alert names %d of %s)", len(a.Subjects), kit.Number(a.SubjectCount))
		}
	}
	switch {
	case text == "":
		return reply{Say: "nothing copied: this row has none"}
	case len(text) > mostCopied:
		return reply{Say: fmt.Sprintf("nothing copied: it has %s bytes, and terminals take at most %s", kit.Number(len(text)), kit.Number(mostCopied))}
	}
	return reply{Copy: text, Say: said + " sent to the clipboard"}
}

// readingOf is a subject as `get -o json` prints it; empty: it is not there.
func (x *scope) readingOf(key backend.Key) string {
	for _, l := range subjects.Listings() {
		if l.Of != key.Kind {
			continue
		}
		for rec := range l.Each(x.frame.Snapshot) {
			if rec.Key() != key {
				continue
			}
			raw, err := rec.JSON()
			var out bytes.Buffer
			if err != nil || json.Indent(&out, raw, "", "  ") != nil {
				return ""
			}
			return out.String()
		}
	}
	return ""
}
