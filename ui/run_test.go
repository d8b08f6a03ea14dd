package ui

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// terminal is a real pseudo-terminal and what was written to it.
type terminal struct {
	t           *testing.T
	master, tty *os.File
	before      *term.State
	mu          sync.Mutex
	out         bytes.Buffer
	wrote       chan struct{}
}

func newTerminal(t *testing.T) *terminal {
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Cols: 80, Rows: 24}); err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, master: master, tty: tty, wrote: make(chan struct{}, 1)}
	if x.before, err = term.GetState(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 32<<10)
		for {
			n, err := master.Read(buf)
			x.mu.Lock()
			x.out.Write(buf[:n])
			x.mu.Unlock()
			select {
			case x.wrote <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { _, _ = tty.Close(), master.Close() })
	return x
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.String()
}

// await returns when the terminal has got a text.
func (x *terminal) await(want string) {
	x.t.Helper()
	deadline := time.After(time.Minute)
	for !strings.Contains(x.text(), want) {
		select {
		case <-x.wrote:
		case <-deadline:
			x.t.Fatalf("never saw %q in %q", want, x.text())
		}
	}
}

// clean fails unless the terminal is as it was: modes, screen, cursor.
func (x *terminal) clean() {
	x.t.Helper()
	x.await("\x1b[?1049l")
	x.await("\x1b[?25h")
	after, err := term.GetState(x.tty.Fd())
	if err != nil {
		x.t.Fatal(err)
	}
	if *after != *x.before {
		x.t.Errorf("terminal modes differ: %v, were %v", after, x.before)
	}
	s := x.text()
	if strings.LastIndex(s, "\x1b[?1049l") < strings.LastIndex(s, "\x1b[?1049h") || strings.LastIndex(s, "\x1b[?25h") < strings.LastIndex(s, "\x1b[?25l") {
		x.t.Errorf("the alternate screen or a hidden cursor was left behind")
	}
}

func (x *terminal) run(ctx context.Context, feed Feed, started func(kill func())) <-chan error {
	done := make(chan error, 1)
	v := Viewer{Name: "mara", Environment: "prod-eu", Environ: []string{"TERM=xterm-256color", "SSH_TTY=/dev/pts/9"}, Size: Size{80, 24},
		ColorProfile: colorprofile.ANSI256, Now: time.Now}
	go func() {
		done <- Run(ctx, v, feed, Terminal{In: x.tty, Out: x.tty, Spawn: backend.NewSpawner(nil), Started: started})
	}()
	return done
}

func TestRunQuitLeavesTheTerminalClean(t *testing.T) {
	x := newTerminal(t)
	done := x.run(t.Context(), incidentFeed(), nil)
	x.await("eviction-storm")
	x.await("\x1b[?2026$p") // behind SSH we ask for synchronized output ourselves
	if _, err := x.master.Write([]byte("q")); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("quit ended with %v", err)
	}
	x.clean()
}

func TestRunEndsWithItsContext(t *testing.T) {
	x := newTerminal(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	done := x.run(ctx, incidentFeed(), nil)
	x.await("eviction-storm")
	why := errors.New("SIGTERM")
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("ended with %v, want %v", err, why)
	}
	x.clean()
}

// The wiring calls kill when some goroutine of the program panics; when it returns the terminal is restored.
func TestRunKilledByAPanicElsewhere(t *testing.T) {
	x := newTerminal(t)
	got := make(chan func(), 1)
	done := x.run(t.Context(), incidentFeed(), func(kill func()) { got <- kill })
	kill := <-got
	x.await("eviction-storm")
	backend.NewSpawner(func(string, any, []byte) { kill() }).Go("victim", func() { panic("elsewhere") })
	if err := <-done; err == nil {
		t.Error("a killed program must say so")
	}
	x.clean()
}

type panicFeed struct {
	*fixedFeed
	calls int
}

func (f *panicFeed) Latest() (*fleet.State, *alerts.Board) {
	if f.calls++; f.calls > 1 {
		panic("a bug in our own code")
	}
	return f.fixedFeed.Latest()
}

func TestRunSurvivesAPanicInUpdate(t *testing.T) {
	x := newTerminal(t)
	state, board := incident(time.Now())
	feed := &panicFeed{fixedFeed: newFeed(state, board)}
	done := x.run(t.Context(), feed, nil)
	x.await("eviction-storm")
	feed.set(state, board)
	if err := <-done; err == nil {
		t.Error("a panic must end the program with an error")
	}
	x.clean()
}
