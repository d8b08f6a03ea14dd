package ui

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	xterm "github.com/charmbracelet/x/term"

	"sandglass/backend"
)

// Terminal is where a program reads keys and draws: any pair of streams. Where both are files of a terminal, that is put
// into raw mode and restored.
type Terminal struct {
	In  io.Reader
	Out io.Writer
	// Resize brings the sizes that the terminal takes on, after Viewer.Size. nil: Out is a file, whose terminal is asked.
	Resize <-chan Size
	// Spawn starts the program's own goroutines.
	Spawn backend.Spawner
	// Started is called once the screen is up, with a function that ends the program at once and returns when the
	// terminal is restored; the wiring calls it when a goroutine panics. It may be nil.
	Started func(kill func())
	// Lend is called before the screen is up, with what lends the terminal to others. It may be nil.
	Lend func(Lender)
}

const (
	// quitWithin is how long a program that must end may take to answer.
	quitWithin = time.Second
	// outputWithin is how long a terminal that takes no output may hold up the end of its program.
	outputWithin = 2 * time.Second
)

// Run shows the console until the viewer quits (nil), ctx ends (its cause), or something breaks. The terminal is
// restored in every case, unless it takes no output any more. A panic in the program's own code is a *PanicError. End ctx
// on SIGTERM, SIGHUP and SIGINT; Signals does that.
func Run(ctx context.Context, v Viewer, feed Feed, term Terminal) error {
	leaving, left := context.WithCancel(ctx)
	defer left()
	v.leaving = leaving
	m := New(v, feed)
	defer m.Close()
	g := &guard{model: m, burst: burst{now: v.Now}}
	x := &program{spawn: term.Spawn, out: newOutput(term.Out, term.Spawn), done: make(chan struct{}), leaving: leaving.Done(), left: left}
	defer x.out.giveUp()
	term.Out = x.out.terminal()
	if _, file := term.In.(xterm.File); !file {
		term.In = input{term.In, x.lose}
	}
	x.tea = tea.NewProgram(g, Options(v, term)...)
	term.Spawn.Go("ui: end of the context", func() { x.endWith(ctx) })
	if term.Resize != nil {
		term.Spawn.Go("ui: resize", func() { x.resize(term.Resize) })
	}
	if term.Lend != nil {
		term.Lend(x.lend)
	}
	if term.Started != nil {
		term.Started(x.end)
	}
	_, err := x.tea.Run()
	m.Close() // who ends the process waits for done, and what was left is kept by then
	close(x.done)
	switch {
	case g.failure != nil:
		return g.failure
	case err == nil && x.killed.Load():
		return tea.ErrProgramKilled
	case ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic):
		return context.Cause(ctx)
	case x.lost.Load():
		return ErrLost
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}

// program is what runs on one terminal.
type program struct {
	tea    *tea.Program
	out    *output
	spawn  backend.Spawner
	done   chan struct{} // closed when it has ended
	killed atomic.Bool
	// leaving is closed when it is to end, by left.
	leaving <-chan struct{}
	left    context.CancelFunc
	lost    atomic.Bool
}

// ErrLost says that a viewer's input ended: its far end has gone.
var ErrLost = errors.New("the terminal was lost")

// input tells when it ends. Bubble Tea goes on without one.
type input struct {
	io.Reader
	ended func()
}

func (i input) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	if err != nil {
		i.ended()
	}
	return n, err
}

// lose ends a program whose far end has gone.
func (x *program) lose() {
	if !x.lost.Swap(true) {
		x.spawn.Go("ui: end of the input", func() { x.quit(outputWithin) })
	}
}

// end ends the program from outside and returns when the terminal is restored.
func (x *program) end() {
	x.killed.Store(true)
	x.quit(quitWithin)
}

// endWith ends the program when ctx ends.
func (x *program) endWith(ctx context.Context) {
	select {
	case <-x.done:
	case <-ctx.Done():
		x.quit(outputWithin)
	}
}

// quit asks the program to end, because a killed one closes its input under the goroutine that reads it. One that does
// not answer is killed. A terminal that takes no output is given up.
func (x *program) quit(patience time.Duration) {
	x.left()
	x.spawn.Go("ui: quit", x.tea.Quit)
	if within(patience, x.done) {
		return
	}
	restored := make(chan struct{})
	x.spawn.Go("ui: kill", func() {
		x.tea.Kill()
		close(restored)
	})
	if !within(outputWithin, restored) {
		x.out.giveUp()
		<-restored
	}
}

func within(d time.Duration, done <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// resize passes on what the far end says about its size.
func (x *program) resize(sizes <-chan Size) {
	for {
		select {
		case <-x.done:
			return
		case s, more := <-sizes:
			if !more {
				return
			}
			x.tea.Send(tea.WindowSizeMsg{Width: s.Width, Height: s.Height})
		}
	}
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
