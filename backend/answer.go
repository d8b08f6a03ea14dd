package backend

import (
	"errors"
	"time"
)

// Instant is one moment on two clocks.
type Instant struct {
	Wall time.Time
	Mono time.Duration // since the process started; never jumps
}

// SourceConfig is what is known about a source before it is read.
type SourceConfig struct {
	Kind     string
	Interval time.Duration
	Deadline time.Duration // of one request
	About    []string      // ids of the sources it speaks about; empty = all
	Inputs   []Input       // what its kind can deliver
	Allowed  []string      // verbs that the configuration allows; nil: not known
	Optional bool          // no configuration names it: this machine may lack it
	// Organisation is the only one of its platform that it reads; empty: it does not say.
	Organisation string `json:",omitempty"`
}

// Answer is everything that one step of watching a source adds to what is known: the source's configuration, what one
// poll read or why it failed, or what an action proved. It holds no pointer into a running source, and its JSON form is
// complete: decoded Answers fold into the same States as in the process that wrote them.
type Answer struct {
	Source         string
	Started, Ended Instant // of the poll; zero for a configuration

	// Config introduces the source. Sources are shown in the order in which they were introduced.
	Config *SourceConfig
	// Reading is what was read, nil when the poll failed.
	Reading *Reading
	// More says that the poll goes on: the Reading adds entities, and the health of the source waits for the last Answer.
	More bool
	// Failure is why nothing of use was read, nil when something was.
	Failure *Failure
	// Next is when the source is polled again.
	Next time.Time
	// Load is what the poll cost, failed or not. The Reading's own Load is empty here.
	Load Load
	// Proved is what an action, or a former process, observed of a sandbox.
	Proved *Proof
}

// Failure is why a poll read nothing.
type Failure struct {
	Kind       ErrorKind
	Text       Safe          // cause and place, without the source's id, which is shown beside it everywhere
	RetryAfter time.Duration // how long the source asked us to wait, 0 when it did not say
	Unasked    bool          // the source was not asked, since that time is not over: it says nothing of the source
}

// maxFailure bounds the text of a failed poll, in characters: the addresses of a few engines fit.
const maxFailure = 400

// NewFailure describes the error of a poll.
func NewFailure(err error) *Failure {
	f := &Failure{Kind: KindOf(err)}
	var e *Error
	if errors.As(err, &e) {
		f.RetryAfter, f.Unasked = e.RetryAfter, e.Unasked
		f.Text = Clean(e.Said(), maxFailure)
		return f
	}
	f.Text = Clean(err.Error(), maxFailure)
	return f
}
