package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/api/types/container"

	"sandglass/actions"
	"sandglass/backend"
)

// typist is a terminal on which a text is typed, the first part before the shell is there.
type typist struct {
	keys  string
	sizes []actions.TerminalSize
	taken int

	mu  sync.Mutex
	out bytes.Buffer
	// react is called with what is on the screen whenever that grows; what it returns is typed.
	react  func(screen string) string
	typing *io.PipeWriter
}

func (y *typist) Write(p []byte) (int, error) {
	y.mu.Lock()
	y.out.Write(p)
	more := ""
	if y.react != nil {
		more = y.react(y.out.String())
	}
	y.mu.Unlock()
	if more != "" {
		_, _ = io.WriteString(y.typing, more)
	}
	return len(p), nil
}

func (y *typist) screen() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.out.String()
}

func (y *typist) Take(ctx context.Context, session func(context.Context, actions.TerminalSession) error) error {
	y.taken++
	r, w := io.Pipe()
	y.typing = w
	defer func() { _ = r.Close() }()
	sizes := make(chan actions.TerminalSize, len(y.sizes))
	for _, s := range y.sizes {
		sizes <- s
	}
	return session(ctx, actions.TerminalSession{In: io.MultiReader(strings.NewReader(y.keys), r), Out: y, Sizes: sizes, Name: "vt100"})
}

func (p *sourceFixture) shell(id string, y *typist) (actions.Done, error) {
	p.t.Helper()
	c := p.look(actions.Shell, id)
	if !c.Why.IsEmpty() {
		p.t.Fatalf("no shell is offered: %s", c.Why)
	}
	e, err := p.parts[actions.Shell].Open(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	e.(actions.TerminalUser).UseTerminal(y)
	return e.Do(p.t.Context(), actions.Target{Key: c.Key, Label: c.Label, Identity: c.Identity}, actions.Params{})
}

func TestRealEngineShell(t *testing.T) { onEngines(t, realEngineShell) }

// What was typed before the shell was there reaches it; it has a terminal of the right size and name, and its end is told.
func realEngineShell(t *testing.T, y *engineFixture) {
	id := y.Container("shell", container.Config{Image: y.full(), WorkingDir: "/work"}, container.HostConfig{})
	p := y.place()
	on := &typist{keys: "stty size; echo name=$TERM; pwd; test -t 0 && echo a-terminal; exit 7\n", sizes: []actions.TerminalSize{{Width: 91, Height: 33}}}
	done, err := p.shell(id, on)
	if err != nil || !done.Proved || !strings.Contains(done.Text.String(), "ended with exit code 7") {
		t.Fatalf("%+v, %v; on the screen %q", done, err, on.screen())
	}
	for _, want := range []string{"33 91", "name=vt100", "\n/work", "\na-terminal"} {
		if !strings.Contains(on.screen(), want) {
			t.Errorf("%q is not on the screen: %q", want, on.screen())
		}
	}
	if strings.Contains(on.screen(), "executable file") {
		t.Errorf("the missing shell is on the screen: %q", on.screen())
	}
}

func TestRealEngineShellWhoseContainerDies(t *testing.T) {
	onEngines(t, realEngineShellWhoseContainerDies)
}

// A shell whose container is killed ends, and the terminal comes back.
func realEngineShellWhoseContainerDies(t *testing.T, y *engineFixture) {
	id := y.Container("dies", container.Config{Image: y.full(), WorkingDir: "/work"}, container.HostConfig{})
	p := y.place()
	stopped := false
	on := &typist{keys: "echo be''gun\n"}
	on.react = func(screen string) string {
		if !stopped && strings.Contains(screen, "begun") {
			stopped = true
			backend.NewSpawner(nil).Go("kill the container", func() { y.kill(id) })
		}
		return ""
	}
	done, err := p.shell(id, on)
	if !stopped || on.taken != 1 || err == nil && !strings.Contains(done.Text.String(), "exit code 137") {
		t.Errorf("%+v, %v; on the screen %q", done, err, on.screen())
	}
}

func TestRealEngineShellWithoutItsDirectory(t *testing.T) {
	onEngines(t, realEngineShellWithoutItsDirectory)
}

// The directory that is missing is what one looks for: the shell begins in /.
func realEngineShellWithoutItsDirectory(t *testing.T, y *engineFixture) {
	id := y.Container("nodir", container.Config{Image: y.full(), WorkingDir: "/home/ws"}, container.HostConfig{})
	y.inside(id, "rmdir", "/home/ws")
	done, err := y.place().shell(id, &typist{keys: "exit 0\n"})
	if err != nil || !done.Proved || !strings.Contains(joined(done.Notes), "began in /") {
		t.Errorf("%+v, %v", done, err)
	}
}

// Without a terminal nothing is sent.
func TestAShellNeedsATerminal(t *testing.T) {
	f := newFake(t)
	if _, err := f.do(actions.Shell, soon); err == nil || !strings.Contains(err.Error(), "no terminal") {
		t.Errorf("%v", err)
	}
	for _, r := range f.requests() {
		if strings.HasPrefix(r, "POST") {
			t.Errorf("sent %s", r)
		}
	}
}

// An image without a shell says so, and what was tried; nothing of it is drawn on the terminal.
func TestWithoutAShell(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
		if r.Method == http.MethodPost {
			f.fail(w, http.StatusBadRequest, "no such shell")
			return true
		}
		return false
	}
	p := f.parts(soon)[actions.Shell]
	c := lookAt(t, p, known(sandbox()))
	e, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	on := &typist{}
	e.(actions.TerminalUser).UseTerminal(on)
	_, err = e.Do(t.Context(), actions.Target{Key: c.Key, Identity: c.Identity}, actions.Params{})
	var changed *actions.ChangedError
	if err == nil || errors.As(err, &changed) || on.screen() != "" || !strings.Contains(fmt.Sprint(err), "no such shell") {
		t.Errorf("%v; on the screen %q", err, on.screen())
	}
}
