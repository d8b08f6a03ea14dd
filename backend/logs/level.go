package logs

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"sandglass/backend"
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

// levelNames are the words of loggers for each level, in small letters: those of pino, winston, bunyan, consola, NestJS, tslog,
// log4j, java.util.logging, Python, Go's zap, zerolog and logrus, Serilog, .NET, Rust, Monolog, MySQL and syslog. A word
// that is none of them says nothing.
var levelNames = map[logLevel]string{
	levelTrace: "trace trce trc trac silly finest finer spam",
	levelDebug: "verbose verb vrb debug dbug dbg debu fine config http",
	levelInfo:  "info inf information informational notice ntc note log logging success start ready",
	levelWarn:  "warn wrn warning audit",
	levelError: "error err erro eror severe fail failure",
	levelFatal: "crit critical fatal ftl fata panic pani pnc dpanic alert emerg emergency",
}

// levelWords are the levels by their words.
var levelWords = byWord(levelNames)

func byWord(names map[logLevel]string) map[string]logLevel {
	out := map[string]logLevel{}
	for l, words := range names {
		for _, w := range strings.Fields(words) {
			out[w] = l
		}
	}
	return out
}

// prose are the words of levels that sentences use as well: in small letters they count only in brackets.
var prose = map[string]bool{"log": true, "logging": true, "http": true, "fine": true, "config": true, "start": true, "ready": true, "note": true,
	"success": true, "fail": true, "failure": true, "spam": true, "alert": true, "audit": true, "notice": true}

// levelLetters are the levels of the short forms: [I], I/Tag, klog's and Android's first letter.
var levelLetters = map[byte]logLevel{'T': levelTrace, 'V': levelDebug, 'D': levelDebug, 'I': levelInfo, 'N': levelInfo, 'W': levelWarn, 'E': levelError,
	'C': levelFatal, 'F': levelFatal}

// levelSigns are the signs that consola and signale draw in place of a word.
var levelSigns = map[rune]logLevel{'ℹ': levelInfo, '✔': levelInfo, '✓': levelInfo, '✅': levelInfo, '◐': levelInfo, '▶': levelInfo, '⚙': levelDebug,
	'🐛': levelDebug, '→': levelTrace, '⚠': levelWarn, '✖': levelError, '✗': levelError, '❌': levelError}

// levelOf reads the value of a level field: a word, a letter, a number of pino or bunyan (10 trace to 60 fatal), or one of
// syslog (0 emergency to 7 debug).
func levelOf(v []byte) logLevel {
	if v = bytes.TrimSpace(v); len(v) == 0 || len(v) > 20 {
		return levelNone
	}
	if len(v) == 1 {
		if l := levelLetters[bytes.ToUpper(v)[0]]; l != levelNone {
			return l
		}
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
	}
	return syslogLevel(n)
}

// syslogLevel is the level of a severity of syslog.
func syslogLevel(n int) logLevel {
	return [...]logLevel{levelFatal, levelFatal, levelFatal, levelError, levelWarn, levelInfo, levelInfo, levelDebug}[max(min(n, 7), 0)]
}

// A level stands before the message of a plain line: in brackets, before a colon, a bar or logrus's seconds, or in capitals.
var (
	levelToken  = regexp.MustCompile(`[\[(<|]\s?(?:[a-z_]+:)?([A-Za-z]{3,13})\s?[\])>|]|\b([A-Za-z]{3,13})(?:\[\d+\])?:|(?:^|\s)([A-Z]{3,13})\b|\b([A-Z]{4})\[\d+\]`)
	levelLetter = regexp.MustCompile(`(?:^|\s)(?:[\[(<|]([TVDINWECF])(?:[\])>|]|[, ]+\d)|([TVDINWEF])/[A-Za-z]|\d+ ([VDIWEF]) [\w.]+\s*:)`)
	klogLine    = regexp.MustCompile(`^([IWEF])\d{4} \d\d:\d\d:\d\d`)
	syslogFirst = regexp.MustCompile(`^<(\d{1,3})>`)
	firstWord   = regexp.MustCompile(`^([A-Za-z]{3,13})(:?)(?:\s|$)`)
)

// levelHead is how much of a plain line may stand before its message.
const levelHead = 160

// levelIn reads the level of a plain line; before is where what was looked for begins: a word after it is no level.
func levelIn(line []byte, before int) logLevel {
	head := line[:min(len(line), before, levelHead)]
	if m := klogLine.FindSubmatch(line[:min(len(line), levelHead)]); m != nil {
		return levelLetters[m[1][0]]
	}
	for _, name := range [...]string{"level", "severity", "lvl"} {
		if l := levelOf(scanField(line, name)); l != levelNone {
			return l
		}
	}
	if l := levelFirst(head); l != levelNone {
		return l
	}
	if l := levelWordIn(head); l != levelNone {
		return l
	}
	if m := levelLetter.FindSubmatch(head); m != nil {
		return levelLetters[bytes.Join(m[1:], nil)[0]]
	}
	if m := syslogFirst.FindSubmatch(head); m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		return syslogLevel(n % 8)
	}
	return levelNone
}

// levelFirst reads the level that begins a line, or follows its time: a sign, or a bare word in any letters.
func levelFirst(head []byte) logLevel {
	text := uncarried(head)
	if _, rest, ok := backend.LeadingTime(text, time.UTC); ok {
		text = rest
	}
	text = bytes.TrimLeft(text, " [")
	sign, _ := utf8.DecodeRune(text)
	if l := levelSigns[sign]; l != levelNone {
		return l
	}
	if m := firstWord.FindSubmatch(text); m != nil && (!prose[string(m[1])] || len(m[2]) > 0 && string(m[1]) != "http") { // Go's server writes "http: "
		return levelWords[strings.ToLower(string(m[1]))]
	}
	return levelNone
}

// levelWordIn finds the first word of a level that the shape of a line marks as one.
func levelWordIn(head []byte) logLevel {
	for from := 0; from < len(head); {
		m := levelToken.FindSubmatchIndex(head[from:])
		if m == nil {
			break
		}
		for group := 1; group < len(m)/2; group++ {
			at, end := m[2*group], m[2*group+1]
			if at < 0 {
				continue
			}
			word := string(head[from+at : from+end])
			address := group == 2 && bytes.HasPrefix(head[from+end:], []byte("://"))
			part := group == 3 && from+end < len(head) && bytes.IndexByte([]byte("=-./"), head[from+end]) >= 0
			if l := levelWords[strings.ToLower(word)]; l != levelNone && !address && !part && (group == 1 || !prose[word]) {
				return l
			}
			from += end
			break
		}
	}
	return levelNone
}
