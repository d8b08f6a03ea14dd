package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/run"
)

// maxOutput bounds what is kept of a command's output, in bytes.
const maxOutput = 4 << 10

// settleExec is how often the engine is asked whether a command whose output ended is over.
const settleExec = 20 * time.Millisecond

// startFailure is why a command did not begin.
type startFailure int

const (
	troubleNone     startFailure = iota // it began
	troubleMissing                      // its working directory is missing
	troubleNoDir                        // its working directory is not a directory
	troubleLoop                         // its working directory is a link that leads back to itself
	troubleUnlinked                     // its working directory was removed under a mount
	troubleProgram                      // the image has no such program
	troubleDenied                       // its user may not enter its working directory
	troubleOther
)

// commandResult is how a command ended.
type commandResult struct {
	trouble startFailure
	code    int
	said    backend.Safe // what it printed, or why it did not begin
	raw     string       // the same, raw
	cut     bool         // there was more
	took    time.Duration
}

func (r commandResult) ok() bool { return r.trouble == troubleNone && r.code == 0 }

// command is a command to run in a container.
type command struct {
	argv []string
	dir  string // empty: the container's working directory
	// ends says that the command is killed when it hangs; the error is then a *hungError.
	ends bool
}

// troubleOf reads why the engine's runtime could not begin a command. The words are those of runc ("chdir to cwd …",
// "outside of container mount namespace root", "executable file not found in $PATH") and of crun.
func troubleOf(text string) startFailure {
	low := strings.ToLower(text)
	switch {
	case strings.Contains(low, "outside of container mount namespace root"):
		return troubleUnlinked
	case backend.NoWorkDir(low):
		return troubleMissing
	case strings.Contains(low, "chdir") && strings.Contains(low, "not a directory"):
		return troubleNoDir
	case strings.Contains(low, "chdir") && strings.Contains(low, "too many levels of symbolic links"):
		return troubleLoop
	case strings.Contains(low, "chdir") && strings.Contains(low, "permission denied"):
		return troubleDenied
	case strings.Contains(low, "executable file not found"), strings.Contains(low, "executable file `") && strings.Contains(low, "not found"),
		strings.Contains(low, "exec: ") && strings.Contains(low, "no such file or directory"):
		return troubleProgram
	}
	return troubleOther
}

// refused reports whether the output of a command is the runtime's word that it could not begin. The engine writes it
// into the stream and gives such a command the exit code 126 or 127, Podman also 125.
func refused(code int, text string) bool {
	switch code {
	case 126, 127:
		return strings.HasPrefix(text, "OCI runtime exec failed") || strings.Contains(text, "OCI runtime attempted") || strings.Contains(text, ": OCI permission denied")
	case 125:
		return strings.HasPrefix(text, "Error: ") && strings.Contains(text, ": OCI runtime error")
	}
	return false
}

// run runs a command to its end and takes what it prints. A command that does not end within the deadline is an
// *actions.UncertainError: it goes on in the container, because the engine has no way to end it.
func (m *mutatingClient) run(ctx context.Context, b *containerInfo, c command) (commandResult, error) {
	began := m.factory.deps.Now()
	var id, mark string
	var env []string
	if c.ends {
		mark = newMark()
		env = []string{mark}
	}
	if _, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		res, err := m.api.ExecCreate(ctx, b.ID, client.ExecCreateOptions{Cmd: c.argv, WorkingDir: c.dir, Env: env, AttachStdout: true, AttachStderr: true})
		id = res.ID
		return err
	}); err != nil {
		var uncertain *actions.UncertainError
		if errors.As(err, &uncertain) { // an exec that is never started does nothing
			return commandResult{}, fmt.Errorf("the command was not started: %w", uncertain.Err)
		}
		return commandResult{}, err
	}
	waiting, cancel := context.WithTimeout(ctx, m.deadline())
	defer cancel()
	text, err := m.output(waiting, id)
	code := 0
	if err == nil {
		code, err = m.exitCode(waiting, id)
	}
	if err != nil {
		if c.ends && waiting.Err() != nil {
			err = &hungError{m.factory.deps.Cleaner.Clean(strings.Join(c.argv, " "), 80), m.end(ctx, b, id, mark), m.deadline()}
		}
		return commandResult{}, err
	}
	out := commandResult{code: code, said: m.factory.deps.Cleaner.Clean(strings.TrimSpace(text), 400), raw: text, cut: len(text) >= maxOutput, took: m.factory.deps.Now().Sub(began)}
	if refused(code, text) {
		out.trouble = troubleOf(text)
	}
	return out, nil
}

// output starts an exec and reads what it prints until it ends.
func (m *mutatingClient) output(ctx context.Context, id string) (string, error) {
	ctx, x := watched(ctx)
	stream, err := m.api.ExecAttach(ctx, id, client.ExecAttachOptions{})
	x.lost(err)
	if err != nil {
		var dial *net.OpError
		switch {
		case x.status.Load() >= 400:
			return "", &refusedError{int(x.status.Load()), fmt.Sprintf("the engine refuses to start the command: %s", m.words(err))}
		case errors.As(err, &dial) && dial.Op == "dial":
			return "", fmt.Errorf("not sent, the engine cannot be reached: %s", m.words(err))
		}
		return "", &actions.UncertainError{Err: m.late(ctx, err)}
	}
	defer stream.Close()
	stop := context.AfterFunc(ctx, stream.Close)
	defer stop()
	kept := &run.Head{Limit: maxOutput}
	if _, err := stdcopy.StdCopy(kept, kept, stream.Reader); err != nil || ctx.Err() != nil {
		return "", &actions.UncertainError{Err: m.late(ctx, err)}
	}
	return kept.String(), nil
}

// late words an error of a command that may be running still.
func (m *mutatingClient) late(ctx context.Context, err error) error {
	if ctx.Err() != nil || err == nil {
		return fmt.Errorf("the command did not end within %s and may be running still", backend.Age(m.deadline()))
	}
	return errors.New(m.words(err).String())
}

// exitCode asks for the exit code of a command whose output has ended.
func (m *mutatingClient) exitCode(ctx context.Context, id string) (int, error) {
	tick := time.NewTicker(settleExec)
	defer tick.Stop()
	for {
		res, err := m.api.ExecInspect(ctx, id, client.ExecInspectOptions{})
		switch {
		case err != nil:
			return 0, &actions.UncertainError{Err: m.late(ctx, err)}
		case !res.Running:
			return res.ExitCode, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return 0, &actions.UncertainError{Err: m.late(ctx, nil)}
		}
	}
}
