package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"sandglass/backend"
)

// Filter selects records. Every field that is set must match; the zero Filter matches all.
type Filter struct {
	Since, Until time.Time // Since is included, Until is not
	Phases       []Phase
	Verbs        []string
	Results      []Result
	User         string     // the account, or the claimed name
	Digest       string     // its beginning is enough
	Subject      backend.ID // of a subject: its id, its parent's or `<parent>/<id>`
}

// Match reports whether the filter selects a record.
func (f *Filter) Match(r *Record) bool {
	return (f.Since.IsZero() || !r.At.Before(f.Since)) && (f.Until.IsZero() || r.At.Before(f.Until)) &&
		(len(f.Phases) == 0 || slices.Contains(f.Phases, r.Phase)) &&
		(len(f.Verbs) == 0 || slices.Contains(f.Verbs, r.Verb)) &&
		(len(f.Results) == 0 || slices.Contains(f.Results, r.Result)) &&
		(f.User == "" || r.Who.User.String() == f.User || r.Who.Claimed.String() == f.User) &&
		len(r.Digest) >= len(f.Digest) && r.Digest[:len(f.Digest)] == f.Digest &&
		(f.Subject.IsZero() || slices.ContainsFunc(r.Subjects, func(k backend.Key) bool {
			return k.ID == f.Subject || k.Parent == f.Subject || k.Path() == f.Subject
		}))
}

// LineError says that a line is no record. Reading goes on behind it.
type LineError struct {
	Line int // 1 is the first
	Err  error
}

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("audit journal, line %d: %v", e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Read yields the records that the filter selects, in the order of the file. A line that is no record yields a
// *LineError and does not end the reading, whatever the filter: a filter must not hide damage. Read proves each line
// against its own hash; only Verify looks at the chain.
func Read(r io.Reader, filter Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		s := newScanner(r)
		for s.next() {
			rec, err := s.record()
			switch {
			case err != nil:
				if !yield(Record{}, &LineError{s.number, err}) {
					return
				}
			case filter.Match(&rec):
				if !yield(rec, nil) {
					return
				}
			}
		}
		if s.err != nil {
			yield(Record{}, fmt.Errorf("audit journal, behind line %d: %w", s.number, s.err))
		}
	}
}

// scanner walks lines in bounded memory: of a line longer than MaxLine only length and hash are known.
type scanner struct {
	in     *bufio.Reader
	number int
	line   []byte // without its line end; cut when the line is too long
	size   int64
	ended  bool // the line has its line end
	err    error
}

func newScanner(r io.Reader) *scanner { return &scanner{in: bufio.NewReaderSize(r, 64<<10)} }

// next goes to the next line; false at the end and after a read error.
func (s *scanner) next() bool {
	s.line, s.size, s.ended = s.line[:0], 0, false
	for {
		part, err := s.in.ReadSlice('\n')
		if s.ended = err == nil; s.ended {
			part = part[:len(part)-1]
		}
		s.size += int64(len(part))
		if room := MaxLine + 1 - len(s.line); room > 0 {
			s.line = append(s.line, part[:min(room, len(part))]...)
		}
		switch {
		case s.ended:
			s.number++
			return true
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			if s.size == 0 {
				return false
			}
			s.number++
			return true
		default:
			s.err = err
			return false
		}
	}
}

var errTooLong = fmt.Errorf("the line is longer than any record (%d bytes)", MaxLine)

func (s *scanner) record() (Record, error) {
	if s.size > MaxLine {
		return Record{}, errTooLong
	}
	return decode(s.line)
}
