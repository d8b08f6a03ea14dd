package backend

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"
)

// ErrorKind says what went wrong with a source, in the words the screen uses.
type ErrorKind string

// The kinds of errors a source can have. Absent is no failure: in the local mode without a configuration something
// that is simply not there (no Docker socket) is named, and nothing is alerted.
const (
	ErrUnreachable  ErrorKind = "unreachable"
	ErrUnauthorised ErrorKind = "unauthorised"
	ErrThrottled    ErrorKind = "throttled"
	ErrGone         ErrorKind = "gone"
	ErrInvalid      ErrorKind = "invalid"
	ErrTimeout      ErrorKind = "timeout"
	ErrAbsent       ErrorKind = "absent"
)

// Error is a failed or doubtful reading: which source, where in it, and why.
type Error struct {
	Kind       ErrorKind
	Source     string        // id of the source
	Where      string        // URL, file, line or JSON pointer; without credentials
	RetryAfter time.Duration // with ErrThrottled: how long the source asked us to wait, 0 when it did not say
	Unasked    bool          // with RetryAfter: that time is not over, and the source was not asked
	Err        error         // the cause
}

// Error gives source, place and cause.
func (e *Error) Error() string {
	parts := make([]string, 0, 4)
	for _, p := range []string{e.Source, string(e.Kind), e.Where} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

// Said is place and cause in one sentence, for places that name the source themselves and say that it does not answer.
func (e *Error) Said() string {
	if e.Err == nil {
		return strings.TrimSpace(string(e.Kind) + " " + e.Where)
	}
	cause := e.Err.Error()
	switch {
	case e.Where == "":
		return cause
	case strings.HasPrefix(cause, "answered "), strings.HasPrefix(cause, "redirects to "):
		return e.Where + " " + cause
	case strings.Contains(e.Where, "://") && !strings.Contains(cause, ": "):
		return cause + " at " + e.Where
	}
	return e.Where + ": " + cause
}

// netError says why a connection failed in the words of its innermost cause; the chain is kept for errors.As.
type netError struct {
	text string
	err  error
}

func (e *netError) Error() string { return e.text }
func (e *netError) Unwrap() error { return e.err }

// PlainNetError leaves out of a network error what the place says already: the operation and the address.
func PlainNetError(err error) error {
	var name *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return &netError{"no such host", err}
	case errors.As(err, &name):
		return &netError{"the name lookup failed, " + name.Err, err}
	case errors.As(err, &op) && op.Err != nil:
		var call *os.SyscallError
		if errors.As(op.Err, &call) {
			return &netError{call.Err.Error(), err}
		}
		return &netError{op.Err.Error(), err}
	case errors.Is(err, io.EOF):
		return &netError{"the connection was closed before an answer came", err}
	}
	return err
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error with a formatted cause; %w works.
func Errorf(kind ErrorKind, where, format string, args ...any) *Error {
	return &Error{Kind: kind, Where: where, Err: fmt.Errorf(format, args...)}
}

// KindOf returns the kind of the first Error in err's chain, and unreachable for any other error: an error that
// nobody classified is at least no answer.
func KindOf(err error) ErrorKind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ErrUnreachable
}

// FileErrorKind classifies what the system answered about a file.
func FileErrorKind(err error) ErrorKind {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return ErrUnauthorised
	case errors.Is(err, fs.ErrNotExist):
		return ErrGone
	}
	return ErrInvalid
}

// WithoutPath leaves the path out of a file error, for a message that names the path itself.
func WithoutPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Problem is an error that did not stop a poll: it is shown with the source and with the subject it names.
type Problem struct {
	Kind    ErrorKind `json:"kind"`
	Where   Safe      `json:"where"`            // URL, file, line, JSON pointer
	What    Safe      `json:"what"`             // cause, in words
	Subject Key       `json:"subject,omitzero"` // the entity it concerns, zero when it concerns the source
	At      time.Time `json:"at"`
}
