//go:build unix

package hostfs

import (
	"io/fs"
	"os"
	"syscall"
)

func openRead(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
}

// IDOf is the identity of the file at a path, of which os.Stat told info.
func IDOf(_ string, info fs.FileInfo) FileID {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return FileID{uint64(st.Dev), st.Ino}
	}
	return FileID{}
}
