//go:build unix

package app

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend"
)

// LocalTerminal is this process's terminal, for a verb that takes it over; nil where there is none. ends is the program's
// context: what holds the terminal is left when it ends.
func (s *Station) LocalTerminal(ends context.Context) actions.Terminal {
	if !term.IsTerminal(os.Stdin.Fd()) || !term.IsTerminal(os.Stdout.Fd()) {
		return nil
	}
	return localTerminal{s, ends}
}

type localTerminal struct {
	station *Station
	ends    context.Context
}

// Take puts the terminal into raw mode for a session and restores it afterwards, also when a goroutine panics meanwhile.
func (l localTerminal) Take(ctx context.Context, session func(context.Context, actions.TerminalSession) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(l.ends, cancel)
	defer stop()
	before, err := term.MakeRaw(os.Stdin.Fd())
	if err != nil {
		return err
	}
	restore := func() { _ = term.Restore(os.Stdin.Fd(), before) } // it is lost when this fails
	defer restore()
	on := &screen{restore: restore}
	if crash := l.station.app.Crash; crash != nil {
		crash.screenUp(on, l.station)
		defer crash.screenDown(on)
	}
	return session(ctx, actions.TerminalSession{In: &keysOf{ctx: ctx, file: os.Stdin}, Out: os.Stdout, Sizes: sizesOf(ctx, l.station.app.Spawn), Name: os.Getenv("TERM")})
}

// keysOf reads a terminal until ctx ends, and leaves what is typed after that to the next reader.
type keysOf struct {
	ctx  context.Context
	file *os.File
}

// pollMS is how often a waiting read looks whether the session is over, in milliseconds.
const pollMS = 100

// Read waits for keys.
func (k *keysOf) Read(p []byte) (int, error) {
	for k.ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: int32(k.file.Fd()), Events: unix.POLLIN}} // #nosec G115 -- a small number
		n, err := unix.Poll(fds, pollMS)
		switch {
		case err == unix.EINTR, err == nil && n == 0:
		case err != nil:
			return 0, err
		case k.ctx.Err() != nil: // the session ended while it waited: the key is the next reader's
		default:
			return k.file.Read(p)
		}
	}
	return 0, io.EOF
}

// sizesOf tells the terminal's size, and each later one, until ctx ends. Of sizes that nobody took only the newest is kept.
func sizesOf(ctx context.Context, spawn backend.Spawner) <-chan actions.TerminalSize {
	sizes := make(chan actions.TerminalSize, 1)
	changed := make(chan os.Signal, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	tell := func() {
		w, h, err := term.GetSize(os.Stdout.Fd())
		if err != nil || w <= 0 || h <= 0 {
			return
		}
		select {
		case <-sizes:
		default:
		}
		sizes <- actions.TerminalSize{Width: uint(w), Height: uint(h)}
	}
	tell()
	spawn.Go("size of the terminal", func() {
		defer signal.Stop(changed)
		for {
			select {
			case <-changed:
				tell()
			case <-ctx.Done():
				return
			}
		}
	})
	return sizes
}
