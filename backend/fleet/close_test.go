package fleet

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// closing counts how often it is closed, and how often that was under its poll.
type closing struct {
	scripted
	polling, closed, under atomic.Int32
}

func (c *closing) Poll(ctx context.Context) (backend.Reading, error) {
	c.polling.Add(1)
	defer c.polling.Add(-1)
	return c.scripted.Poll(ctx)
}

func (c *closing) Close() error {
	c.closed.Add(1)
	c.under.Add(c.polling.Load())
	return nil
}

// TestASourceIsNotClosedUnderItsPoll: the end does not wait for a poll that ignores it, and that source is closed when it returns.
func TestASourceIsNotClosedUnderItsPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		slow := &closing{scripted: scripted{id: "slow", do: func(context.Context, int) (backend.Reading, error) {
			time.Sleep(time.Minute) // ignores its context
			return backend.Reading{}, nil
		}}}
		quick := &closing{scripted: scripted{id: "quick", do: func(context.Context, int) (backend.Reading, error) { return backend.Reading{}, nil }}}
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
		for _, s := range []backend.Source{slow, quick} {
			f.Add(s, backend.SourceConfig{Kind: "test", Interval: time.Hour, Deadline: 2 * time.Second})
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		f.Run(ctx)
		if took := time.Since(start); took != 6*time.Second {
			t.Errorf("the end took until %s, want a second of grace", took)
		}
		if slow.closed.Load() != 0 || quick.closed.Load() != 1 {
			t.Errorf("closed: slow %d times, quick %d", slow.closed.Load(), quick.closed.Load())
		}
		time.Sleep(time.Minute)
		f.Close()
		if slow.closed.Load() != 1 || quick.closed.Load() != 1 || slow.under.Load()+quick.under.Load() != 0 {
			t.Errorf("closed: slow %d times, quick %d, under a poll %d", slow.closed.Load(), quick.closed.Load(), slow.under.Load()+quick.under.Load())
		}
	})
}
