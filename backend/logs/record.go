package logs

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"sandglass/backend"
)

// record is what one line says. Its byte slices live until the next line is decoded.
type record struct {
	message, errText   []byte
	session, workspace []byte
	sandbox            []byte
	command, level     []byte
	lost               []byte // the command that the context of its error names
	logger, metachar   []byte
	outcome            []byte
	plain              bool              // the line is no JSON; its level stands in the text
	output, tool       bool              // it has a field of a command's or a tool's output, of a tool or a command
	runs               runsWord          // what its field running says
	others             map[string][]byte // the fields that patterns name
	at                 time.Time         // the line's own time, zero without one
	suppressed         float64           // -1: the line gives none
	part               part              // what it is of its log
}

type slot uint8

const (
	slotMessage slot = iota
	slotLevel
	slotTime
	slotSession
	slotWorkspace
	slotSandbox
	slotSuppressed
	slotCommand
	slotMetachar
	slotError
	slotLogger
	slotOutput
	slotTool
	slotWrapped // the line inside a line of Docker's json-file driver
	slotOutcome // how an invocation of a Worker ended
	slotStack   // the trace of an error, which begins with what the error says
	slotCount
)

type fieldRef struct {
	slot slot
	rank int // order of preference, 0 first
}

// decoder takes lines apart. It is not safe for concurrent use.
type decoder struct {
	format   string
	refs     map[string]fieldRef
	prefixes map[string]string   // objects to look into, each under its own name
	plain    [slotCount][]string // last parts of the names, for text
	loc      *time.Location      // of times without a zone
	others   map[string][]byte   // the fields that patterns name, of the line that was read last

	runs    runsWord         // what the field running of the line says
	lost    []byte           // the command that its error is about
	ports   bool             // the line is about the address of a port
	sdk     bool             // … or names an error of an agent's SDK
	outputs []jsontext.Value // of the contexts of the line
	traces  []jsontext.Value // of its tracebacks

	json  *jsontext.Decoder
	opts  jsontext.Options
	in    bytes.Reader
	arena []byte
	found [slotCount]struct {
		from, to, rank int
		set            bool
	}
}

// errorParts are the members of an error object that tell what it is; loggers serialise errors under these names.
var errorParts = [...]string{"type", "name", "message", "code"}

func newDecoder(format string, f Fields, loc *time.Location) *decoder {
	d := &decoder{format: format, refs: map[string]fieldRef{}, prefixes: map[string]string{}, loc: loc}
	d.opts = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	d.json = jsontext.NewDecoder(&d.in, d.opts)
	for s, names := range map[slot][]string{slotMessage: f.Message, slotLevel: f.Level, slotTime: f.Time, slotSession: f.Session,
		slotWorkspace: f.Workspace, slotSandbox: f.Sandbox, slotSuppressed: f.Suppressed, slotCommand: f.Command, slotMetachar: f.Metachar, slotError: f.Error, slotLogger: f.Logger, slotOutput: f.Output, slotTool: f.Tool} {
		for rank, name := range names {
			d.plain[s] = append(d.plain[s], name[strings.LastIndexByte(name, '.')+1:])
			d.refer(name, s, rank)
			for i, bag := range attributes {
				if s != slotMessage && s != slotLevel && s != slotTime && s != slotLogger {
					d.refer(bag+"."+name, s, (i+1)*len(names)+rank)
				}
			}
		}
	}
	d.referOnce("log", slotWrapped)
	d.referOnce("stack", slotStack)
	for _, name := range f.Error {
		d.referOnce(name+".stack", slotStack)
	}
	for _, name := range outcomes {
		d.refer(name, slotOutcome, 0)
	}
	return d
}

// outcomes are where a Worker's log has how an invocation ended: of a line of its own, of Logpush, and of Workers Logs.
var outcomes = [...]string{"outcome", "Outcome", "$workers.outcome"}

// referOnce keeps a field under a name that no configured field has.
func (d *decoder) referOnce(name string, s slot) {
	if _, taken := d.refs[name]; !taken {
		d.refs[name] = fieldRef{s, 0}
	}
}

// attributes are the objects in which OpenTelemetry and winston put what a line is about.
var attributes = [...]string{"Attributes", "attributes"}

// refer keeps a field under a name, dots reaching into objects, and the members of an error object.
func (d *decoder) refer(name string, s slot, rank int) {
	set := func(name string, part int) {
		if _, taken := d.refs[name]; !taken {
			d.refs[name] = fieldRef{s, rank*(len(errorParts)+1) + part}
		}
	}
	set(name, 0)
	for i := range len(name) {
		if name[i] == '.' {
			d.prefixes[name[:i]] = name[:i]
		}
	}
	if s != slotError {
		return
	}
	d.prefixes[name] = name
	for i, part := range errorParts {
		set(name+"."+part, i)
	}
}

