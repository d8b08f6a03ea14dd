// Package lockfile opens the files of the state directory, and locks them between processes. A lock ends with the file's
// closing, however its holder ends. It is a leaf.
package lockfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Open opens a regular file as os.OpenFile does, and makes a missing one for its owner alone. It follows no symbolic link
// and never waits for the other end of a pipe. It refuses a file with one of the permissions in deny, 0o022 for example.
func Open(path string, flag int, deny fs.FileMode) (*os.File, error) {
	f, err := open(path, flag)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file", path)
	case Modes && info.Mode().Perm()&deny != 0:
		who := "o"
		if deny&0o020 != 0 {
			who = "go"
		}
		err = fmt.Errorf("%s can be written by others (mode %04o); run: chmod %s-w %s", path, info.Mode().Perm(), who, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// maxReopen bounds how often a file may be replaced while its lock is waited for.
const maxReopen = 20

// OpenLocked opens a file for appending, as Open does, and waits for its lock until ctx ends. It opens the path again
// when the file was replaced meanwhile: a line in the old file is lost.
func OpenLocked(ctx context.Context, path string, deny fs.FileMode) (*os.File, error) {
	for range maxReopen {
		f, err := Open(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, deny)
		if err != nil {
			return nil, err
		}
		if err := Lock(ctx, f, false); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if same, err := names(path, f); same || err != nil {
			return f, err
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return nil, replaced(path)
}

// Lock waits for the lock of an open file until ctx ends.
func Lock(ctx context.Context, f *os.File, shared bool) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		if ok, err := Try(f, shared); ok || err != nil {
			return err
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

// TryOpen creates a file and takes its lock; nil when another process has it.
func TryOpen(path string) (*os.File, error) {
	for range maxReopen {
		f, err := Open(path, os.O_RDWR|os.O_CREATE, 0)
		if err != nil {
			return nil, err
		}
		if ok, err := Try(f, false); !ok {
			return nil, errors.Join(err, f.Close())
		}
		if same, err := names(path, f); same || err != nil {
			return f, err
		}
		if err := f.Close(); err != nil { // who had the lock removed the file
			return nil, err
		}
	}
	return nil, replaced(path)
}

// names reports whether a path is that of an open file.
func names(path string, f *os.File) (bool, error) {
	mine, err := f.Stat()
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	named, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, named), nil
}

func replaced(path string) error {
	return fmt.Errorf("%s is replaced again and again by another program", path)
}
