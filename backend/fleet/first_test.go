package fleet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// inParts is a source that gives a list after 20 ms, and everything 30 ms later.
type inParts struct{ *scripted }

func (s inParts) PollParts(ctx context.Context, part func(backend.Reading)) (backend.Reading, error) {
	time.Sleep(20 * time.Millisecond)
	part(backend.Reading{Scopes: []backend.Scope{{Kind: backend.KindWorkspace}}, Workspaces: []*backend.Workspace{ws("a", "x", "listed")}})
	time.Sleep(30 * time.Millisecond)
	return s.Poll(ctx)
}

func newInParts(id string) inParts {
	return inParts{&scripted{id: id, do: func(context.Context, int) (backend.Reading, error) {
		return backend.Reading{Scopes: []backend.Scope{whole(backend.KindWorkspace)}, Workspaces: []*backend.Workspace{ws("a", "x", "open")}}, nil
	}}}
}

// The first Answer of each source is in a State at once; what follows waits out the pause between States.
func TestTheFirstAnswerOfASourceDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
		quick := answers("quick")
		for _, s := range []backend.Source{quick, newInParts("h")} {
			f.Add(s, backend.SourceConfig{Kind: "test", Interval: 5 * time.Second, Deadline: time.Second})
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx) }()
		at := func(after time.Duration, quick, parts SourceStatus, rows string) {
			t.Helper()
			time.Sleep(after - time.Since(start))
			synctest.Wait()
			st := f.State()
			if st.Source("quick").Status != quick || st.Source("h").Status != parts {
				t.Errorf("after %s: quick %s, in parts %s; want %s, %s", after, st.Source("quick").Status, st.Source("h").Status, quick, parts)
			}
			wantNames(t, st, rows)
		}
		at(time.Millisecond, StatusOK, StatusStarting, "a/x=open ")
		at(21*time.Millisecond, StatusOK, StatusStarting, "a/x=listed ")
		if !f.State().LastCompleteList("h", backend.KindWorkspace).IsZero() {
			t.Error("a part counts as the whole list")
		}
		at(100*time.Millisecond, StatusOK, StatusStarting, "a/x=listed ")
		at(300*time.Millisecond, StatusOK, StatusOK, "a/x=open ")
		cancel()
		<-done
	})
}

// A one-shot command concludes from whole answers alone.
func TestPollOnceTakesNoParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var seen int
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil),
			OnAnswer: func(a *backend.Answer) {
				if a.Reading != nil {
					seen++
				}
			}})
		f.Add(newInParts("h"), backend.SourceConfig{Kind: "test", Interval: 5 * time.Second, Deadline: time.Second})
		wantNames(t, f.PollOnce(t.Context()), "a/x=open ")
		if seen != 1 {
			t.Errorf("%d readings were folded, want 1", seen)
		}
	})
}

// A source gets its own deadline to answer for the first time, whatever short time is asked for; one that never answers ends as
// timed out, and longest ends everything.
func TestRunForWaitsForTheFirstAnswers(t *testing.T) {
	for name, x := range map[string]struct {
		slow           time.Duration // until the source answers
		while, longest time.Duration
		took           time.Duration
		status         SourceStatus
	}{
		"a quick source": {slow: 10 * time.Millisecond, while: time.Second, longest: 55 * time.Second, took: time.Second, status: StatusOK},
		"a slow link":    {slow: 8 * time.Second, while: time.Second, longest: 55 * time.Second, took: 8 * time.Second, status: StatusOK},
		"no answer":      {slow: time.Hour, while: time.Second, longest: 55 * time.Second, took: 15 * time.Second, status: StatusDown},
		"a short limit":  {slow: 8 * time.Second, while: time.Second, longest: 3 * time.Second, took: 3 * time.Second, status: StatusStarting},
		"a long while":   {slow: 10 * time.Millisecond, while: 9 * time.Second, longest: 3 * time.Second, took: 9 * time.Second, status: StatusOK},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
			f.Add(&scripted{id: "s", do: func(ctx context.Context, _ int) (backend.Reading, error) {
				select {
				case <-time.After(x.slow):
					return backend.Reading{}, nil
				case <-ctx.Done():
					return backend.Reading{}, ctx.Err()
				}
			}}, backend.SourceConfig{Kind: "test", Interval: 5 * time.Second, Deadline: 5 * time.Second})
			f.RunFor(t.Context(), x.while, x.longest)
			if took := time.Since(start); took < x.took || took > x.took+time.Second {
				t.Errorf("%s: it took %s, want %s", name, took, x.took)
			}
			if s := f.State().Source("s").Status; s != x.status {
				t.Errorf("%s: the source is %s", name, s)
			}
			synctest.Wait()
		})
	}
}