// follow keeps the field of that name of each line, dots reaching into objects.
func (d *decoder) follow(name string) {
	if d.others == nil {
		d.others = map[string][]byte{}
	}
	d.others[name] = nil
	for i := range len(name) {
		if name[i] == '.' {
			d.prefixes[name[:i]] = name[:i]
		}
	}
}

// decode takes a whole line apart. It never fails: what is no JSON is text.
func (d *decoder) decode(line []byte) record {
	if d.format != "text" {
		if start, ok := d.jsonStart(line); ok {
			if r, ok := d.object(line[start:]); ok {
				if r.at.IsZero() && start > 0 {
					r.at, _, _ = backend.LeadingTime(line[:start], d.loc)
				}
				return r
			}
		}
	}
	return d.rough(line)
}

// jsonStart finds where the object of a line begins: at its start, or after a prefix that a collector put there.
func (d *decoder) jsonStart(line []byte) (int, bool) {
	i := bytes.IndexByte(line, '{')
	if i < 0 || i > 0 && d.format == "auto" && len(bytes.TrimSpace(line[:i])) > 0 && !bytes.HasSuffix(bytes.TrimSpace(line), []byte("}")) {
		return 0, false
	}
	if i > 0 && d.format == "auto" && errorHead.Match(line[:i]) {
		return 0, false // it is what an error of a traceback says
	}
	return i, true
}

func (d *decoder) object(line []byte) (record, bool) {
	d.walk(line)
	if !d.found[slotMessage].set && d.found[slotWrapped].set {
		return d.wrapped()
	}
	if !d.found[slotMessage].set && !d.found[slotError].set && !d.holdsOther() {
		return record{}, false
	}
	return d.collect(), true
}

// holdsOther reports whether the line has a field that a pattern names.
func (d *decoder) holdsOther() bool {
	for _, v := range d.others {
		if len(v) > 0 {
			return true
		}
	}
	return false
}

// wrapped unpacks Docker's json-file form, {"log": line, "stream", "time"}.
func (d *decoder) wrapped() (record, bool) {
	outer := d.collect().at
	inner := bytes.Clone(bytes.TrimRight(d.value(slotWrapped), "\r\n"))
	r, ok := record{}, false
	if start, isJSON := d.jsonStart(inner); isJSON {
		d.walk(inner[start:])
		if ok = d.found[slotMessage].set || d.found[slotError].set; ok {
			r = d.collect()
		}
	}
	if !ok {
		r = d.rough(inner)
	}
	if !outer.IsZero() {
		r.at = outer
	}
	return r, true
}

// walk fills found from one object. A broken object keeps what was read before the break, which serves cut lines.
func (d *decoder) walk(line []byte) {
	d.arena, d.runs, d.lost = d.arena[:0], saysNothing, nil
	for i := range d.found {
		d.found[i].set = false
	}
	for name := range d.others {
		d.others[name] = nil
	}
	d.in.Reset(line)
	d.json.Reset(&d.in, d.opts)
	d.members("")
	if d.found[slotMessage].set || d.found[slotError].set {
		d.contexts(line)
	}
}

func (d *decoder) members(prefix string) bool {
	if _, err := d.json.ReadToken(); err != nil {
		return false
	}
	for d.json.PeekKind() == '"' {
		raw, err := d.json.ReadValue()
		if err != nil {
			return false
		}
		name := raw[1 : len(raw)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			if name, err = jsontext.AppendUnquote(nil, raw); err != nil && len(name) == 0 {
				return false
			}
		}
		if !d.member(prefix, name) {
			return false
		}
	}
	_, err := d.json.ReadToken()
	return err == nil
}

func (d *decoder) member(prefix string, name []byte) bool {
	// The name is looked up first: it lives in the decoder's buffer, which the next read may move.
	ref, wanted := d.refs[string(name)]
	below := d.prefixes[string(name)]
	if prefix != "" {
		path := prefix + "." + string(name)
		ref, wanted = d.refs[path]
		below = d.prefixes[path]
	}
	switch kind := d.json.PeekKind(); kind {
	case 't', 'f':
		if prefix == "" && string(name) == "running" {
			d.runs = runsWord(kind)
		}
	case '{':
		if below != "" {
			return d.members(below)
		}
	case '"', '0':
		path, other := "", false
		if len(d.others) > 0 {
			path = string(name)
			if prefix != "" {
				path = prefix + "." + path
			}
			_, other = d.others[path]
		}
		if !other && (!wanted || ref.slot == slotOutput || ref.slot == slotTool) {
			break
		}
		v, err := d.json.ReadValue()
		if err != nil {
			return false
		}
		if other && v.Kind() == '"' {
			d.others[path], _ = jsontext.AppendUnquote(nil, v)
		}
		if wanted {
			d.keep(ref, v)
		}
		return true
	}
	if wanted && (ref.slot == slotOutput || ref.slot == slotTool) { // that there is one is all that matters
		d.found[ref.slot].set = true
	}
	return d.json.SkipValue() == nil
}

