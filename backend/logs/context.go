package logs

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sandglass/backend"
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
var previewDetails = backend.PreviewFailures()

// maxPortsNamed bounds the exposed ports that are kept of an error.
const maxPortsNamed = 20

// maxContextDepth is how deep in a line the context and what it names are looked for.
const maxContextDepth = 6

// sdkParts are the other members of a context that are kept where a line names an error of the SDK.
var sdkParts = [...]string{"timeout_s", "actual_type", "http_status", "provider_error_code", "path"}

// answerParts are those in which the answer of the platform stands: of them no more is kept than what tells how it went.
var answerParts = [...]string{"body", "code", "error", "message", "provider_error", "provider_message", "response", "response_body"}

// traceFields are where loggers write a traceback; with dict_tracebacks structlog parts it into these last three.
var traceFields = [...]string{"stack", "stack_trace", "stacktrace", "traceback", "exc_info", "exc_text", "exc_type", "exc_value", "name"}

// nests reports whether a member may hold the context of an error: loggers write what belongs to an error there. What an
// agent or a tool wrote stands elsewhere, and proves nothing.
func (d *decoder) nests(name string) bool {
	switch name {
	case "context", "cause", "extra":
		return true
	}
	return d.refs[name].slot == slotError && d.prefixes[name] != ""
}

// contexts adds to the error of the line that was read what its contexts and tracebacks name.
func (d *decoder) contexts(line []byte) {
	d.ports, d.sdk = namesReason(line, previewDetails), namesSDK(line) || namesPackage(line)
	if !d.ports && !d.sdk && !bytes.Contains(line, []byte(markRemount)) && !bytes.Contains(line, []byte(markRemounts)) && !namesReason(line, archiveReasons[:]) {
		return
	}
	d.in.Reset(line)
	d.json.Reset(&d.in, d.opts)
	d.outputs, d.traces = d.outputs[:0], d.traces[:0]
	d.seek(1, false, false)
	for _, o := range append(d.outputs, d.traces...) {
		d.keep(fieldRef{slot: slotError}, o)
	}
}

// sdkHints are in all of those: most lines have none of them.
var sdkHints = [...]string{"Error", "workspace", "exec_t", "_snapshot", "pty_"}

// namesSDK reports whether text names an error of the SDK, or a function of it that matters.
func namesSDK(text []byte) bool {
	if !namesReason(text, sdkHints[:]) {
		return false
	}
	for _, e := range backend.SDKErrorKinds() {
		if bytes.Contains(text, []byte(e.Name)) || bytes.Contains(text, []byte(e.Code)) {
			return true
		}
	}
	for _, f := range snapshotFrames {
		if bytes.Contains(text, []byte(f.name)) {
			return true
		}
	}
	return namesReason(text, ptyFrames[:])
}

// namesPackage reports whether text names a package of the SDK that is missing.
func namesPackage(text []byte) bool {
	return namesReason(text, packageTexts[:]) && missingPackage.Match(text)
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

// seek reads one value and the objects in it. In an error, args are the arguments of the exception: loggers that know no attributes
// have the context as the first of them. within: it belongs to an error; inside: to the context of one.
func (d *decoder) seek(depth int, within, inside bool) bool {
	kind := d.json.PeekKind()
	if kind != '{' && (kind != '[' || !within) || depth > maxContextDepth {
		return d.json.SkipValue() == nil
	}
	if _, err := d.json.ReadToken(); err != nil {
		return false
	}
	for k := d.json.PeekKind(); k != '}' && k != ']'; k = d.json.PeekKind() {
		if kind == '[' {
			if inside && d.sdk && k == '"' { // the first argument as a text
				if !d.traced("args") {
					return false
				}
			} else if !d.seek(depth+1, true, inside) {
				return false
			}
			continue
		}
		t, err := d.json.ReadToken()
		if err != nil || !d.sought(t.String(), depth, within, inside) {
			return false
		}
	}
	_, err := d.json.ReadToken()
	return err == nil
}

// sought reads one member of what seek looks into.
func (d *decoder) sought(name string, depth int, within, inside bool) bool {
	switch {
	case inside && (strings.HasSuffix(name, markRemount) || name == markRemounts || name == "reason" || name == "output" || name == "detail"):
		return d.named(name)
	case inside && d.ports && (name == "port" || name == "exposed_ports"):
		return d.numbers(name)
	case d.sdk && inside && name == "stderr" && d.json.PeekKind() == '"':
		return d.refused()
	case d.sdk && inside && name == "command":
		return d.commanded()
	case d.sdk && inside && slices.Contains(sdkParts[:], name):
		return d.detailed(name)
	case d.sdk && inside && d.json.PeekKind() == '"' && slices.Contains(answerParts[:], name):
		return d.answered()
	case d.sdk && slices.Contains(traceFields[:], name) && d.json.PeekKind() == '"' && (within && (inside || name != "name") || !within && name != "name" && name != "exc_type" && name != "exc_value"):
		return d.traced(name)
	case within && (name == "args" || name == "frames"):
		return d.seek(depth+1, true, true)
	case inside || d.nests(name):
		return d.seek(depth+1, true, inside || name == "context")
	case within && (name == "reason" || name == "timeout_s") && d.sdk: // attributes of the error itself
		return d.detailed(name)
	}
	return d.json.SkipValue() == nil
}

// detailed keeps a member that is a short text or a number.
func (d *decoder) detailed(name string) bool {
	v, err := d.json.ReadValue()
	if err != nil {
		return false
	}
	text := ""
	switch v.Kind() {
	case '"':
		if json.Unmarshal(v, &text, d.opts) != nil {
			return true
		}
	case '0':
		text = string(v)
	default:
		return true
	}
	if quoted, err := jsontext.AppendQuote(nil, name+": "+text[:min(len(text), maxFieldBytes)]); err == nil {
		d.keep(fieldRef{slot: slotError}, quoted)
	}
	return true
}

// answered keeps the words of an answer that tell how it went.
func (d *decoder) answered() bool {
	v, err := d.json.ReadValue()
	if err != nil {
		return false
	}
	if words := sdkAnswer.Find(v); words != nil {
		if quoted, err := jsontext.AppendQuote(nil, words); err == nil {
			d.keep(fieldRef{slot: slotError}, quoted)
		}
	}
	return true
}

// refused keeps of what a check of the SDK wrote to stderr that permission was denied; other words of it are those of a command.
func (d *decoder) refused() bool {
	v, err := d.json.ReadValue()
	if err == nil && deniedWords.Match(v) {
		d.keep(fieldRef{slot: slotError}, jsontext.Value(`"permission denied"`))
	}
	return err == nil
}

// traced keeps the part of a text that names an error of the SDK or a function of it.
func (d *decoder) traced(name string) bool {
	v, err := d.json.ReadValue()
	if err != nil {
		return false
	}
	text := ""
	if json.Unmarshal(v, &text, d.opts) != nil || !namesSDK([]byte(text)) && !namesPackage([]byte(text)) && !namesReason([]byte(text), archiveReasons[:]) {
		return true
	}
	if name == "name" { // a frame
		text = "in " + text
	}
	if quoted, err := jsontext.AppendQuote(nil, text[max(0, len(text)-maxSample):]); err == nil {
		d.traces = append(d.traces, quoted)
	}
	return true
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
