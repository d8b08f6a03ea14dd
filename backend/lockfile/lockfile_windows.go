package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// Modes is false: access lists decide here, and the state directory lies in the user's own profile.
const Modes = false

// Owner is not told here.
func Owner(fs.FileInfo) (uint32, bool) { return 0, false }

func open(path string, flag int) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, fmt.Errorf("%s is a symbolic link", path)
	}
	return os.OpenFile(path, flag, 0o600)
}

// region lies behind the end of every file: a locked region cannot be read or written by others.
func region() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

// Try takes the lock of an open file; false when another process has it.
func Try(f *os.File, shared bool) (bool, error) {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY | windows.LOCKFILE_EXCLUSIVE_LOCK)
	if shared {
		how = windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	switch err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, region()); {
	case err == nil:
		return true, nil
	case errors.Is(err, windows.ERROR_LOCK_VIOLATION), errors.Is(err, windows.ERROR_IO_PENDING):
		return false, nil
	default:
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
}

// Unlock releases the lock of an open file.
func Unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, region())
}

// Remove closes a locked file and removes it, in this order: an open file cannot be removed.
func Remove(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// Truncate cuts an open file through its name: a file that is open for appending cannot be cut.
func Truncate(f *os.File, size int64) error { return os.Truncate(f.Name(), size) }

// IsFull reports whether the error is that of a full disk.
func IsFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, syscall.ENOSPC)
}

// SyncDir has nothing to do: NTFS journals names.
func SyncDir(string) error { return nil }
