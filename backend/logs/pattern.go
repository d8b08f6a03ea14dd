package logs

import (
	"bytes"
	"regexp"
	"strings"

	"sandglass/backend"
)

// Class is what a matched line means.
type Class string

// The classes of lines. A rollup stands for the suppressed lines of another class, rejections unless it says
// otherwise; a note is an event and counts nothing; a line of a hub and one of a command that did
// not start are reports about a sandbox or a session; a line of memory says how many bytes the process uses, beside what
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
	ClassPersistDone       Class = "persist-done"
	ClassExecDone          Class = "exec-done"
	ClassPreviewFailed     Class = "preview-failed"
	ClassPTYCount          Class = "pty-count"
	ClassPTYUnknown        Class = "pty-unknown"
	ClassPTYFailed         Class = "pty-failed"
	ClassSDKExec           Class = "sdk-exec"
	ClassSDKFiles          Class = "sdk-files"
	ClassSDKMissing        Class = "sdk-missing"
	ClassSDKDelete         Class = "sdk-delete"
	ClassSDKNotice         Class = "sdk-notice"
	ClassPackageMissing    Class = "package-missing"
	ClassRead              Class = "read"
	ClassWrite             Class = "write"
	ClassMemory            Class = "memory"
	ClassLimitKill         Class = "limit-kill"
	ClassHub               Class = "hub"
	ClassNotStarted        Class = "not-started"
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
	case ClassPreviewFailed:
		return backend.MetricPreviewFailed, true
	case ClassPersistDone:
		return backend.MetricPersistDone, true
	case ClassExecDone:
		return backend.MetricExecDone, true
	case ClassPTYCount:
		return backend.MetricPTYCount, true
	case ClassPTYUnknown:
		return backend.MetricPTYUnknown, true
	case ClassPTYFailed:
		return backend.MetricPTYFailed, true
	case ClassSDKExec:
		return backend.MetricSDKExec, true
	case ClassSDKFiles:
		return backend.MetricSDKFiles, true
	case ClassSDKMissing:
		return backend.MetricSDKMissing, true
	case ClassSDKDelete:
		return backend.MetricSDKDelete, true
	case ClassSDKNotice:
		return backend.MetricSDKNotice, true
	case ClassPackageMissing:
		return backend.MetricPackageMissing, true
	case ClassRead:
		return backend.MetricReads, true
	case ClassWrite:
		return backend.MetricWrites, true
	case ClassLimitKill:
		return backend.MetricLimitKills, true
	case ClassMemory, ClassNote, ClassHub, ClassNotStarted:
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
	tierFrame    // a function in a traceback: what the error says of itself comes first
	tierEvidence // an error class that is no trouble of its own: what else a line says comes first
	tierMarker   // says how a line is to be counted, not what it is
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
	change   string         // the event is a change of this name, which explains what follows; one stands for those of a while
	level    logLevel       // the lowest level at which a line counts; a line that has none counts
	logger   string         // the logger that must have written the line, or one below it; empty: any
	field    string         // the field that is searched in place of the message
	speaker  string         // whose words count: speakerServer, speakerAgent, or both
	quoted   bool           // it stands in quotes by its nature
	frame    bool           // it is a function in a traceback, which may name no error
	begins   bool           // a runtime writes it at the beginning of its line: after a sentence somebody else reports it
	hits     []string       // whole lines that match
	misses   []string       // whole lines that do not
}

// Whose process speaks. Without either an agent's words count, as such.
const (
	speakerServer = "server"
	speakerAgent  = "agent"
)

// patterns is the table a source works with.
type patterns struct {
	list    []pattern
	markers []pattern
	memory  []pattern
	own     map[string]bool // the fields that the logger itself writes: of the message and the error
	loggers []string        // the fields that name the logger
}

