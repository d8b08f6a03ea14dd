package actions

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// The times after which a call that was told to end counts as lost.
const (
	effectGrace  = 10 * time.Second
	lookGrace    = 5 * time.Second
	journalGrace = 5 * time.Second
)

// lostError says that a call broke off or never came back. What it did is not known.
type lostError struct {
	what    string
	running bool // it is still somewhere inside
}

// Error says how the call ended.
func (e *lostError) Error() string { return e.what }

// within calls f on a goroutine of its own and waits for it until grace after ctx ended. A *lostError means that f
// panicked or did not return: one part that breaks must not take the journal's last word with it.
func within[T any](ctx context.Context, spawn backend.Spawner, name string, grace time.Duration, f func() T) (T, error) {
	type result struct {
		value T
		err   error
	}
	got := make(chan result, 1)
	spawn.Go(name, func() {
		var r result
		defer func() {
			if x := recover(); x != nil {
				r.err = &lostError{what: fmt.Sprintf("Sandglass itself broke off%s: %v", whereBroken(), x)}
			}
			got <- r
		}()
		r.value = f()
	})
	select {
	case r := <-got:
		return r.value, r.err
	case <-ctx.Done():
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case r := <-got:
		return r.value, r.err
	case <-t.C:
		return *new(T), &lostError{what: "it did not come back", running: true}
	}
}

// whereBroken names the place of ours that a recovered panic came from, for the report of the mistake.
func whereBroken() string {
	pcs := make([]uintptr, 40)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	for panicked := false; ; {
		f, more := frames.Next()
		switch {
		case strings.HasPrefix(f.Function, "runtime."):
			panicked = panicked || strings.Contains(f.Function, "panic")
		case panicked:
			return fmt.Sprintf(" at %s:%d", f.File[strings.LastIndexByte(f.File, '/')+1:], f.Line)
		}
		if !more {
			return ""
		}
	}
}

// look asks a TargetReader, which can neither take the program with it nor hold it up. The sessions that run on a sandbox belong to
// its identity where the sandbox loses something.
func (c *Control) look(ctx context.Context, l TargetReader, q Question) ([]Candidate, error) {
	cs, err := within(ctx, c.opt.Spawn, "read targets", lookGrace, func() []Candidate { return l.Look(ctx, q) })
	for i := range cs {
		b := q.State.Sandbox(cs[i].Key)
		if b == nil || len(cs[i].Loses) == 0 {
			continue
		}
		on, may := sitting(q.State, b)
		for _, x := range on {
			cs[i].Identity = append(slices.Clip(cs[i].Identity), Fact{factSession, x.id.Raw()})
		}
		for _, x := range may {
			cs[i].Identity = append(slices.Clip(cs[i].Identity), Fact{factCandidate, x.id.Raw()})
		}
	}
	return cs, err
}

// pick is what a TargetReader said about one key. One that says two things of it is believed where it excludes.
func pick(cs []Candidate, k backend.Key) *Candidate {
	var found *Candidate
	for i := range cs {
		if cs[i].Key == k && (found == nil || !cs[i].Why.IsEmpty()) {
			found = &cs[i]
		}
	}
	return found
}
