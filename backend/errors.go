package backend

import (
	"errors"
	"fmt"
	"io/fs"
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
