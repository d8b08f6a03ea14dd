package logs

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// roomHeader is the request header in which the operators' routes of a Durable Object name the session (Helix Agents'
// runbook, developers' health route).
const roomHeader = "x-partykit-room"

const (
	maxTailLogs      = 1000 // console lines and exceptions of one event
	outcomeOOM       = "exceededMemory"
	maxTailEventName = 200
)

// tailEvent is what a Worker or Durable Object did in one invocation: its outcome, what it threw and what it logged.
// The shape is that of `wrangler tail --format json` and of Tail Workers
// (developers.cloudflare.com/workers/runtime-apis/handlers/tail); Logpush writes the same names in capitals
// (…/logs/reference/log-fields/account/workers_trace_events).
type tailEvent struct {
	root       wire.Node
	outcome    string
	exceptions wire.Node
	logs       wire.Node
	at         time.Time
}

// tailEventIn reads an event; false when the text is none.
func tailEventIn(data []byte) (tailEvent, bool) {
	if len(data) == 0 || data[0] != '{' || !bytes.Contains(data, []byte(`utcome"`)) {
		return tailEvent{}, false
	}
	doc, err := wire.Parse(data)
	if err != nil {
		return tailEvent{}, false // cut, or no JSON: the line is searched as it is
	}
	e := tailEvent{root: doc.Root()}
	e.outcome, _ = either(e.root, "outcome").Text()
	e.exceptions, e.logs = either(e.root, "exceptions"), either(e.root, "logs")
	if e.outcome == "" || e.exceptions.Kind() != '[' || e.logs.Kind() != '[' {
		return tailEvent{}, false
	}
	e.at = epochMillis(e.root.Get("eventTimestamp"), e.root.Get("EventTimestampMs"))
	return e, true
}

// either finds a member under its name or under that name with a capital.
func either(n wire.Node, name string) wire.Node {
	if v := n.Get(name); v.Exists() {
		return v
	}
	return n.Get(strings.ToUpper(name[:1]) + name[1:])
}

// epochMillis reads the first of the values that is a plausible time.
func epochMillis(values ...wire.Node) time.Time {
	for _, v := range values {
		if f, ok := v.Float(); ok && f > 1e11 && f < 1e14 {
			return time.UnixMilli(int64(f))
		}
	}
	return time.Time{}
}

// tail takes an event into account: each console line and exception as a line of its own, with its time, and with the
// event's session where it names none; then the outcome. One event is at most one death of the agent, however often
// its exceptions repeat it. It returns false when the text is no event.
func (a *lineAnalyser) tail(data []byte, size int, stamp time.Time, p *placement) bool {
	if a.dec.format == "text" || a.every > 1 && a.forced < int64(len(data)) {
		return false // above the byte budget the event's lines are searched as they are
	}
	e, ok := tailEventIn(data)
	if !ok {
		return false
	}
	if a.every > 1 {
		a.forced -= int64(len(data))
	}
	a.seen.decoded++
	if kind, _ := either(e.root, "event").Get("type").Text(); kind == "overload" {
		a.seen.sampled++ // the tail leaves events out from here on
	}
	lines := e.lines()
	t := tailLines{a: a, at: e.at, stamp: stamp, place: p, session: a.sessionOf(e, lines), dead: e.outcome == outcomeOOM}
	rest := size
	for i := range lines {
		rest -= len(lines[i].data)
		t.line(&lines[i])
	}
	text := []byte(e.summary())
	r := record{message: text, session: t.session, suppressed: -1}
	a.take(t.dated(r, time.Time{}), text, max(rest, 0), false, p)
	return true
}

// tailLines are the lines of one event on their way into the counts.
type tailLines struct {
	a       *lineAnalyser
	at      time.Time // of the event
	stamp   time.Time // given by the transport
	place   *placement
	session []byte
	dead    bool // that the agent ran out of memory is counted with another line of this event
}

func (t *tailLines) dated(r record, own time.Time) record {
	switch {
	case !own.IsZero():
		r.at = own
	case !t.at.IsZero():
		r.at = t.at
	case !t.stamp.IsZero():
		r.at = t.stamp
	}
	return r
}

func (t *tailLines) line(l *tailLine) {
	r := t.a.dec.decode(l.data)
	if len(r.level) == 0 {
		r.level = l.level
	}
	if len(r.session) == 0 {
		r.session = t.session
	}
	if f := t.a.pats.find(&r); f.pattern != nil && !f.said && f.class == ClassAgentOOM {
		if t.dead {
			return
		}
		t.dead = true
	}
	t.a.take(t.dated(r, l.at), l.data, len(l.data), false, t.place)
}

// tailLine is one console line or exception.
type tailLine struct {
	data  []byte
	at    time.Time
	level []byte // of the console call, empty where it is the plain one
}

