package backendtest

import (
	"errors"
	"testing"

	"sandglass/internal/skip"
)

// Umask has nothing to do: files have no modes here.
func Umask() {}

// Fifo skips the test: there are no named pipes among the files.
func Fifo(t testing.TB, _ string) {
	t.Helper()
	skip.Without(t, "fifo", "the file system has no named pipes")
}

// LimitFiles is not possible here.
func LimitFiles(uint64) error { return errors.ErrUnsupported }
