package logs

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The OpenAI Agents SDK says in the context of a SandboxError, by the names of its members, that mounts could not be
// attached again (src/agents/sandbox/errors.py and session/mount_lifecycle.py of github.com/openai/openai-agents-python).
const (
	markRemount  = "error_before_remount_corruption" // after snapshot_ or hydrate_
	markRemounts = "additional_remount_errors"
)

// archiveReasons are what it says of an archive of a workspace that could not be made or unpacked, in the member reason; the
// member output has the words of tar, detail those of the SDK.
var archiveReasons = [...]string{"tar_failed", "tar_extract_failed", "unsafe_or_invalid_tar"}

// previewDetails are what it says in the member detail where the address of a port could not be made.
var previewDetails = [...]string{"preview_creation_failed", "invalid_preview_url", "preview_token_creation_failed", "url_parse_failed"}

// maxPortsNamed bounds the exposed ports that are kept of an error.
const maxPortsNamed = 20

// maxContextDepth is how deep in a line the context and what it names are looked for.
const maxContextDepth = 6

// nests reports whether a member may hold the context of an error: loggers write what belongs to an error there. What an
// agent or a tool wrote stands elsewhere, and proves nothing.
func (d *decoder) nests(name string) bool {
	switch name {
	case "context", "cause", "extra":
		return true
	}
	return d.refs[name].slot == slotError && d.prefixes[name] != ""
}

// contexts adds to the error of the line that was read what its contexts name.
func (d *decoder) contexts(line []byte) {
	if !bytes.Contains(line, []byte(markRemount)) && !bytes.Contains(line, []byte(markRemounts)) && !namesReason(line, archiveReasons[:]) && !namesReason(line, previewDetails[:]) {
		return
	}
	d.ports = namesReason(line, previewDetails[:])
	d.in.Reset(line)
	d.json.Reset(&d.in, d.opts)
	d.outputs = d.outputs[:0]
	d.seek(1, false)
	for _, o := range d.outputs {
		d.keep(fieldRef{slot: slotError}, o)
	}
}

// namesReason reports whether a line names one of these reasons.
func namesReason(line []byte, reasons []string) bool {
	for _, reason := range reasons {
		if bytes.Contains(line, []byte(reason)) {
			return true
		}
	}
	return false
}

// seek reads one value and the objects in it. inside: it belongs to a context.
func (d *decoder) seek(depth int, inside bool) bool {
	kind := d.json.PeekKind()
	if kind != '{' && (kind != '[' || !inside) || depth > maxContextDepth {
		return d.json.SkipValue() == nil
	}
	if _, err := d.json.ReadToken(); err != nil {
		return false
	}
	for k := d.json.PeekKind(); k != '}' && k != ']'; k = d.json.PeekKind() {
		if kind == '[' {
			if !d.seek(depth+1, true) {
				return false
			}
			continue
		}
		t, err := d.json.ReadToken()
		if err != nil {
			return false
		}
		name, ok := t.String(), false
		switch {
		case inside && (strings.HasSuffix(name, markRemount) || name == markRemounts || name == "reason" || name == "output" || name == "detail"):
			ok = d.named(name)
		case inside && d.ports && (name == "port" || name == "exposed_ports"):
			ok = d.numbers(name)
		case inside || d.nests(name):
			ok = d.seek(depth+1, inside || name == "context")
		default:
			ok = d.json.SkipValue() == nil
		}
		if !ok {
			return false
		}
	}
	_, err := d.json.ReadToken()
	return err == nil
}

// numbers keeps a member that has a port or a list of them.
func (d *decoder) numbers(name string) bool {
	v, err := d.json.ReadValue()
	if err != nil {
		return false
	}
	var one uint16
	var all []uint16
	if json.Unmarshal(v, &one, d.opts) == nil && v.Kind() == '0' {
		all = []uint16{one}
	} else if v.Kind() != '[' || json.Unmarshal(v, &all, d.opts) != nil {
		return true // it names no port
	}
	text := []byte(strings.ReplaceAll(name, "_", " "))
	if len(all) == 0 {
		text = append(text, " none"...)
	}
	for _, p := range all[:min(len(all), maxPortsNamed)] {
		text = strconv.AppendUint(append(text, ' '), uint64(p), 10)
	}
	if quoted, err := jsontext.AppendQuote(nil, text); err == nil {
		d.keep(fieldRef{slot: slotError}, quoted)
	}
	return true
}

// named keeps a member of a context as a part of the error: its name, and the first message in it. An empty one says that
// nothing failed.
func (d *decoder) named(name string) bool {
	v, err := d.json.ReadValue()
	if err != nil {
		return false
	}
	type failure struct {
		Message string `json:"message"`
	}
	var all []failure
	text := ""
	switch v.Kind() {
	case '{':
		all = make([]failure, 1)
		err = json.Unmarshal(v, &all[0], d.opts)
	case '[':
		err = json.Unmarshal(v, &all, d.opts)
	case '"':
		err = json.Unmarshal(v, &text, d.opts)
	default: // null, false: nothing failed
		return true
	}
	if err == nil && len(all) == 0 && text == "" {
		return true
	}
	if len(all) > 0 {
		text = all[0].Message
	}
	if text != "" {
		text = ": " + text
	}
	quoted, err := jsontext.AppendQuote(nil, name+text)
	switch {
	case err != nil:
	case name == "output": // what a command wrote follows what the SDK says of it, also where a logger sorts the members
		d.outputs = append(d.outputs, quoted)
	default:
		d.keep(fieldRef{slot: slotError}, quoted)
	}
	return true
}
