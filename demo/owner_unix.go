//go:build unix

package demo

import (
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from following a link and from waiting for a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func lock(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

func mine(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
