package sandbox

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

// The server's words for the status of a process.
const (
	StatusRunning   = "running"
	StatusCompleted = "completed"
	StatusFailed    = "failed"
	StatusKilled    = "killed"
	StatusStopped   = "stopped" // it was asked to end: it may run on
)

// Process is a command that the server of a sandbox started. Its texts are as the server gave them: a command can hold secrets.
type Process struct {
	PID, Name, Command, Status, Dir string
	// Started and Ended are in the time zone of the sandbox although they are written as GMT; zero: not told. Only Ended tells
	// that a process is over.
	Started, Ended time.Time
	// ExitCode is unknown where the answer has none, and not applicable before the end: the server writes 0 then.
	ExitCode backend.Value[int]
	// Stdout and Stderr are the ends of the two streams. Merged is both, one after the other: its order says nothing.
	Stdout, Stderr, Merged string
	Restarts               int
	KeepAlive              bool
	Restartable            bool // the server starts it again when it fails, which a kill is
}

// Over reports whether the process ended. Its status does not tell that: one that was asked to end is called stopped at once.
func (p *Process) Over() bool { return !p.Ended.IsZero() }

// Class is what the status means, with the time of the end, which the server writes a moment after it killed a process.
func (p *Process) Class() backend.WorkClass {
	switch p.Status {
	case StatusCompleted:
		return backend.WorkSucceeded
	case StatusFailed:
		return backend.WorkFailed
	case StatusKilled:
		if !p.Over() { // nothing tells yet whether it ended
			return backend.WorkUnknown
		}
		return backend.WorkCancelled
	case StatusRunning, StatusStopped:
		if !p.Over() {
			return backend.WorkRunning
		}
		return backend.WorkCancelled
	}
	return backend.WorkUnknown
}

// Bounds of what is kept of an answer.
const (
	maxProcesses = 20_000
	maxName      = 300
	maxCommand   = 4000
	maxLine      = 128 << 10 // of what Linux takes as one argument
	maxOutput    = 64 << 10
)

var (
	errNoProcess = errors.New("the answer holds no process")
	errNoList    = errors.New("the answer holds no list")
)

// ReadProcess reads the answer about one process.
func ReadProcess(body []byte) (Process, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Process{}, err
	}
	p, ok := process(doc.Root())
	if !ok {
		return Process{}, errNoProcess
	}
	return p, nil
}

// ReadProcesses reads the list of processes, of which left cannot be read, and sorts it: the server gives them in no order.
// The newest come first.
func ReadProcesses(body []byte) (all []Process, left int, err error) {
	doc, bad, err := wire.ParseList(body, "")
	if err != nil {
		return nil, 0, err
	}
	if doc.Root().Kind() != '[' {
		return nil, 0, errNoList
	}
	left = len(bad)
	for n := range doc.Root().Elements() {
		p, ok := process(n)
		switch {
		case ok && len(all) < maxProcesses:
			all = append(all, p)
		case n.Kind() != '0': // a number stands for what is no valid JSON
			left++
		}
	}
	stable.Sort(all, func(a, b Process) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(number(b.PID), number(a.PID)), cmp.Compare(a.Name, b.Name))
	})
	return all, left, nil
}

func number(pid string) int {
	n, err := strconv.Atoi(pid)
	if err != nil {
		return 0
	}
	return n
}

