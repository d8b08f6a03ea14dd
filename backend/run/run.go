// Package run runs a configured command to its end, within bounds of time and output. It is a leaf: adapters that read
// what a command prints use it, so that all of them end a command, and say what went wrong, in the same way.
package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"sandglass/backend"
)

const (
	stderrKept = 1 << 10
	killWait   = 2 * time.Second // between asking a command to end and closing its pipes
)

// ErrOutput says that a command prints more than it may.
var ErrOutput = errors.New("the command prints more than max_body")

// Output runs argv, without a shell, and returns what it printed, at most maxBytes. It ends the command at the deadline
// of one request. A command that ends with another status than 0 is an error with an *exec.ExitError in its chain and
// the first line of what it said; what it printed is returned all the same.
func Output(ctx context.Context, deps backend.Deps, argv []string, maxBytes int64) ([]byte, error) {
	if deps.Command == nil {
		return nil, errors.New("commands are not available here")
	}
	if deps.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, deps.Deadline)
		defer cancel()
	}
	cmd := deps.Command(ctx, argv)
	Group(cmd)
	out, said := &capped{limit: maxBytes}, &Head{Limit: stderrKept}
	cmd.Stdout, cmd.Stderr = out, said
	sending := deps.SendingCommand(false, argv)
	err := cmd.Run()
	sending.Exited(cmd, out.b.Len(), err)
	switch {
	case out.full:
		return nil, ErrOutput
	case ctx.Err() != nil:
		return nil, fmt.Errorf("the command did not end in time: %w", ctx.Err())
	case err == nil:
		return out.b.Bytes(), nil
	}
	if text := strings.TrimSpace(said.String()); text != "" {
		return out.b.Bytes(), fmt.Errorf("the command failed: %w: %s", err, deps.Cleaner.Clean(text, 200))
	}
	return out.b.Bytes(), fmt.Errorf("the command failed: %w", err)
}

// Kind is what an error of Output means for its source.
func Kind(err error) backend.ErrorKind {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return backend.ErrUnauthorised
	case errors.Is(err, context.DeadlineExceeded):
		return backend.ErrTimeout
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrOutput):
		return backend.ErrInvalid
	}
	return backend.ErrUnreachable
}

// Head keeps the beginning of what is written to it, and drops the rest.
type Head struct {
	Limit int
	b     bytes.Buffer
}

// Write never fails.
func (h *Head) Write(p []byte) (int, error) {
	h.b.Write(p[:min(len(p), max(0, h.Limit-h.b.Len()))])
	return len(p), nil
}

// String is what was kept.
func (h *Head) String() string { return h.b.String() }

// capped keeps an output up to its limit; more ends the command.
type capped struct {
	b     bytes.Buffer
	limit int64
	full  bool
}

func (c *capped) Write(p []byte) (int, error) {
	if int64(len(p)) <= c.limit-int64(c.b.Len()) {
		return c.b.Write(p)
	}
	c.full = true
	return 0, ErrOutput
}
