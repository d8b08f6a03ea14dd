package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strings"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/run"
	"sandglass/backend/wire"
)

// open makes the effect of a call. The acting credential is read here, so that one that is missing stops a plan before
// its first target.
func (c *Call) open(ctx context.Context, deps backend.Deps, act wire.Credential) (actions.Effect, error) {
	deps.Deadline = c.Deadline.Std()
	if deps.Cleaner == nil {
		deps.Cleaner = backend.NewCleaner()
	}
	if len(c.Command) > 0 {
		if deps.Command == nil {
			return nil, errors.New("commands are not available here")
		}
		return &runEffect{call: c, deps: deps}, nil
	}
	actor, err := wire.NewActor(wire.Config{Origins: []string{plain(c.URL)}, Credential: act}, deps)
	if err != nil {
		return nil, err
	}
	if err := actor.Unlock(ctx); err != nil {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	return &sendEffect{call: c, actor: actor}, nil
}

// plain is a URL template as a URL.
func plain(template string) string {
	out, _ := wire.Fill(template, func(string) (string, error) { return "x", nil }, func(s string) string { return s }) // never fails
	return out
}

// sendEffect sends one request per target.
type sendEffect struct {
	call  *Call
	actor *wire.Actor
}

// Do sends the request once.
func (e *sendEffect) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	order, err := e.call.order(values(t.Key, t.Identity))
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was sent: %w", err)
	}
	reply, err := e.actor.Send(ctx, order)
	var lost *wire.LostError
	switch {
	case errors.As(err, &lost):
		return actions.Done{}, &actions.UncertainError{Err: lost}
	case err != nil:
		return actions.Done{}, fmt.Errorf("nothing was sent: %w", err)
	}
	return judge(reply)
}

// judge says what the answer to a request means. A server error may have come after the work was done.
func judge(r *wire.Reply) (actions.Done, error) {
	what := backend.Textf("answered %d", r.Status)
	if name := http.StatusText(r.Status); name != "" {
		what = backend.Textf("%v %s", what, name)
	}
	if !r.Text.IsEmpty() {
		what = backend.Textf("%v: %v", what, r.Text)
	}
	switch s := r.Status; {
	case s >= 200 && s <= 299:
		return actions.Done{Text: what}, nil
	case s == http.StatusConflict, s == http.StatusPreconditionFailed:
		return actions.Done{}, &actions.ChangedError{What: what}
	case s >= 300 && s <= 399:
		return actions.Done{}, fmt.Errorf("%v; it redirects to %s, which is not followed", what, r.Redirect)
	case r.RetryAfter > 0 && (s == http.StatusTooManyRequests || s == http.StatusServiceUnavailable):
		return actions.Done{}, fmt.Errorf("%v; the server asks to wait %v", what, r.RetryAfter)
	case s >= 500 && s != http.StatusNotImplemented && s != http.StatusServiceUnavailable && s != http.StatusHTTPVersionNotSupported:
		return actions.Done{}, &actions.UncertainError{Err: errors.New(what.String())}
	}
	return actions.Done{}, errors.New(what.String())
}

// Close ends connections and drops the credential.
func (e *sendEffect) Close() error { return e.actor.Close() }

// runEffect runs one command per target.
type runEffect struct {
	call *Call
	deps backend.Deps
}

// handedOn are the environment variables that every command gets. None of our own credentials is among them.
var handedOn = [...]string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}

const maxOutput = 4 << 10 // bytes of output that are kept

// Do runs the command once and waits for it. What it leaves running in the background is not waited for.
func (e *runEffect) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	argv, err := e.call.argv(values(t.Key, t.Identity))
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was run: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, e.deps.Deadline)
	defer cancel()
	cmd := e.deps.Command(ctx, argv)
	cmd.Env = e.environment()
	out, errOut := run.Head{Limit: maxOutput}, run.Head{Limit: maxOutput}
	cmd.Stdout, cmd.Stderr = &out, &errOut
	run.Group(cmd)
	sending := e.deps.SendingCommand(true, argv)
	if err := cmd.Start(); err != nil {
		sending.End(err)
		return actions.Done{}, fmt.Errorf("nothing was run: %w", err)
	}
	err = cmd.Wait()
	sending.Exited(cmd, len(out.String()), err)
	said := e.excerpt(out.String())
	if s := e.excerpt(errOut.String()); err != nil && !s.IsEmpty() {
		said = s
	}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		return actions.Done{Text: backend.Textf("%s ended with exit code 0%v", argv[0], after(said))}, nil
	case ctx.Err() != nil:
		return actions.Done{}, &actions.UncertainError{Err: fmt.Errorf("%s did not end within %v and was stopped", argv[0], e.deps.Deadline)}
	case errors.As(err, &exit) && exit.Exited():
		return actions.Done{}, fmt.Errorf("%s ended with exit code %d%v", argv[0], exit.ExitCode(), after(said))
	}
	return actions.Done{}, &actions.UncertainError{Err: fmt.Errorf("%s was ended from outside: %w", argv[0], err)}
}

func after(said backend.Safe) backend.Safe {
	if said.IsEmpty() {
		return said
	}
	return backend.Textf(": %v", said)
}

func (e *runEffect) excerpt(s string) backend.Safe {
	return e.deps.Cleaner.Clean(strings.TrimSpace(s), 160)
}

func (e *runEffect) environment() []string {
	env := []string{} // not nil, which would hand on everything
	if e.deps.Getenv == nil {
		return env
	}
	for _, name := range slices.Concat(handedOn[:], e.call.Pass) {
		if v := e.deps.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// Close has nothing to release.
func (e *runEffect) Close() error { return nil }
