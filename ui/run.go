package ui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"sandglass/backend"
)

// Terminal is where a program reads keys and draws.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	// Spawn starts the program's own goroutines.
	Spawn backend.Spawner
	// Started is called once the screen is up, with a function that ends the program at once and returns when the
	// terminal is restored; the wiring calls it when a goroutine panics. nil: nobody wants it.
	Started func(kill func())
}

// stalled is how long a terminal that takes no output may hold up the end of the program.
const stalled = 2 * time.Second

// deaf is how long a program that must end may take to hear of it.
const deaf = time.Second

// Run shows the console until the viewer quits (nil), ctx ends (its cause), or something breaks. The terminal is
// restored in every case. End ctx on SIGTERM, SIGHUP and SIGINT; Signals does that.
func Run(ctx context.Context, v Viewer, feed Feed, term Terminal) error {
	m := New(v, feed)
	defer m.Close()
	g := &guard{model: m}
	p := tea.NewProgram(g, Options(v, term)...)
	done := make(chan struct{})
	term.Spawn.Go("ui: end of the context", func() { end(ctx, p, done) })
	var killed atomic.Bool
	if term.Started != nil {
		term.Started(func() {
			killed.Store(true)
			kill(p, term.Spawn, done)
		})
	}
	_, err := p.Run()
	close(done)
	switch {
	case g.failure != nil:
		return g.failure
	case err == nil && killed.Load():
		return tea.ErrProgramKilled
	case ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic):
		return context.Cause(ctx)
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}

// kill ends the program and returns when the terminal is restored. It asks first, because a killed program closes its
// input under the goroutine that reads it; only one that does not listen any more is killed.
func kill(p *tea.Program, spawn backend.Spawner, done <-chan struct{}) {
	spawn.Go("ui: kill", p.Quit)
	t := time.NewTimer(deaf)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
		p.Kill()
		<-done
	}
}

// end quits the program when ctx ends, and kills it when the terminal does not let it quit.
func end(ctx context.Context, p *tea.Program, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	quit := time.AfterFunc(stalled, p.Kill)
	defer quit.Stop()
	p.Quit()
	<-done
}

// Options are how Bubble Tea runs a Model for this viewer: in a terminal, or in a session of an SSH server.
func Options(v Viewer, term Terminal) []tea.ProgramOption {
	split := &splitKeys{now: v.Now}
	opts := []tea.ProgramOption{
		tea.WithInput(term.In), tea.WithOutput(term.Out), tea.WithEnvironment(v.Environ), tea.WithFPS(framesPerSec),
		tea.WithoutSignalHandler(), tea.WithWindowSize(v.Size.Width, v.Size.Height),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if _, suspend := msg.(tea.SuspendMsg); suspend && !v.CanSuspend {
				return nil
			}
			return split.filter(msg)
		}),
	}
	if v.ColorProfile != colorprofile.Unknown {
		opts = append(opts, tea.WithColorProfile(v.ColorProfile))
	}
	return opts
}

// Signals returns a context that ends on SIGINT, SIGTERM and SIGHUP.
func Signals(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}
