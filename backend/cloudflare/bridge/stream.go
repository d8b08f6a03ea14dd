package bridge

import (
	"bytes"
	"encoding/base64"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// mostOutput bounds what is kept of each output of a command, and mostEvents how many events are read.
const (
	mostOutput = 32 << 10
	mostEvents = 10_000
)

// Ran is what a bridge told of a command.
type Ran struct {
	Stdout, Stderr string
	Cut            bool // more came than is kept
	// Exit is its exit code; unknown: no end came, in time or at all.
	Exit backend.Value[int]
	// Problem says why it could not begin; nil: it began, or nothing is known.
	Problem *Problem
}

// Began reports whether something shows that the command began.
func (r *Ran) Began() bool {
	return r.Problem == nil && (r.Exit.IsKnown() || r.Stdout != "" || r.Stderr != "")
}

// OK reports whether it ended with exit code 0.
func (r *Ran) OK() bool {
	code, known := r.Exit.Get()
	return r.Problem == nil && known && code == 0
}

// ReadRan reads the server-sent events of a command, which may be broken off anywhere. The status of the answer says nothing: it is
// 200 also when the command could not begin.
func ReadRan(body []byte) Ran {
	var r Ran
	events := 0
	event, data := "", []string(nil)
	for line := range bytes.Lines(body) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		text := string(bytes.TrimRight(line, "\r\n"))
		name, value, _ := strings.Cut(text, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case !whole: // an event ends with an empty line
			return r
		case text == "":
			if events++; events > mostEvents {
				r.Cut = true
				return r
			}
			if r.take(event, strings.Join(data, "\n")) {
				return r
			}
			event, data = "", nil
		case name == "event":
			event = value
		case name == "data":
			data = append(data, value)
		}
	}
	return r
}

// take adds an event; true: it is the last one.
func (r *Ran) take(event, data string) bool {
	switch event {
	case "stdout":
		r.Stdout = r.keep(r.Stdout, data)
	case "stderr":
		r.Stderr = r.keep(r.Stderr, data)
	case "exit":
		doc, err := wire.Parse([]byte(data))
		if err != nil {
			return true
		}
		if code, ok := doc.Root().Get("exit_code").Float(); ok {
			r.Exit = backend.Known(int(code))
		}
		return true
	case "error":
		p := ReadProblem(200, []byte(data))
		r.Problem = &p
		return true
	}
	return false
}

// keep adds a chunk, which is encoded by itself. One that cannot be decoded is left out.
func (r *Ran) keep(have, data string) string {
	chunk, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(data, "\n", ""))
	if err != nil {
		r.Cut = true
		return have
	}
	if left := mostOutput - len(have); len(chunk) > left {
		r.Cut = true
		chunk = chunk[:max(0, left)]
	}
	return have + string(chunk)
}
