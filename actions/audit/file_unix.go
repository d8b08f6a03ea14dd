//go:build unix

package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// openAppend opens the journal for appending and creates it with mode 0600 when it is missing; it refuses a file that
// others can write.
func openAppend(path string) (*os.File, error) { return open(path, os.O_RDWR|os.O_APPEND|os.O_CREATE) }

// openRead opens the journal for reading.
func openRead(path string) (*os.File, error) { return open(path, os.O_RDONLY) }

// openReserve opens the reserve and creates it when it is missing.
func openReserve(path string) (*os.File, error) { return open(path, os.O_RDWR|os.O_CREATE) }

// isFull reports whether the error is that of a full disk or a used-up quota.
func isFull(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }

// holdLock creates a file and takes its lock until it is closed; nil when another holder has it.
func holdLock(path string) (*os.File, error) {
	f, err := open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	if closed := f.Close(); !errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(err, closed)
	}
	return nil, nil
}

// open never follows a symbolic link and never waits for the other end of a pipe.
func open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case flag&os.O_APPEND != 0 && info.Mode().Perm()&0o022 != 0:
		err = fmt.Errorf("%s can be written by others (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lock waits for the lock of an open journal until ctx ends. The lock ends when the file is closed, however its holder
// ends.
func lock(ctx context.Context, f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return fmt.Errorf("another process holds the lock of %s: %w", f.Name(), context.Cause(ctx))
		case <-t.C:
		}
	}
}

// unlock lets the lock of an open journal go.
func unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// syncDir makes the name of a new file last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// checkDir refuses a directory in which others could put another journal in the place of this one, or another directory in
// the place of this one. What others cannot reach they cannot write, whatever its mode. Directories that are missing are
// made for their owner alone.
func checkDir(dir string) error {
	paths := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		paths = append(paths, real)
	}
	for _, p := range paths {
		p, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		if err := checkPath(p, os.Stat); err != nil {
			return err
		}
	}
	return nil
}

func checkPath(dir string, stat func(string) (fs.FileInfo, error)) (open error) {
	for p := dir; ; p = filepath.Dir(p) {
		info, err := stat(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case info.Mode().Perm()&0o001 == 0:
			open = nil
		case open == nil && info.Mode().Perm()&0o002 != 0 && (p == dir || info.Mode()&fs.ModeSticky == 0):
			open = fmt.Errorf("%s can be written by others (mode %04o), who could put another journal in the place of this one; run: chmod o-w %s", p, info.Mode().Perm(), p)
		}
		if p == filepath.Dir(p) {
			return open
		}
	}
}
