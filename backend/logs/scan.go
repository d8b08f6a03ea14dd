package logs

import (
	"bytes"
	"strings"
)

// scanField finds the value of a field in undecoded text: name=value, "name":"value" (also escaped, as inside another
// JSON string), and name: value when the name is more than a plain word. The first such place wins.
func scanField(line []byte, name string) []byte {
	for from := 0; ; {
		i := bytes.Index(line[from:], []byte(name))
		if i < 0 {
			return nil
		}
		start, end := from+i, from+i+len(name)
		if start == 0 || !nameByte(line[start-1]) {
			if v, ok := valueAfter(line, end, isPlainWord(name)); ok {
				return v
			}
		}
		from = end
	}
}

func valueAfter(line []byte, i int, plainWord bool) ([]byte, bool) {
	quoted := i < len(line) && (line[i] == '"' || line[i] == '\\')
	for i < len(line) && (line[i] == '"' || line[i] == '\\') {
		i++
	}
	for quoted && i < len(line) && line[i] == ' ' {
		i++
	}
	if i >= len(line) || line[i] != '=' && (line[i] != ':' || plainWord && !quoted) {
		return nil, false
	}
	spaced := line[i] == ':'
	i++
	for spaced && i < len(line) && line[i] == ' ' {
		i++
	}
	open := i
	for i < len(line) && (line[i] == '"' || line[i] == '\\' || line[i] == '\'') {
		i++
	}
	ends := " \t,;)}]\"'\\"
	if i > open {
		ends = "\"'\\"
	}
	v := line[i:]
	if j := bytes.IndexAny(v, ends); j >= 0 {
		v = v[:j]
	}
	if len(v) == 0 || i == open && (string(v) == "null" || v[0] == '{' || v[0] == '[') {
		return nil, false
	}
	return v, true
}

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// isPlainWord says that a name could as well be an ordinary word of a sentence ("session: started").
func isPlainWord(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return r < 'a' || r > 'z' }) < 0
}
