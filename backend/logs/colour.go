package logs

import (
	"bytes"
	"regexp"
)

// controlSequence is a terminal's control sequence (ECMA-48 CSI), as written, and as JSON, rsyslog or cat -v show its escape.
var controlSequence = regexp.MustCompile(`(?:\x1b|\\+(?:u001[bB]|x1[bB]|033)|#033|\^\[)\[[0-9;:?]*[A-Za-z]`)

// uncoloured is a line without the sequences by which loggers colour it. The line itself stays as it is.
func uncoloured(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) >= 0 {
		return controlSequence.ReplaceAll(line, nil)
	}
	for _, mark := range [...]string{"1b[", "1B[", "033[", "^[["} {
		if bytes.Contains(line, []byte(mark)) {
			return controlSequence.ReplaceAll(line, nil)
		}
	}
	return line
}
