package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"sandglass/backend"
)

const (
	// settle is how old a file's time must be before an unchanged time means unchanged content: file systems keep
	// times in steps of up to 2 s, and a writer may write twice in one.
	settle     = 2 * time.Second
	stderrKept = 1 << 10
	killWait   = 2 * time.Second // between asking a command to end and closing its pipes
)

// fileState tells one content of a file from another.
type fileState struct {
	info    os.FileInfo
	checked time.Time
}

// read returns the present content; fresh is false when there is nothing new to look at.
func (s *source) read(ctx context.Context, r *backend.Reading) (content []byte, fresh bool, err error) {
	if s.opts.File == "" {
		content, err = s.run(ctx)
		r.Load = backend.Load{Requests: 1, Bytes: int64(len(content))}
		if err != nil {
			return nil, false, s.fail(err, "command "+s.opts.Command[0])
		}
		return content, true, nil
	}
	content, fresh, err = s.load(r)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// Who writes changes down may just not have had any yet; a file that was there and is not any more is said too.
		r.Degraded = backend.Textf("%s does not exist; its lines are changes as soon as it does", backend.Clean(s.opts.File, 200))
		s.begun, s.file = true, fileState{} // what is in it when it comes was written since
		return nil, false, nil
	case err != nil:
		return nil, false, s.fail(err, s.opts.File)
	}
	return content, fresh, nil
}

// load reads the end of the file when it changed since it was last read.
func (s *source) load(r *backend.Reading) ([]byte, bool, error) {
	// Non-blocking, because a pipe in the file's place would wait for a writer for ever.
	f, err := os.OpenFile(s.opts.File, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, errors.New("not a regular file")
	}
	if old := s.file; old.info != nil && os.SameFile(old.info, info) && old.info.Size() == info.Size() &&
		old.info.ModTime().Equal(info.ModTime()) && old.checked.Sub(info.ModTime()) > settle {
		return nil, false, nil
	}
	from := max(0, info.Size()-int64(s.opts.MaxBody))
	body, err := io.ReadAll(io.NewSectionReader(f, from, int64(s.opts.MaxBody)))
	if err != nil {
		return nil, false, err
	}
	if from > 0 {
		body = body[bytes.IndexByte(body, '\n')+1:] // not in the middle of a line
		r.Notes = append(r.Notes, backend.Textf("only the last %d kB of the file are read", int64(s.opts.MaxBody)/1000))
	}
	if n := bytes.LastIndexByte(body, '\n') + 1; n < len(body) && !complete(body[n:]) && r.Started.Sub(info.ModTime()) < settle {
		body = body[:n] // the last line is still being written
	}
	s.file = fileState{info: info, checked: r.Started}
	r.Load = backend.Load{Requests: 1, Bytes: int64(len(body))}
	return body, true, nil
}

// complete reports whether a text without a newline at its end is the end of a JSON document all the same.
func complete(tail []byte) bool {
	tail = bytes.TrimSpace(tail)
	return len(tail) > 0 && (tail[len(tail)-1] == ']' || tail[len(tail)-1] == '}')
}

func (s *source) fail(err error, where string) error {
	kind := backend.ErrUnreachable
	switch {
	case errors.Is(err, fs.ErrPermission):
		kind = backend.ErrUnauthorised
	case errors.Is(err, context.DeadlineExceeded):
		kind = backend.ErrTimeout
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, errOutput):
		kind = backend.ErrInvalid
	}
	e := backend.Errorf(kind, backend.Clean(where, 200).String(), "%w", err)
	e.Source = s.deps.ID
	return e
}

var errOutput = errors.New("the command prints more than max_body")

func (s *source) run(ctx context.Context) ([]byte, error) {
	if s.deps.Command == nil {
		return nil, errors.New("commands are not available here")
	}
	if s.deps.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.deps.Deadline)
		defer cancel()
	}
	cmd := s.deps.Command(ctx, s.opts.Command)
	// A group of its own, so that the children of a shell end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killWait
	out, said := &capped{limit: int(s.opts.MaxBody)}, &capped{limit: stderrKept, cut: true}
	cmd.Stdout, cmd.Stderr = out, said
	err := cmd.Run()
	switch {
	case out.full:
		return nil, errOutput
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the command did not end in time: %w", ctx.Err())
	case err != nil:
		if text := strings.TrimSpace(said.b.String()); text != "" {
			return nil, fmt.Errorf("the command failed: %w: %s", err, s.deps.Cleaner.Clean(text, 200))
		}
		return nil, fmt.Errorf("the command failed: %w", err)
	}
	return out.b.Bytes(), nil
}

// capped keeps so much of an output; more ends the command, or is dropped when cut is set.
type capped struct {
	b     bytes.Buffer
	limit int
	cut   bool
	full  bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - c.b.Len()
	if len(p) <= room {
		return c.b.Write(p)
	}
	c.full = true
	if !c.cut {
		return 0, errOutput
	}
	c.b.Write(p[:room]) // a buffer's Write never fails
	return len(p), nil
}