func process(n wire.Node) (p Process, ok bool) {
	text := func(name string, limit int) string {
		t, _ := n.Get(name).Text()
		return t[:min(len(t), limit)]
	}
	p = Process{PID: text("pid", maxName), Name: text("name", maxName), Command: text("command", maxLine), Status: text("status", maxName), Dir: text("workingDir", maxCommand),
		Started: moment(n.Get("startedAt")), Ended: moment(n.Get("completedAt")), Stdout: tail(n.Get("stdout")), Stderr: tail(n.Get("stderr")), Merged: tail(n.Get("logs"))}
	if n.Kind() != '{' || p.PID == "" || p.Status == "" {
		return Process{}, false
	}
	code, known := n.Get("exitCode").Float()
	switch {
	case !p.Over() && (p.Status == StatusRunning || p.Status == StatusStopped || p.Status == StatusKilled):
		p.ExitCode = backend.NotApplicable[int]()
	case known && code == float64(int(code)):
		p.ExitCode = backend.Known(int(code))
	}
	if f, is := n.Get("restartCount").Float(); is && f > 0 && f < 1e6 {
		p.Restarts = int(f)
	}
	p.KeepAlive, _ = n.Get("keepAlive").Bool()
	p.Restartable, _ = n.Get("restartOnFailure").Bool()
	return p, true
}

// moment reads a time of the server. It is null in lists and empty elsewhere while it has not come to that.
func moment(n wire.Node) time.Time {
	text, _ := n.Text()
	for _, form := range []string{time.RFC1123, time.RFC3339} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// tail is the end of an output.
func tail(n wire.Node) string {
	text, _ := n.Text()
	return text[len(text)-min(len(text), maxOutput):]
}

// Cut reports whether the server left out the beginning of an output.
func Cut(output string) bool { return strings.HasPrefix(output, "[... truncated") }

// NearZone is how far a measured offset may be from a time zone: a command takes a while to begin, and clocks differ a little.
const NearZone = time.Minute

// TimeOffset is how far the times of a sandbox's processes are ahead, from one that was started just now: the server writes its
// local time as GMT. Zones differ by quarters of an hour. An offset that is no zone is that of a clock that is off: off is true then,
// and the offset is what was measured, to the second.
func TimeOffset(started, now time.Time) (ahead time.Duration, off bool) {
	if started.IsZero() {
		return 0, false
	}
	measured := started.Sub(now)
	if zone := measured.Round(15 * time.Minute); (measured - zone).Abs() <= NearZone {
		return zone, false
	}
	return measured.Round(time.Second), true
}

// Output is what a process wrote.
type Output struct{ Stdout, Stderr, Merged string }

// ReadLogs reads the output of a process.
func ReadLogs(body []byte) (Output, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Output{}, err
	}
	root := doc.Root()
	if root.Kind() != '{' || !root.Get("stdout").Exists() && !root.Get("logs").Exists() {
		return Output{}, errors.New("the answer holds no output")
	}
	return Output{tail(root.Get("stdout")), tail(root.Get("stderr")), tail(root.Get("logs"))}, nil
}

// ReadFollowed reads a stream of output. The server answers 200 also for a process that it does not know: refused then says so.
func ReadFollowed(body []byte) (out Output, refused string) {
	if doc, err := wire.Parse(body); err == nil && doc.Root().Kind() == '{' {
		if said, is := doc.Root().Get("error").Text(); is {
			return Output{}, cut(said)
		}
	}
	var both [2]strings.Builder
	for line := range strings.Lines(string(body)) {
		if text, is := strings.CutPrefix(line, "stdout:"); is {
			both[0].WriteString(text)
		} else if text, is := strings.CutPrefix(line, "stderr:"); is {
			both[1].WriteString(text)
		}
	}
	return Output{Stdout: both[0].String(), Stderr: both[1].String()}, ""
}

// ReadAnswered reads the end of a command, or why it could not begin, from either form of an answer: one document, or lines of
// which the last is the result.
func ReadAnswered(body []byte) (Process, error) {
	if p, err := ReadProcess(body); err == nil {
		return p, nil
	}
	for line := range strings.Lines(string(body)) {
		doc, err := wire.Parse([]byte(line))
		if err != nil {
			continue
		}
		data, _ := doc.Root().Get("data").Text()
		switch kind, _ := doc.Root().Get("type").Text(); kind {
		case "result":
			return ReadProcess([]byte(data))
		case "error":
			return Process{}, errors.New(cut(data))
		}
	}
	return Process{}, errNoProcess
}
