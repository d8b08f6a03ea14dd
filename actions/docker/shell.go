package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
)

// longestShell bounds how long a shell may be open: a forgotten one ends.
const longestShell = 12 * time.Hour

// shells are tried in this order.
var shells = [...]string{"bash", "sh"}

// UseTerminal gives a shell the person's terminal.
func (e *effect) UseTerminal(t actions.Terminal) { e.client.terminal = t }

// shell opens a shell in the container on the person's terminal, and returns when it has ended. What is typed and shown is kept
// nowhere.
func (m *mutatingClient) shell(ctx context.Context, b *containerInfo, _ actions.Target) (actions.Done, error) {
	if m.terminal == nil {
		return actions.Done{}, errors.New("there is no terminal on this machine to open the shell on")
	}
	argv, dir, err := m.findShell(ctx, b)
	if err != nil {
		return actions.Done{}, err
	}
	var done actions.Done
	err = m.terminal.Take(ctx, func(ctx context.Context, s actions.TerminalSession) error {
		if _, err := fmt.Fprintf(s.Out, "%s in %s; exit or ctrl+d ends it\r\n", argv, m.clean(b.name)); err != nil {
			return err
		}
		began := m.factory.deps.Now()
		code, err := m.talk(ctx, b, argv, dir, s)
		took := backend.Age(m.factory.deps.Now().Sub(began))
		switch {
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("the shell was left after %s; what it began may be running still", took)
		case err != nil:
			return fmt.Errorf("the shell was lost after %s: %w", took, err)
		}
		done = actions.Done{Text: backend.Textf("%s ended with exit code %d after %s", backend.Clean(argv, 20), code, took), Proved: true}
		if dir != "" {
			done.Notes = []backend.Safe{backend.Text("its working directory cannot be entered: the shell began in /")}
		}
		return nil
	})
	return done, err
}

// findShell finds a shell that the image has, by a command that does nothing, and a directory that it can begin in: empty is
// the container's own. An engine says only in the terminal itself that a program is missing, so that it must be known before.
func (m *mutatingClient) findShell(ctx context.Context, b *containerInfo) (argv, dir string, err error) {
	var said []string
	for _, name := range shells {
		for _, dir := range []string{"", "/"} {
			r, err := m.run(ctx, b, command{argv: []string{name, "-c", "exit 0"}, dir: dir})
			if err != nil {
				return "", "", err
			}
			if r.ok() {
				return name, dir, nil
			}
			if dir == "" || len(said) == 0 {
				said = append(said, fmt.Sprintf("%s: %s", name, r.said))
			}
			if r.trouble == troubleProgram {
				break // in no directory
			}
		}
	}
	return "", "", fmt.Errorf("no shell begins in it: %s", strings.Join(said, "; "))
}

// talk connects a shell with the terminal until the shell ends.
func (m *mutatingClient) talk(ctx context.Context, b *containerInfo, name, dir string, s actions.TerminalSession) (code int, err error) {
	size := client.ConsoleSize{}
	select {
	case now := <-s.Sizes:
		size = client.ConsoleSize{Height: now.Height, Width: now.Width}
	default:
	}
	var env []string
	if s.Name != "" {
		env = []string{"TERM=" + s.Name}
	}
	var id string
	if _, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		res, err := m.api.ExecCreate(ctx, b.ID, client.ExecCreateOptions{Cmd: []string{name}, Env: env, WorkingDir: dir, TTY: true, ConsoleSize: size,
			AttachStdin: true, AttachStdout: true, AttachStderr: true})
		id = res.ID
		return err
	}); err != nil {
		return 0, err
	}
	stream, err := m.api.ExecAttach(ctx, id, client.ExecAttachOptions{TTY: true, ConsoleSize: size})
	if err != nil {
		return 0, errors.New(m.words(err).String())
	}
	defer stream.Close()
	left := context.AfterFunc(ctx, stream.Close)
	defer left()
	m.firstSize(ctx, id, size)
	over := make(chan struct{})
	defer close(over)
	m.factory.deps.Spawn.Go("keys for a shell", func() {
		_, _ = io.Copy(stream.Conn, s.In) // fails when the shell has ended
		_ = stream.CloseWrite()
	})
	m.factory.deps.Spawn.Go("size of a shell", func() { m.resize(ctx, id, s.Sizes, over) })
	if _, err := io.Copy(s.Out, stream.Reader); err != nil || ctx.Err() != nil {
		return 0, errors.Join(ctx.Err(), err)
	}
	ending, cancel := context.WithTimeout(ctx, m.deadline())
	defer cancel()
	res, err := m.api.ExecInspect(ending, id, client.ExecInspectOptions{})
	if err == nil && res.Running { // the connection ended, and the shell did not
		err = errors.New("the engine closed the connection")
	}
	return res.ExitCode, err
}

// triesOfSize is how often an engine is told the first size: it refuses that until the shell has begun.
const triesOfSize = 25

// firstSize gives the shell its size before a key reaches it: engines before 23 do not take it with the order to start.
func (m *mutatingClient) firstSize(ctx context.Context, id string, size client.ConsoleSize) {
	if size == (client.ConsoleSize{}) {
		return
	}
	tick := time.NewTicker(settleExec)
	defer tick.Stop()
	for range triesOfSize {
		one, cancel := context.WithTimeout(ctx, m.deadline())
		_, err := m.api.ExecResize(one, id, client.ExecResizeOptions(size))
		cancel()
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// resize passes the sizes of the terminal on until the shell is over.
func (m *mutatingClient) resize(ctx context.Context, id string, sizes <-chan actions.TerminalSize, over <-chan struct{}) {
	for {
		select {
		case s := <-sizes:
			one, cancel := context.WithTimeout(ctx, m.deadline())
			_, _ = m.api.ExecResize(one, id, client.ExecResizeOptions{Height: s.Height, Width: s.Width}) // the next size may be taken
			cancel()
		case <-over:
			return
		}
	}
}