// keep remembers a value. The most preferred name wins, and the first of two equal ones. All parts of an error are
// kept, joined.
func (d *decoder) keep(ref fieldRef, v jsontext.Value) {
	f := &d.found[ref.slot]
	if f.set && ref.rank >= f.rank && ref.slot != slotError {
		return
	}
	from := len(d.arena)
	joined := f.set && ref.slot == slotError
	if joined {
		if f.to != len(d.arena) { // something else was kept in between
			d.arena = append(d.arena, d.arena[f.from:f.to]...)
		} else {
			from = f.from
		}
		d.arena = append(d.arena, ": "...)
	}
	part := len(d.arena)
	if v.Kind() == '"' {
		unquoted, err := jsontext.AppendUnquote(d.arena, v)
		if err != nil && unquoted == nil {
			return
		}
		d.arena = unquoted
	} else {
		d.arena = append(d.arena, v...)
	}
	if joined { // a message often begins with its own code
		before, now := d.arena[from:part-len(": ")], d.arena[part:]
		switch {
		case bytes.HasPrefix(now, before):
			from = part
		case bytes.HasPrefix(before, now):
			d.arena = d.arena[:part-len(": ")]
		}
	}
	f.from, f.to, f.rank, f.set = from, len(d.arena), ref.rank, true
}

func (d *decoder) value(s slot) []byte {
	if f := d.found[s]; f.set {
		return d.arena[f.from:f.to]
	}
	return nil
}

func (d *decoder) collect() record {
	r := record{message: d.value(slotMessage), errText: d.value(slotError), level: d.value(slotLevel),
		session: bounded(d.value(slotSession)), workspace: bounded(d.value(slotWorkspace)), sandbox: bounded(d.value(slotSandbox)), command: d.value(slotCommand), metachar: d.value(slotMetachar), suppressed: -1,
		lost: d.lost, logger: d.value(slotLogger), outcome: d.value(slotOutcome), output: d.found[slotOutput].set, tool: d.found[slotTool].set || d.found[slotCommand].set, others: d.others, runs: d.runs}
	if v := d.value(slotTime); v != nil {
		r.at, _ = backend.LogTime(v, d.loc)
	}
	if v := d.value(slotSuppressed); v != nil {
		r.suppressed = suppressedIn(v)
	}
	r.errText = withStack(r.errText, d.value(slotStack))
	return r
}

// withStack is what an error says, where only its trace has it: the text before the first frame, of a trace that begins with it.
func withStack(said, stack []byte) []byte {
	head := stack
	if i := stackFrame.FindIndex(stack); i != nil {
		head = stack[:i[0]]
	}
	_, text, is := bytes.Cut(head, []byte(": "))
	switch {
	case !is, bytes.HasPrefix(head, []byte("Traceback")), bytes.Contains(said, bytes.TrimSpace(text)), bytes.Contains(said, []byte(": ")):
		return said
	case len(said) > 0 && !bytes.HasPrefix(head, said):
		return bytes.Join([][]byte{said, head}, []byte(": "))
	}
	return head
}

// stackFrame is where the frames of a trace begin in JavaScript.
var stackFrame = regexp.MustCompile(`\n\s+at `)

// bounded drops a name that is too long to be one.
func bounded(b []byte) []byte {
	if len(b) > maxFieldBytes {
		return nil
	}
	return b
}

func suppressedIn(v []byte) float64 {
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(n >= 0 && n <= maxSuppressed) {
		return -1
	}
	return n
}

// rough takes a line apart without decoding it: fields are looked for as name=value, name: value or "name":"value".
func (d *decoder) rough(line []byte) record {
	r := record{message: line, suppressed: -1, plain: true}
	r.session = bounded(d.scan(line, slotSession))
	r.workspace = bounded(d.scan(line, slotWorkspace))
	r.sandbox = bounded(d.scan(line, slotSandbox))
	r.command = d.scan(line, slotCommand)
	r.metachar = d.scan(line, slotMetachar)
	if v := d.scan(line, slotSuppressed); v != nil {
		r.suppressed = suppressedIn(v)
	}
	if t, _, ok := backend.LeadingTime(line, d.loc); ok {
		r.at = t
	} else if v := d.scan(line, slotTime); v != nil {
		r.at, _ = backend.LogTime(v, d.loc)
	}
	return r
}

func (d *decoder) scan(line []byte, s slot) []byte {
	for _, name := range d.plain[s] {
		if v := scanField(line, name); len(v) > 0 {
			return v
		}
	}
	return nil
}

// field is the text of a field that a pattern names.
func (r *record) field(name string) []byte {
	if name == outcomes[0] && len(r.outcome) > 0 {
		return r.outcome
	}
	if r.plain {
		return scanField(r.message, name[strings.LastIndexByte(name, '.')+1:])
	}
	return r.others[name]
}

// levelAt is the level of the line; at is where what was looked for begins, inError: in the error beside the message.
func (r *record) levelAt(at int, inError bool) logLevel {
	switch {
	case len(r.level) > 0:
		return levelOf(r.level)
	case inError:
		return levelNone
	}
	return levelIn(r.message, at)
}
