package logs

import (
	"bytes"
	"time"

	"sandglass/backend"
)

// lineage follows how the lines of one log begin, to tell the lines that its server's logger wrote from text that was written
// out with newlines in it: tools and agents write that.
type lineage struct {
	usual lineShape
	plain int    // lines since one of that shape
	head  []byte // the newest of that shape, no more than its beginning
	tags  map[string]*lineage

	counted []countedClass // of the newest of that shape and what continues it
	session []byte         // that the newest line names which begins as they do
	trace   traceState     // where lines have no usual beginning
	answer  []byte         // of a platform, that the chain of errors told before
	late    []byte         // the error of the chain that says that a wait ended
}

// lineShape is what begins a line; a greater one needs more.
type lineShape uint8

const (
	shapeNone       lineShape = iota
	shapeStructured           // a time, klog's or logfmt's first field, or a JSON object
	shapeCarried              // one of these after a time that a collector wrote
)

// part is what a line is of its log: a line of its own, or the continuation of another.
type part struct {
	continues bool   // it lacks what begins the lines of this log
	head      []byte // the line that it continues; nil: those of the log are whole by themselves

	session []byte // that the line names which it continues

	counted *[]countedClass // what was counted of it and of the line that it continues; nil: it stands alone
	answer  []byte          // of a platform, that the chain of errors which it belongs to told
	late    []byte          // the error of that chain which says that a wait ended
}

// of says which part a line is. r is the same line, taken apart.
func (l *lineage) of(data []byte, r *record) part {
	if l == nil {
		return part{}
	}
	text := bytes.TrimRight(r.message, "\r\n")
	if !r.plain {
		shape := shapeStructured
		if _, _, dated := backend.LeadingTime(data, time.UTC); dated {
			shape = shapeCarried
		}
		l.saw(shape, nil)
		l.names(r)
		return part{}
	}
	if tag, rest, is := syslogTag(text); is {
		l.saw(shapeStructured, text)
		if l.tags == nil || len(l.tags) > maxTags {
			l.tags = map[string]*lineage{}
		}
		own := l.tags[string(tag)]
		if own == nil {
			own = &lineage{}
			l.tags[string(tag)] = own
		}
		inner := *r
		inner.message = rest
		return own.of(rest, &inner)
	}
	text = uncarried(text)
	shape := shapeOf(text)
	if shape >= l.usual && shape > shapeNone {
		l.saw(shape, text)
		l.names(r)
		return part{counted: &l.counted}
	}
	if l.plain++; l.usual == shapeNone || l.plain > maxContinued {
		l.usual = shapeNone
		return l.traced(text, r)
	}
	l.answered(text)
	return part{continues: true, head: l.head, session: l.session, counted: &l.counted, answer: l.answer, late: l.late}
}

// saw notes a line that begins as the log's lines do; no text: it is whole by itself.
func (l *lineage) saw(shape lineShape, text []byte) {
	l.usual, l.plain, l.counted, l.answer, l.late = max(l.usual, shape), 0, l.counted[:0], l.answer[:0], l.late[:0]
	if text == nil {
		l.head = nil
		return
	}
	l.head = append(l.head[:0], text[:min(len(text), maxSample)]...)
}

// shapeOf is how a plain line begins.
func shapeOf(text []byte) lineShape {
	if _, rest, ok := backend.LeadingTime(text, time.UTC); ok {
		if shapeOf(rest) != shapeNone {
			return shapeCarried
		}
		return shapeStructured
	}
	if bytes.HasPrefix(text, []byte(`{"`)) || klogLine.Match(text[:min(len(text), levelHead)]) {
		return shapeStructured
	}
	if word, _, _ := bytes.Cut(text[:min(len(text), levelHead)], []byte(" ")); isField(word) {
		return shapeStructured
	}
	return shapeNone
}

// uncarried takes away what container runtimes write before a line: "time stdout F " and "name | ".
func uncarried(text []byte) []byte {
	if _, rest, ok := backend.LeadingTime(text, time.UTC); ok {
		for _, mark := range [...]string{"stdout F ", "stderr F ", "stdout P ", "stderr P "} {
			if inner, is := bytes.CutPrefix(rest, []byte(mark)); is {
				return inner
			}
		}
		return text
	}
	if i := bytes.Index(text[:min(len(text), levelHead)], []byte(" | ")); i >= 0 && bytes.IndexByte(bytes.TrimRight(text[:i], " "), ' ') < 0 {
		return text[i+3:]
	}
	return text
}

// syslogTag reads "Jan  2 15:04:05 host tag[pid]: ", as journalctl prints it.
func syslogTag(text []byte) (tag, rest []byte, ok bool) {
	const stamp = "Jan  2 15:04:05 "
	if len(text) < len(stamp) || text[3] != ' ' || text[6] != ' ' || text[9] != ':' || text[12] != ':' || text[15] != ' ' {
		return nil, nil, false
	}
	host := bytes.IndexByte(text[len(stamp):], ' ')
	if host < 0 {
		return nil, nil, false
	}
	tag, rest, ok = bytes.Cut(text[len(stamp)+host+1:], []byte(": "))
	return tag, rest, ok && len(tag) <= levelHead && bytes.IndexByte(tag, ' ') < 0
}

// disowned reports whether a pattern that a continued line holds is not the server's word: its logger writes whole lines.
// level is what the line counts at: that of the line which it continues.
func (t *patterns) disowned(p *pattern, of part) (level logLevel, said bool) {
	if p.tier == tierMessage {
		return levelNone, true
	}
	if of.head == nil {
		return levelNone, false
	}
	level = levelIn(of.head, len(of.head))
	if p.class != ClassAgentOOM {
		return level, p.reported(of.head)
	}
	said = p.reported(of.head) || level <= levelInfo && announced.Match(bytes.TrimRight(of.head, "\r\n"))
	return levelNone, said // a runtime writes its last words without its logger
}
