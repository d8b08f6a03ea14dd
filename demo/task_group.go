package demo

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// errClosed is why the goroutines of a demo end in the normal case.
var errClosed = errors.New("demo: closed")

// taskGroup runs the goroutines of one demo. The first failure, a panic included,
// ends them all and is what wait returns. This package imports nothing of the
// rest of the program, so it has this helper of its own.
type taskGroup struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
}

func newTaskGroup(parent context.Context) *taskGroup {
	ctx, cancel := context.WithCancelCause(parent)
	return &taskGroup{ctx: ctx, cancel: cancel}
}

func (c *taskGroup) start(what string, run func(ctx context.Context) error) {
	c.wg.Go(func() {
		if err := guarded(c.ctx, run); err != nil {
			c.cancel(fmt.Errorf("demo: %s: %w", what, err))
		}
	})
}

func guarded(ctx context.Context, run func(ctx context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return run(ctx)
}

// wait returns the first failure, or nil when the demo was closed or its
// context ended.
func (c *taskGroup) wait() error {
	<-c.ctx.Done()
	cause := context.Cause(c.ctx)
	if errors.Is(cause, errClosed) || errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return nil
	}
	return cause
}

// end stops all goroutines and waits for them.
func (c *taskGroup) end() {
	c.cancel(errClosed)
	c.wg.Wait()
}