func newPatterns(opts *Options) *patterns {
	var all []pattern
	for _, p := range opts.Pattern {
		made := pattern{name: p.Name, contains: p.Contains, class: Class(p.Class), tier: tierConfigured, meaning: p.Meaning, limit: int64(p.Limit),
			event: p.Severity == "warning" || p.Severity == "critical" || Class(p.Class) == ClassNote,
			level: levelWords[p.Level], logger: p.Logger, field: p.Field, speaker: p.Speaker}
		if p.Cause != "" {
			made.cause = regexp.MustCompile(p.Cause) // compiled once before, when the options were checked
		}
		all = append(all, made)
	}
	for _, text := range opts.CloseTimeoutTexts {
		all = append(all, closeTimeoutPattern(text))
	}
	t := &patterns{own: map[string]bool{}, loggers: opts.Fields.Logger}
	for _, names := range [][]string{opts.Fields.Message, opts.Fields.Error, errorParts[:], {"log"}} {
		for _, name := range names {
			t.own[name[strings.LastIndexByte(name, '.')+1:]] = true
		}
	}
	for _, p := range append(all, builtin()...) {
		if p.level == levelNone {
			p.level = p.class.level()
		}
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

// level is the lowest level of the lines that count for a class. What is read, written, used or noted is no trouble, and
// loggers tell it as information.
func (c Class) level() logLevel {
	switch c {
	case ClassRead, ClassWrite, ClassMemory, ClassNote, ClassPersistDone, ClassExecDone, ClassSDKNotice:
		return levelTrace
	case ClassEvictionExhausted, ClassRejection, ClassRollup, ClassTmpdirCloseFailed, ClassWorkspaceFailed, ClassWorkspaceEvicted,
		ClassCloseTimeout, ClassNameCollision, ClassAgentOOM, ClassPersistFailed, ClassHydrateFailed, ClassPreviewFailed, ClassPTYCount, ClassPTYUnknown, ClassPTYFailed, ClassSDKExec, ClassSDKFiles, ClassSDKMissing, ClassSDKDelete, ClassPackageMissing, ClassLimitKill, ClassHub, ClassNotStarted:
	}
	return levelWarn
}

// accuses reports whether one line of a class is enough for an alert, so that it is kept also where an agent says it.
func (c Class) accuses() bool {
	switch c {
	case ClassAgentOOM, ClassPersistFailed, ClassHydrateFailed, ClassPreviewFailed, ClassPTYFailed, ClassPackageMissing, ClassTmpdirCloseFailed:
		return true
	case ClassEvictionExhausted, ClassRejection, ClassRollup, ClassWorkspaceFailed, ClassWorkspaceEvicted, ClassCloseTimeout, ClassNameCollision,
		ClassPersistDone, ClassExecDone, ClassPTYCount, ClassPTYUnknown, ClassSDKExec, ClassSDKFiles, ClassSDKMissing, ClassSDKDelete, ClassSDKNotice, ClassLimitKill, ClassRead, ClassWrite, ClassMemory, ClassNote, ClassHub, ClassNotStarted:
	}
	return false
}

// found is a pattern that a line matches. said: an agent wrote the words.
type found struct {
	*pattern
	said bool
}

// find returns the pattern that says what a line is about; its pattern is nil when none does. The error is searched only
// for the patterns that may appear there.
func (t *patterns) find(r *record) found {
	var best found
	bestAt := 0
	for i := range t.list {
		p := &t.list[i]
		if best.pattern != nil && best.tier < p.tier {
			continue
		}
		at, said := t.match(p, r)
		if at >= 0 && (best.pattern == nil || p.tier < best.tier || at < bestAt) {
			best, bestAt = found{p, said}, at
		}
	}
	return best
}

// evidence reports whether a line would count for some alert.
func (t *patterns) evidence(r *record) bool {
	f := t.find(r)
	if f.pattern == nil || f.said {
		return false
	}
	switch f.class {
	case ClassRead, ClassWrite, ClassMemory, ClassNote, ClassHub, ClassNotStarted, ClassPersistDone, ClassExecDone, ClassSDKExec, ClassSDKFiles, ClassSDKMissing, ClassSDKDelete, ClassSDKNotice:
		return false
	case ClassEvictionExhausted, ClassRejection, ClassRollup, ClassWorkspaceFailed, ClassWorkspaceEvicted, ClassCloseTimeout, ClassNameCollision,
		ClassLimitKill, ClassAgentOOM, ClassPersistFailed, ClassHydrateFailed, ClassPreviewFailed, ClassPTYCount, ClassPTYUnknown, ClassPTYFailed, ClassPackageMissing, ClassTmpdirCloseFailed:
	}
	return true
}

// match is where a line holds what the pattern looks for, negative when it does not or is no evidence of it.
func (t *patterns) match(p *pattern, r *record) (at int, said bool) {
	text, shift := r.message, 0
	if p.field != "" {
		text = r.field(p.field)
	}
	if at = p.in(text); at < 0 && p.field == "" && p.inError && len(r.errText) > 0 {
		text, shift = r.errText, len(r.message) // what the message says comes first
		at = p.in(text)
	}
	if at < 0 {
		return at, false
	}
	l := r.levelAt(at, shift > 0)
	if r.part.continues {
		l, said = t.disowned(p, r.part)
	}
	if l != levelNone && l < p.level || !t.writtenBy(p, r) {
		return -1, false
	}
	said = said || t.saidByAgent(p, text, p.begin(text, at)) || r.output || r.tool && p.tier == tierError && !p.inError
	if said && p.speaker == speakerServer || !said && p.speaker == speakerAgent {
		return -1, false
	}
	return at + shift, said
}

// writtenBy reports whether the pattern takes the lines of a logger.
func (t *patterns) writtenBy(p *pattern, r *record) bool {
	if p.logger == "" {
		return true
	}
	logger := r.logger
	for i := 0; r.plain && len(logger) == 0 && i < len(t.loggers); i++ {
		logger = scanField(r.message, t.loggers[i])
	}
	rest, is := bytes.CutPrefix(logger, []byte(p.logger))
	return is && (len(rest) == 0 || bytes.IndexByte([]byte(".:/"), rest[0]) >= 0)
}

// in is where the text holds what the pattern looks for, negative when it does not.
func (p *pattern) in(text []byte) int {
	at := bytes.Index(text, []byte(p.contains))
	if at >= 0 && p.also != nil && !p.also.Match(text) {
		return -1
	}
	return at
}

// holds reports whether the text has the mark of a rollup line, wherever it stands.
func (t *patterns) holds(text []byte) bool {
	for i := range t.markers {
		if bytes.Contains(text, []byte(t.markers[i].contains)) {
			return true
		}
	}
	return false
}

// marked reports whether a line is a rollup.
func (t *patterns) marked(r *record) bool {
	for i := range t.markers {
		if at, said := t.match(&t.markers[i], r); at >= 0 && !said {
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
