package backendtest

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"
)

// Options stand for the configuration of a source: they change the decoded defaults.
type Options[O any] func(*O)

// Fixed are the given options, whatever the defaults.
func Fixed[O any](o O) Options[O] { return func(into *O) { *into = o } }

// Decode changes the defaults.
func (o Options[O]) Decode(into any) error {
	opts, ok := into.(*O)
	if !ok {
		return fmt.Errorf("cannot decode into %T", into)
	}
	if o != nil {
		o(opts)
	}
	return nil
}

// Refuse is an error at a key.
func (Options[O]) Refuse(key, format string, args ...any) error {
	return fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...))
}

// Clock is a wall clock that tests move.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock shows the given time.
func NewClock(at time.Time) *Clock { return &Clock{now: at} }

// Now is the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock.
func (c *Clock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Command runs a command as the program does.
func Command(ctx context.Context, argv []string) *exec.Cmd {
	return exec.CommandContext(ctx, argv[0], argv[1:]...)
}
