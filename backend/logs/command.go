package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/run"
)

// command reads the standard output of a program.
type command struct {
	argv  []string
	start func(ctx context.Context, argv []string) *exec.Cmd
}

func (c *command) routes() []backend.Route {
	return []backend.Route{{Verb: "run", Target: strings.Join(c.argv, " "), Why: "its output is the log; it runs as long as the console"}}
}

func (c *command) run(ctx context.Context, _ time.Time, in *intake) error {
	cmd := c.start(ctx, c.argv)
	run.Group(cmd)
	complaints := &lastBytes{}
	cmd.Stderr = complaints
	out := &commandOutput{in: in, open: sync.OnceFunc(in.opened)}
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			return backend.Errorf(backend.ErrInvalid, c.argv[0], "no such program")
		}
		return backend.Errorf(backend.ErrUnreachable, c.argv[0], "cannot start: %w", err)
	}
	out.open()
	err := cmd.Wait()
	in.ended(false, false)
	if err == nil {
		return backend.Errorf(backend.ErrUnreachable, c.argv[0], "the command ended; a log source needs one that keeps running")
	}
	if said := strings.TrimSpace(complaints.String()); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return backend.Errorf(backend.ErrUnreachable, c.argv[0], "the command failed: %w", err)
}

// commandOutput passes output on; the first bytes end the first poll's wait. They may come before the start of the command is noted here.
type commandOutput struct {
	in   *intake
	open func() // once
}

func (o *commandOutput) Write(b []byte) (int, error) {
	o.open()
	o.in.take(b, 0, false, false)
	o.in.settled()
	return len(b), nil
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct{ b []byte }

var _ io.Writer = (*lastBytes)(nil)

func (l *lastBytes) Write(p []byte) (int, error) {
	l.b = append(l.b, p[max(0, len(p)-stderrBytes):]...)
	l.b = l.b[max(0, len(l.b)-stderrBytes):]
	return len(p), nil
}

func (l *lastBytes) String() string { return string(l.b) }
