package demo

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const (
	logPast = 15 * time.Minute // what the files hold at the start
	logStep = 250 * time.Millisecond
	logKept = 2 // rotated files beside the present one
)

// logWriter appends what the agents of one instance log to a file.
type logWriter struct {
	where  instance
	path   string
	rotate time.Duration // how often the file is put aside
	from   time.Duration // lines up to here are written
	file   *os.File
}

// logWriters: JSON lines of helix-eu, rotated once an hour; plain text of
// helix-us, rotated every four minutes.
func (f *fleet) logWriters() []*logWriter {
	dir := filepath.Join(f.root, "logs")
	return []*logWriter{
		{where: eu, path: filepath.Join(dir, "agent-eu.jsonl"), rotate: time.Hour, from: -logPast},
		{where: us, path: filepath.Join(dir, "agent-us.log"), rotate: 4 * time.Minute, from: -logPast},
	}
}

// step writes what was logged since the last step.
func (l *logWriter) step(w world) error {
	if l.file == nil {
		if err := l.create(); err != nil {
			return err
		}
	}
	if w.t > 0 && l.from >= 0 && floorDiv(w.t, l.rotate) != floorDiv(l.from, l.rotate) {
		if err := l.putAside(); err != nil {
			return err
		}
	}
	var buf bytes.Buffer
	for _, line := range w.logLines(l.where, l.from) {
		if l.where == eu {
			buf.Write(w.jsonLine(line))
		} else {
			buf.Write(w.textLine(line))
		}
	}
	l.from = max(l.from, w.t)
	if _, err := l.file.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("demo: write log: %w", err)
	}
	return nil
}

func (l *logWriter) create() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("demo: create log: %w", err)
	}
	l.file = f
	return nil
}

// putAside renames the file, as log rotation does, and begins a new one.
func (l *logWriter) putAside() error {
	if err := l.close(); err != nil {
		return err
	}
	for n := logKept; n > 0; n-- {
		from := l.path
		if n > 1 {
			from = fmt.Sprintf("%s.%d", l.path, n-1)
		}
		err := os.Rename(from, fmt.Sprintf("%s.%d", l.path, n))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("demo: rotate log: %w", err)
		}
	}
	return l.create()
}

func (l *logWriter) close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	if err != nil {
		return fmt.Errorf("demo: close log: %w", err)
	}
	return nil
}
