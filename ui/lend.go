package ui

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Lender gives the terminal of a program to use, and returns when the screen is drawn again. Nothing of the program is written to
// the terminal meanwhile. The context of use ends with ctx, and when the program is to end. An error is that of use, or says why
// the terminal could not be given or drawn on again.
type Lender func(ctx context.Context, use func(context.Context) error) error

var errNotLent = errors.New("the console ended before it gave the terminal away")

// lend is a Lender.
func (x *program) lend(ctx context.Context, use func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &loan{ctx: ctx, use: use, ended: make(chan struct{})}
	x.spawn.Go("ui: lend the terminal", func() { x.tea.Send(tea.Exec(l, l.over)()) })
	select {
	case <-l.ended:
		return l.err
	case <-ctx.Done():
	case <-x.leaving:
	case <-x.done:
	}
	if l.begun.Swap(true) { // else it begins no more
		cancel()
		<-l.ended
		return l.err
	}
	return errNotLent
}

// loan is a terminal that is given away once.
type loan struct {
	ctx   context.Context
	use   func(context.Context) error
	begun atomic.Bool
	ended chan struct{}

	// What follows is set before ended is closed.
	err   error
	panic *PanicError
}

// shortestLoan is how long a terminal is lent at least. Bubble Tea's drawing goroutine stops the frame clock after it said that
// it ends: after a shorter loan it can stop the clock that was just started again, and the screen stays empty.
const shortestLoan = 250 * time.Millisecond

// Run uses the terminal, which Bubble Tea released.
func (l *loan) Run() (err error) {
	if l.begun.Swap(true) {
		return errNotLent
	}
	shortest := time.NewTimer(shortestLoan)
	defer func() { <-shortest.C }()
	defer func() {
		if r := recover(); r != nil {
			l.panic = &PanicError{Reason: r, Stack: debug.Stack()}
			err = l.panic
		}
	}()
	return l.use(l.ctx)
}

// over is called when Bubble Tea has the terminal again. A panic ends the program.
func (l *loan) over(err error) tea.Msg {
	l.err = err
	close(l.ended)
	if l.panic != nil {
		return l.panic
	}
	return nil
}

// SetStdin is not needed: use knows its terminal.
func (*loan) SetStdin(io.Reader) {}

// SetStdout is not needed either.
func (*loan) SetStdout(io.Writer) {}

// SetStderr is not needed either.
func (*loan) SetStderr(io.Writer) {}
