package backend

import (
	"context"
	"time"
)

// LogSource is a source that has logs which people read.
type LogSource interface {
	// LogsOf names the logs that can hold lines about a subject. It reads nothing and returns at once.
	LogsOf(about LogAbout) []Log
}

// Logless is a source whose subjects have logs that it does not read.
type Logless interface {
	// WithoutLogs says why, and how they are read instead.
	WithoutLogs() Safe
}

// LogAbout is what lines are wanted of.
type LogAbout struct {
	Key   Key  // of a sandbox or a source
	Title Safe // what people call it
	// Names are raw ids and names: a line of a log that many share counts where all names of one of these lists are in it.
	// None: every line counts.
	Names [][]string
}

// Log is one log that can be read.
type Log struct {
	Name  Safe
	Named bool // others share it, and only lines that name the subject count
	// Read hands lines to a sink until the log ends (nil), ctx ends (its error), or something breaks. It is called again
	// to go on after a failure.
	Read func(ctx context.Context, q LogQuery, to LogSink) error
}

// LogQuery says which lines are wanted.
type LogQuery struct {
	Tail   int       // at most so many of the newest lines of the past
	Since  time.Time // only lines after this time, where the log tells times; zero: all
	Follow bool      // go on with new lines
}

// LogSink takes what is read of one log. Its methods are called by one goroutine.
type LogSink interface {
	// Line takes one line. Its text is valid during the call only.
	Line(l LogLine)
	// Live says that the past was read, and what follows is new.
	Live()
}

// MaxLogLine bounds what is kept of one line, in bytes.
const MaxLogLine = 256 << 10

// LogLine is one line as its log has it: neither safe to draw nor masked.
type LogLine struct {
	At     time.Time // zero: the log does not tell
	Stderr bool
	Text   []byte
	Cut    int // bytes at its end that were not kept
}

// LogSet is what there is to read about one subject.
type LogSet struct {
	Logs []Log
	// Lacking says what is not among them, and why.
	Lacking []Safe
}
