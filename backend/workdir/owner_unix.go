//go:build unix

package workdir

import (
	"io/fs"
	"syscall"
)

// ownerOf is the owner of a file.
func ownerOf(info fs.FileInfo) (uid, gid uint64, known bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, false
	}
	return uint64(st.Uid), uint64(st.Gid), true
}
