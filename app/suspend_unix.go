//go:build unix

package app

import "golang.org/x/sys/unix"

// canSuspend says whether a shell is there to come back to: a session leader has none, and would stop for ever.
func canSuspend() bool {
	sid, err := unix.Getsid(0)
	return err == nil && sid != unix.Getpid()
}
