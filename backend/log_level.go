package backend

import "bytes"

// levelHead is how much of a line is searched for its level, in bytes.
const levelHead = 1 << 10

// errorWords are the levels that call for a person.
var errorWords = [...]string{"error", "err", "fatal", "panic", "critical", "crit", "severe", "emerg", "emergency", "alert"}

// levelNames are the names under which loggers write the level of a line.
var levelNames = [...]string{"level", "severity", "lvl", "levelname", "log.level"}

// LogError reports whether a log line is about an error, by its own level where it has one, else by the words that loggers
// and runtimes begin an error with. It is a guess to find lines by, and concludes nothing.
func LogError(line []byte) bool {
	line = line[:min(len(line), levelHead)]
	if level, ok := levelField(line); ok {
		return level
	}
	if len(line) > 5 && (line[0] == 'E' || line[0] == 'F') && digits(line[1:5]) && line[5] == ' ' {
		return true // klog
	}
	for i := 0; i+4 < len(line); i++ {
		if second := secondLetters[line[i]|0x20]; second != 0 && (line[i+1]|0x20 == second || line[i]|0x20 == 'e' && line[i+1]|0x20 == 'x') && errorAt(line, i) {
			return true
		}
	}
	return false
}

// secondLetters are those of the words that errorAt looks for, by the first; exception is told apart.
var secondLetters = [256]byte{'e': 'r', 'f': 'a', 'p': 'a', 'c': 'r', 's': 'e', 't': 'r'}

// errorAt reports whether an error begins or is named at i.
func errorAt(line []byte, i int) bool {
	rest := line[i:]
	if bytes.HasPrefix(rest, []byte("Traceback (most recent call last)")) {
		return true
	}
	for _, w := range [...]string{"error", "exception", "fatal", "panic", "critical", "severe"} {
		if len(rest) < len(w) || !asciiFold(rest[:len(w)], w) {
			continue
		}
		start := i == 0 || !levelByte(line[i-1])
		after := byte(' ')
		if len(rest) > len(w) {
			after = rest[len(w)]
		}
		switch {
		case (w == "error" || w == "exception") && after == ':' && rest[0] != w[0]: // ValueError: of Python and JavaScript
			return true
		case !start:
		case after == ':' || after == ']':
			return true
		case bytes.Equal(rest[:len(w)], bytes.ToUpper(rest[:len(w)])) && !levelByte(after):
			return true
		}
	}
	return false
}

// levelField is what a field of the line says; false: there is none that is understood.
func levelField(line []byte) (isError, ok bool) {
	for _, name := range levelNames {
		for from := 0; ; {
			i := bytes.Index(line[from:], []byte(name))
			if i < 0 {
				break
			}
			at := from + i
			from = at + len(name)
			if at > 0 && levelByte(line[at-1]) {
				continue
			}
			value := bytes.TrimLeft(line[from:], `"\ `)
			if len(value) == 0 || value[0] != ':' && value[0] != '=' {
				continue
			}
			value = bytes.TrimLeft(value[1:], `"\ `)
			n := 0
			for n < len(value) && levelByte(value[n]) {
				n++
			}
			if value = value[:n]; n == 0 {
				continue
			}
			if digits(value) {
				return n >= 2 && value[0] >= '5', true // pino: 50 is error, 60 fatal
			}
			for _, w := range errorWords {
				if asciiFold(value, w) {
					return true, true
				}
			}
			return false, true
		}
	}
	return false, false
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

func levelByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// asciiFold reports whether b is the word, which is in lower case, in any case.
func asciiFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i := range b {
		if c := b[i]; c != word[i] && (c|0x20 != word[i] || c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}
