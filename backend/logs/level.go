package logs

import (
	"regexp"
	"strconv"
	"strings"
)

// logLevel is how serious a logger calls a line. levelNone: the line does not say.
type logLevel uint8

const (
	levelNone logLevel = iota
	levelTrace
	levelDebug
	levelInfo
	levelWarn
	levelError
	levelFatal
)

// levelWords are the words of loggers, in small letters. A word that is none of them says nothing.
var levelWords = map[string]logLevel{
	"trace": levelTrace, "silly": levelTrace, "finest": levelTrace, "verbose": levelDebug, "debug": levelDebug, "fine": levelDebug, "http": levelDebug,
	"info": levelInfo, "information": levelInfo, "informational": levelInfo, "notice": levelWarn, "warn": levelWarn, "warning": levelWarn, "audit": levelWarn,
	"error": levelError, "err": levelError, "severe": levelError, "crit": levelFatal, "critical": levelFatal, "fatal": levelFatal, "panic": levelFatal,
	"alert": levelFatal, "emerg": levelFatal, "emergency": levelFatal,
}

// levelOf reads the value of a level field: a word, a number of pino or bunyan (10 trace to 60 fatal), or one of syslog
// (0 emergency to 7 debug).
func levelOf(v []byte) logLevel {
	if len(v) == 0 || len(v) > 20 {
		return levelNone
	}
	n, err := strconv.Atoi(string(v))
	switch {
	case err != nil:
		return levelWords[strings.ToLower(string(v))]
	case n >= 60:
		return levelFatal
	case n >= 50:
		return levelError
	case n >= 40:
		return levelWarn
	case n >= 30:
		return levelInfo
	case n >= 20:
		return levelDebug
	case n >= 10:
		return levelTrace
	case n == 7:
		return levelDebug
	case n == 6:
		return levelInfo
	case n >= 4:
		return levelWarn
	}
	return levelError
}

// A level stands before the message of a plain line: in brackets, before a colon or a bar, or in capitals.
var (
	levelToken = regexp.MustCompile(`[\[(<|]\s?([A-Za-z]{3,13})\s?[\])>|]|\b([A-Za-z]{3,13})(?:\[\d+\])?:|(?:^|\s)([A-Z]{3,13})(?:\s|$)`)
	klogLine   = regexp.MustCompile(`^([IWEF])\d{4} \d\d:\d\d:\d\d`)
)

// levelHead is how much of a plain line may stand before its message.
const levelHead = 160

// levelIn reads the level of a plain line; before is where what was looked for begins: a word after it is no level.
func levelIn(line []byte, before int) logLevel {
	head := line[:min(len(line), before, levelHead)]
	if m := klogLine.FindSubmatch(line[:min(len(line), levelHead)]); m != nil {
		return map[byte]logLevel{'I': levelInfo, 'W': levelWarn, 'E': levelError, 'F': levelFatal}[m[1][0]]
	}
	for _, name := range [...]string{"level", "severity", "lvl"} {
		if l := levelOf(scanField(line, name)); l != levelNone {
			return l
		}
	}
	for _, m := range levelToken.FindAllSubmatch(head, -1) {
		for _, word := range m[1:] {
			if l := levelWords[strings.ToLower(string(word))]; l != levelNone {
				return l
			}
		}
	}
	return levelNone
}
