//go:build unix

package hostfs

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func openRead(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

// IDOf is the identity of the file at a path; info is what os.Stat returned.
func IDOf(_ string, info fs.FileInfo) FileID {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return FileID{uint64(st.Dev), st.Ino}
	}
	return FileID{}
}

// requireFilesystem returns an open directory. If it is on another file system than like, it closes it and fails.
func requireFilesystem(fd int, like Stat) (int, error) {
	st, err := statOpen(fd)
	if err == nil && otherFilesystem(like, st) {
		err = errCrossed
	}
	if err != nil {
		_ = unix.Close(fd) // opened for reading
		return -1, err
	}
	return fd, nil
}
