package config

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sandglass/internal/stable"
)

// Error is one thing that is wrong with a configuration file. Line and Column count from 1; a column counts
// characters, not bytes. Both are 0 when the trouble has no place in the file.
type Error struct {
	File         string
	Line, Column int
	What         string

	syntax bool // the file is not TOML there
}

// Error gives place and reason in one line.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.What)
}

// Errors is everything that is wrong with a file, in the order of the file. It is never empty.
type Errors []*Error

// Error gives one line per error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single errors.
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// orNil sorts the errors by place, drops repetitions, and returns nil when there are none.
func (es Errors) orNil() error {
	if len(es) == 0 {
		return nil
	}
	stable.Sort(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(es, func(a, b *Error) bool { return *a == *b })
}

// file is the text that positions refer to.
type file struct {
	name string
	data []byte
}

// errorf makes an error at a byte offset.
func (f *file) errorf(offset int, format string, args ...any) *Error {
	line, column := f.position(offset)
	return &Error{File: f.name, Line: line, Column: column, What: fmt.Sprintf(format, args...)}
}

func (f *file) position(offset int) (line, column int) {
	before := f.data[:min(max(offset, 0), len(f.data))]
	line = bytes.Count(before, []byte("\n")) + 1
	return line, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}
