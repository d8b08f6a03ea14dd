package app

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"sandglass/demo"
)

// DemoFileError says that the file for the configuration of a demo is there already and is not the demo's to replace.
type DemoFileError struct {
	File  string
	Lives bool // it is the configuration of another demo that may still run
}

func (e *DemoFileError) Error() string {
	if e.Lives {
		return e.File + " is the configuration of a demo that runs, and nothing was written"
	}
	return e.File + " is there already, and nothing was written"
}

// writeDemo writes the configuration of a demo into a file that was not there, or that a demo which has ended left behind.
func writeDemo(file, content string) error {
	if err := clearEnded(file); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &DemoFileError{File: file}
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(file)) // a part of a configuration says something else than the whole
	}
	return nil
}

func clearEnded(file string) error {
	info, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return &DemoFileError{File: file}
	}
	was, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	switch demo.StandOf(was) {
	case demo.NoDemo:
		return &DemoFileError{File: file}
	case demo.Runs:
		return &DemoFileError{File: file, Lives: true}
	case demo.Ended:
	}
	return os.Remove(file)
}

// removeDemo removes what writeDemo wrote; a file that somebody has changed since is theirs.
func removeDemo(file, content string) {
	if is, err := os.ReadFile(file); err == nil && bytes.Equal(is, []byte(content)) {
		_ = os.Remove(file)
	}
}
