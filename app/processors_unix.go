//go:build unix

package app

import (
	"syscall"
	"time"
)

// processTime is the processor time that this process has used, in user and system mode, from getrusage(2).
func processTime() (used time.Duration, known bool) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0, false
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano()), true
}