func (e tailEvent) lines() []tailLine {
	var out []tailLine
	for l := range e.logs.Elements() {
		if len(out) < maxTailLogs {
			level, _ := either(l, "level").Text()
			out = append(out, tailLine{consoleLine(l), epochMillis(l.Get("timestamp"), l.Get("TimestampMs")), []byte(level)})
		}
	}
	for x := range e.exceptions.Elements() {
		if len(out) < maxTailLogs {
			name, _ := either(x, "name").Text()
			text, _ := either(x, "message").Text()
			out = append(out, tailLine{[]byte(name + ": " + text), epochMillis(x.Get("timestamp"), x.Get("TimestampMs")), nil})
		}
	}
	return out
}

// consoleLine writes the arguments of one console call as a logger would have written the line: texts as they are,
// one object as its JSON, texts beside objects as an object whose message is the text.
func consoleLine(l wire.Node) []byte {
	message := either(l, "message")
	var words []string
	var objects [][]byte
	arguments := func(n wire.Node) {
		if text, ok := n.Text(); ok {
			words = append(words, text)
		} else if n.Kind() == '{' {
			objects = append(objects, n.Raw())
		} else {
			words = append(words, string(n.Raw()))
		}
	}
	if message.Kind() != '[' {
		arguments(message)
	}
	for n := range message.Elements() {
		arguments(n)
	}
	text := strings.Join(words, " ")
	switch {
	case len(objects) == 0:
		return []byte(text)
	case len(words) == 0 && len(objects) == 1:
		return objects[0]
	}
	level, _ := either(l, "level").Text()
	line := fmt.Appendf(nil, `{"level":%s,"msg":%s`, backend.QuoteJSON(level), backend.QuoteJSON(text))
	for _, o := range objects {
		if inner := bytes.TrimSpace(o[1 : len(o)-1]); len(inner) > 0 {
			line = append(append(line, ','), inner...)
		}
	}
	return append(line, '}')
}

// sessionOf is the session that an event is about: what a configured field of the event itself names, else the room
// header of its request, else the one that its lines name when they name but one: a Durable Object hosts one session.
func (a *lineAnalyser) sessionOf(e tailEvent, lines []tailLine) []byte {
	for _, path := range a.sessionPaths {
		if v, ok := e.root.Find("/" + strings.ReplaceAll(path, ".", "/")); ok {
			if text, ok := v.TextBytes(); ok && len(text) > 0 {
				return bytes.Clone(bounded(text))
			}
		}
	}
	event := either(e.root, "event")
	for _, headers := range []wire.Node{event.Get("request").Get("headers"), event.Get("Request").Get("Headers")} {
		for name, v := range headers.Members() {
			if text, ok := v.TextBytes(); ok && strings.EqualFold(string(name), roomHeader) && len(text) > 0 {
				return bytes.Clone(bounded(text))
			}
		}
	}
	var only []byte
	for _, l := range lines {
		s := a.dec.decode(l.data).session
		switch {
		case len(s) == 0:
		case only == nil:
			only = bytes.Clone(s)
		case !bytes.Equal(only, s):
			return nil
		}
	}
	return only
}

// summary says in one line how the invocation ended and of what.
func (e tailEvent) summary() string {
	text := "outcome: " + e.outcome
	for _, part := range [...][2]string{{"script", "scriptName"}, {"class", "entrypoint"}, {"object", "durableObjectId"}} {
		if v, ok := either(e.root, part[1]).Text(); ok && v != "" && len(v) <= maxTailEventName {
			text += ", " + part[0] + " " + v
		}
	}
	return text
}

// block gathers the lines of an object that is printed over several lines, as `wrangler tail --format json` does: from
// a line that is only an opening brace to one that is only a closing brace. Whatever turns out to be no event goes on
// line by line.
type block struct {
	log  lineage
	held []heldLine
	data []byte
	size int
}

type heldLine struct {
	from, to, size int
	stamp          time.Time
}

// feed hands a line on, or holds it back for as long as it may be part of an event.
func (b *block) feed(a *lineAnalyser, data []byte, size int, stamp time.Time, p *placement) {
	line := bytes.TrimRight(data, "\r")
	opens, closes := string(line) == "{", string(line) == "}"
	if len(b.held) > 0 {
		inside := closes || len(line) > 0 && (line[0] == ' ' || line[0] == '\t')
		if !inside || len(b.data)+len(line) > maxLine {
			b.release(a, p)
		}
	}
	if len(b.held) == 0 && !opens {
		a.line(data, size, stamp, p, &b.log)
		return
	}
	from := len(b.data)
	b.data = append(append(b.data, line...), '\n')
	b.held = append(b.held, heldLine{from, from + len(line), size, stamp})
	b.size += size
	if closes {
		if a.tail(b.data, b.size, stamp, p) {
			b.reset()
		} else {
			b.release(a, p)
		}
	}
}

// release hands the lines held back on as what they are.
func (b *block) release(a *lineAnalyser, p *placement) {
	held, data := b.held, b.data
	b.held, b.data, b.size = nil, nil, 0
	for _, h := range held {
		a.line(data[h.from:h.to], h.size, h.stamp, p, &b.log)
	}
}

func (b *block) reset() { b.held, b.data, b.size = b.held[:0], b.data[:0], 0 }
