package logs

import (
	"bytes"
	"regexp"

	"sandglass/backend"
)

// Class is what a matched line means.
type Class string

// The classes of lines. A rollup stands for the suppressed lines of another class, rejections unless it says
// otherwise; a note is an event and counts nothing; a line of memory says how many bytes the process uses, beside what
// else it says.
const (
	ClassEvictionExhausted Class = "eviction-exhausted"
	ClassRejection         Class = "rejection"
	ClassRollup            Class = "rollup"
	ClassTmpdirCloseFailed Class = "tmpdir-close-failed"
	ClassWorkspaceFailed   Class = "workspace-failed"
	ClassWorkspaceEvicted  Class = "workspace-evicted"
	ClassCloseTimeout      Class = "close-timeout"
	ClassNameCollision     Class = "name-collision"
	ClassAgentOOM          Class = "agent-oom"
	ClassPersistFailed     Class = "persist-failed"
	ClassHydrateFailed     Class = "hydrate-failed"
	ClassRead              Class = "read"
	ClassWrite             Class = "write"
	ClassMemory            Class = "memory"
	ClassNote              Class = "note"
)

func (c Class) valid() bool {
	_, ok := c.metric()
	return ok || c == ClassNote || c == ClassMemory
}

// metric is what a line of the class adds to.
func (c Class) metric() (backend.Metric, bool) {
	switch c {
	case ClassEvictionExhausted:
		return backend.MetricEvictionExhausted, true
	case ClassRejection:
		return backend.MetricRejections, true
	case ClassRollup:
		return backend.MetricRollups, true
	case ClassTmpdirCloseFailed:
		return backend.MetricTmpdirCloseFailed, true
	case ClassWorkspaceFailed:
		return backend.MetricWorkspaceFailed, true
	case ClassWorkspaceEvicted:
		return backend.MetricWorkspaceEvicted, true
	case ClassCloseTimeout:
		return backend.MetricCloseTimeout, true
	case ClassNameCollision:
		return backend.MetricNameCollision, true
	case ClassAgentOOM:
		return backend.MetricAgentOOM, true
	case ClassPersistFailed:
		return backend.MetricPersistFailed, true
	case ClassHydrateFailed:
		return backend.MetricHydrateFailed, true
	case ClassRead:
		return backend.MetricReads, true
	case ClassWrite:
		return backend.MetricWrites, true
	case ClassMemory, ClassNote:
	}
	return "", false
}

// patternTier orders patterns: those of the configuration, then messages of the framework, then error classes, whose names
// also appear inside other messages. Within a tier the earliest match in the text wins, because a message stands
// before its arguments and arguments are written by agents.
type patternTier uint8

const (
	tierConfigured patternTier = iota
	tierMessage
	tierError
	tierMarker // says how a line is to be counted, not what it is
)

// pattern is one thing to look for.
type pattern struct {
	name     string
	contains string
	class    Class
	tier     patternTier
	meaning  string
	also     *regexp.Regexp // must match the same text as well; nil: nothing more is needed
	inError  bool           // look in the error field too, not only in the message
	cause    *regexp.Regexp // first group that is not empty = cause
	limit    int64          // of memory: how many bytes the process may use, 0: not known
	event    bool           // each line is an event of the timeline too
	hits     []string       // whole lines that match
	misses   []string       // whole lines that do not
}

// patterns is the table a source works with.
type patterns struct {
	list    []pattern
	markers []pattern
	memory  []pattern
}

func newPatterns(opts *Options) *patterns {
	var all []pattern
	for _, p := range opts.Pattern {
		made := pattern{name: p.Name, contains: p.Contains, class: Class(p.Class), tier: tierConfigured, meaning: p.Meaning, limit: int64(p.Limit),
			event: p.Severity == "warning" || p.Severity == "critical" || Class(p.Class) == ClassNote}
		if p.Cause != "" {
			made.cause = regexp.MustCompile(p.Cause) // compiled once before, when the options were checked
		}
		all = append(all, made)
	}
	for _, text := range opts.CloseTimeoutTexts {
		all = append(all, closeTimeoutPattern(text))
	}
	t := &patterns{}
	for _, p := range append(all, builtin()...) {
		if p.class == ClassRollup {
			p.tier = tierMarker
			t.markers = append(t.markers, p)
			continue
		}
		if p.class == ClassMemory {
			t.memory = append(t.memory, p)
			continue
		}
		t.list = append(t.list, p)
	}
	return t
}

// find returns the pattern that says what the texts are about, nil when none does. errText is searched only for the
// patterns that may appear there.
func (t *patterns) find(message, errText []byte) *pattern {
	var best *pattern
	bestAt := 0
	for i := range t.list {
		p := &t.list[i]
		if best != nil && best.tier < p.tier {
			continue
		}
		at := p.in(message)
		if at < 0 && p.inError && len(errText) > 0 {
			if at = p.in(errText); at >= 0 {
				at += len(message) // what the message says comes first
			}
		}
		if at >= 0 && (best == nil || p.tier < best.tier || at < bestAt) {
			best, bestAt = p, at
		}
	}
	return best
}

// in is where the text holds what the pattern looks for, negative when it does not.
func (p *pattern) in(text []byte) int {
	at := bytes.Index(text, []byte(p.contains))
	if at >= 0 && p.also != nil && !p.also.Match(text) {
		return -1
	}
	return at
}

// marked reports whether the text is of a rollup line.
func (t *patterns) marked(message []byte) bool {
	for i := range t.markers {
		if bytes.Contains(message, []byte(t.markers[i].contains)) {
			return true
		}
	}
	return false
}

// causeIn takes the cause out of a line's text: what the pattern's expression finds, else the error field.
func (p *pattern) causeIn(message, errText []byte) []byte {
	if p.cause != nil {
		if m := p.cause.FindSubmatch(message); len(m) > 1 {
			for _, group := range m[1:] {
				if group = bare(group); len(group) > 0 {
					return group
				}
			}
		}
	}
	return errText
}

// bare cuts the name=value pairs from the end of a text: loggers write a line's fields there.
func bare(text []byte) []byte {
	text = bytes.TrimSpace(text)
	for {
		i := bytes.LastIndexByte(text, ' ')
		if i < 0 || !isField(text[i+1:]) {
			return text
		}
		text = bytes.TrimSpace(text[:i])
	}
}

// isField reports whether a word is a pair name=value.
func isField(word []byte) bool {
	for i, c := range word {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_', i > 0 && (c == '.' || c >= '0' && c <= '9'):
		default:
			return c == '=' && i > 0
		}
	}
	return false
}
