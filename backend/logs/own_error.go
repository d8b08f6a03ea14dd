package logs

import (
	"bytes"
	"slices"
)

// told is what a line says, without its other fields: the message, and the error where the message does not hold it.
func (r *record) told(line []byte) []byte {
	switch {
	case len(r.message) == 0 && len(r.errText) == 0:
		return line
	case len(r.message) == 0:
		return r.errText
	case len(r.errText) == 0 || bytes.Contains(r.message, r.errText):
		return r.message
	}
	return slices.Concat(r.message, []byte(": "), r.errText)
}

// ownError reports whether a line that matches no pattern is an error of the server's own, by its level. What a command, a
// tool or an agent wrote is none.
func (r *record) ownError() bool {
	if r.output || r.tool || r.part.continues || r.levelAt(len(r.message), false) < levelError {
		return false
	}
	return !agentPrefix.Match(r.message) && !failedCommand.Match(r.message) && !endedCommand.Match(r.message)
}
