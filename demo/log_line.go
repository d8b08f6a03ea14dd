package demo

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"sandglass/internal/stable"
)

// level of a log line, in the numbers of the pino logger.
type level int

const (
	levelInfo  level = 30
	levelWarn  level = 40
	levelError level = 50
)

func (l level) String() string {
	switch l {
	case levelInfo:
		return "INFO"
	case levelWarn:
		return "WARN"
	case levelError:
		return "ERROR"
	}
	return strconv.Itoa(int(l))
}

// logLine is one line of an agent's log, before it has a format.
type logLine struct {
	at         time.Duration
	level      level
	message    string
	session    string
	workspace  string
	command    string
	cause      string // the error behind it
	suppressed int64  // of a rollup: rejections since the one before
}

type jsonLogLine struct {
	Level           level  `json:"level"`
	Time            string `json:"time"`
	Msg             string `json:"msg"`
	SessionID       string `json:"sessionId,omitempty"`
	Workspace       string `json:"workspace,omitempty"`
	Command         string `json:"command,omitempty"`
	Err             string `json:"err,omitempty"`
	SuppressedCount int64  `json:"suppressedCount,omitempty"`
}

const logTime = "2006-01-02T15:04:05.000Z"

// jsonLine writes a line as one JSON object and a line feed.
func (w world) jsonLine(l logLine) []byte {
	out, err := json.Marshal(jsonLogLine{
		Level: l.level, Time: w.when(l.at).Format(logTime), Msg: l.message, SessionID: l.session,
		Workspace: l.workspace, Command: l.command, Err: l.cause, SuppressedCount: l.suppressed,
	})
	if err != nil {
		out = strconv.AppendQuote(nil, err.Error())
	}
	return append(out, '\n')
}

// textLine writes a line as people read it, with key=value pairs at the end.
func (w world) textLine(l logLine) []byte {
	out := fmt.Appendf(nil, "%s %-5s %s", w.when(l.at).Format(logTime), l.level, l.message)
	if l.cause != "" {
		out = fmt.Appendf(out, ": %s", l.cause)
	}
	if l.session != "" {
		out = fmt.Appendf(out, " sessionId=%s", l.session)
	}
	if l.workspace != "" {
		out = fmt.Appendf(out, " workspace=%s", l.workspace)
	}
	if l.command != "" {
		out = fmt.Appendf(out, " command=%q", l.command)
	}
	if l.suppressed > 0 {
		out = fmt.Appendf(out, " suppressedCount=%d", l.suppressed)
	}
	return append(out, '\n')
}

// logLines lists what the agents of an instance logged after from and not after
// w.t, oldest first.
func (w world) logLines(where instance, from time.Duration) []logLine {
	var out []logLine
	for n, v := range w.recurringLines(where) {
		each(v.first, v.period, from, w.t, func(at time.Duration) {
			h := w.random.value(saltLog, n<<1|int(where), int64(at))
			if l, ok := v.make(w.At(at), h); ok {
				l.at = at
				out = append(out, l)
			}
		})
	}
	stable.Sort(out, func(a, b logLine) int { return cmp.Compare(a.at, b.at) })
	return out
}
