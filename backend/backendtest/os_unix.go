//go:build unix

package backendtest

import (
	"syscall"
	"testing"
)

// Umask makes new files readable by all and writable by their owner, whoever runs the tests.
func Umask() { syscall.Umask(0o022) }

// Fifo makes a named pipe.
func Fifo(t testing.TB, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// LimitFiles bounds the size of every file that this process writes, in bytes.
func LimitFiles(size uint64) error {
	var limit syscall.Rlimit
	set(&limit.Cur, size)
	set(&limit.Max, size)
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

// set is for a field that is signed on FreeBSD.
func set[T int64 | uint64](field *T, n uint64) { *field = T(n) }
