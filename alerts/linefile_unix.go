//go:build unix

package alerts

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openLocked opens a file for reading and appending and waits for its lock, but not for ever. It follows no symbolic
// link and refuses what is no regular file, or what everybody may write.
func openLocked(path string, patience time.Duration) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no regular file", path)
	case info.Mode().Perm()&0o002 != 0:
		err = fmt.Errorf("%s can be written by everybody (mode %04o); run: chmod o-w %s", path, info.Mode().Perm(), path)
	}
	for waited, pause := time.Duration(0), time.Millisecond; err == nil; pause = min(2*pause, 50*time.Millisecond) {
		switch err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return f, nil
		case errors.Is(err, unix.EINTR):
			err = nil
			continue
		case errors.Is(err, unix.EWOULDBLOCK) && waited < patience:
			err = nil
		case errors.Is(err, unix.EWOULDBLOCK):
			err = fmt.Errorf("another process holds the lock of %s for longer than %s", path, patience)
		default:
			err = fmt.Errorf("lock %s: %w", path, err)
		}
		if err == nil {
			time.Sleep(pause)
			waited += pause
		}
	}
	return nil, errors.Join(err, f.Close())
}
