//go:build unix

package alerts

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile takes an exclusive lock on a file without waiting. It returns nil and no error when another process holds
// it. The lock ends with the process, however it ends.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the alert state: %w", err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	closeErr := f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, closeErr
	}
	return nil, fmt.Errorf("lock of the alert state %s: %w", path, err)
}

func unlockFile(f *os.File) error { return f.Close() }
