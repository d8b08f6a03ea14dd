//go:build unix

package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Modes reports whether permission bits say who may read and write a file.
const Modes = true

// Owner is the user that a file belongs to; false where the system does not tell.
func Owner(info fs.FileInfo) (uint32, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Uid, true
}

func open(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
}

// Try takes the lock of an open file; false when another process has it.
func Try(f *os.File, shared bool) (bool, error) {
	how := unix.LOCK_EX | unix.LOCK_NB
	if shared {
		how = unix.LOCK_SH | unix.LOCK_NB
	}
	for {
		switch err := unix.Flock(int(f.Fd()), how); {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
	}
}

// Unlock releases the lock of an open file.
func Unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// Remove removes a locked file and closes it, in this order: whoever takes the lock next has another file.
func Remove(f *os.File) error { return errors.Join(os.Remove(f.Name()), f.Close()) }

// Truncate cuts an open file.
func Truncate(f *os.File, size int64) error { return f.Truncate(size) }

// IsFull reports whether the error is that of a full disk or a used-up quota.
func IsFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// SyncDir makes the name of a new file last.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
