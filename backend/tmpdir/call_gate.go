package tmpdir

import (
	"context"
	"fmt"
	"sync"
	"time"

	"sandglass/backend"
)

// callGate lets one call through at a time. A call into a dead network file system never returns and cannot be
// ended. Its caller goes on without it, and the gate refuses a second call.
type callGate struct {
	mu    sync.Mutex
	busy  bool
	since time.Time
}

func (g *callGate) enter(now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy {
		return fmt.Errorf("a call made at %s has not returned", g.since.Format(time.TimeOnly))
	}
	g.busy, g.since = true, now
	return nil
}

func (g *callGate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy = false
}

// start runs f on a goroutine of its own if the gate is free. Its result waits in the channel, and is dropped when
// nobody waits for it any more.
func start[T any](spawn backend.Spawner, g *callGate, now time.Time, name string, f func() T) (<-chan T, error) {
	if err := g.enter(now); err != nil {
		return nil, err
	}
	out := make(chan T, 1)
	spawn.Go(name, func() {
		v := f()
		g.leave()
		out <- v
	})
	return out, nil
}

// wait returns what f returned, or false when the context ends first. What is there already counts even then.
func wait[T any](ctx context.Context, c <-chan T) (v T, ok bool) {
	select {
	case v = <-c:
		return v, true
	case <-ctx.Done():
	}
	select {
	case v = <-c:
		return v, true
	default:
		return v, false
	}
}
