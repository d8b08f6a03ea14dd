package fleet

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// What a probe proved stands beside what the platform says, whatever readings come after it, until it says nothing about
// the present any more; then it is marked as said of a run before.
func TestWhatWasProvedIsShown(t *testing.T) {
	for name, c := range map[string]struct {
		restart bool
		wait    time.Duration
		shown   bool
	}{"fresh": {false, time.Minute, true}, "almost an hour old": {false, 59 * time.Minute, true}, "older": {false, 62 * time.Minute, true}, "started again": {true, time.Minute, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				key := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("b1")}
				var started atomic.Int64
				started.Store(time.Now().UnixNano())
				shared := &backend.Sandbox{Meta: backend.Meta{Key: key}, Name: backend.Text("web"), IsSandbox: true, Class: backend.SandboxRunning}
				src := &scripted{id: "docker", do: func(context.Context, int) (backend.Reading, error) {
					b := *shared
					b.StartedAt, b.ReadAt = backend.Known(time.Unix(0, started.Load())), time.Now()
					return backend.Reading{Schema: backend.ReadingSchema, Source: "docker", Kind: "docker", Started: time.Now(), At: time.Now(),
						Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}, Sandboxes: []*backend.Sandbox{&b}}, nil
				}}
				began := time.Now()
				f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(began) }, Spawn: backend.NewSpawner(nil), LongestOperation: time.Minute})
				f.Add(src, backend.SourceConfig{Kind: "docker", Interval: 5 * time.Second, Deadline: time.Second})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan struct{})
				go func() { defer close(done); f.Run(ctx) }()
				time.Sleep(6 * time.Second)
				if f.State().Sandbox(key).Observed.IsKnown() {
					t.Error("something is observed that nobody tried")
				}
				f.Observe(key, backendtest.Ran(true, backend.Text("commands run"), time.Now()).Verdicts)
				time.Sleep(2 * time.Second)
				if o, ok := f.State().Sandbox(key).Observed.Get(); !ok || !o.Works() {
					t.Error("what was proved is not shown")
				}
				if c.restart {
					started.Store(time.Now().UnixNano())
				}
				time.Sleep(c.wait)
				o, got := f.State().Sandbox(key).Observed.Get()
				if got != c.shown || o.Past() != c.restart {
					t.Errorf("shown %t after %s: %+v", got, c.wait, o)
				}
				if _, now := f.State().Sandbox(key).Proved(); now == c.restart {
					t.Error("what was proved about one run is taken for another")
				}
				cancel()
				<-done
			})
		})
	}
}
