package fleet

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// scripted is a source whose answers a test decides.
type scripted struct {
	id    string
	mu    sync.Mutex
	polls []time.Time
	do    func(ctx context.Context, n int) (backend.Reading, error)
}

func (s *scripted) ID() string { return s.id }

func (s *scripted) Poll(ctx context.Context) (backend.Reading, error) {
	s.mu.Lock()
	s.polls = append(s.polls, time.Now())
	n := len(s.polls)
	s.mu.Unlock()
	return s.do(ctx, n)
}

func (s *scripted) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.polls)
}

func answers(id string) *scripted {
	return &scripted{id: id, do: func(context.Context, int) (backend.Reading, error) {
		return backend.Reading{Workspaces: []*backend.Workspace{ws("a", "x", "open")}}, nil
	}}
}

// running runs a Fleet in a bubble and gives the test its States.
func running(t *testing.T, test func(t *testing.T, f *Fleet), sources ...*scripted) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
		for _, s := range sources {
			f.Add(s, backend.SourceConfig{Kind: "test", Interval: 5 * time.Second, Deadline: 2 * time.Second})
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx) }()
		test(t, f)
		cancel()
		<-done
		time.Sleep(2 * time.Hour) // a source that ignores its context ends some day
	})
}

func TestHangingSourceDelaysNobody(t *testing.T) {
	hang := &scripted{id: "hang", do: func(context.Context, int) (backend.Reading, error) {
		time.Sleep(time.Hour) // ignores its context
		return backend.Reading{}, nil
	}}
	good := answers("good")
	running(t, func(t *testing.T, f *Fleet) {
		time.Sleep(61 * time.Second)
		st := f.State()
		if got := good.count(); got != 13 {
			t.Errorf("the good source was polled %d times in a minute, want 13", got)
		}
		if h := st.Source("hang"); h.Status != StatusDown || h.ErrorKind != backend.ErrTimeout || hang.count() != 1 {
			t.Errorf("hanging source: %s %s after %d polls, want down, timeout, 1 in flight", h.Status, h.ErrorKind, hang.count())
		}
		if h := st.Source("good"); h.Status != StatusOK {
			t.Errorf("good source: %s %s", h.Status, h.Error)
		}
	}, hang, good)
}

func TestBackOffDoublesToAMinuteAndNeverEnds(t *testing.T) {
	dead := &scripted{id: "dead", do: func(context.Context, int) (backend.Reading, error) {
		return backend.Reading{}, errors.New("connection refused")
	}}
	running(t, func(t *testing.T, f *Fleet) {
		time.Sleep(time.Hour)
		if n := dead.count(); n < 50 || n > 80 {
			t.Errorf("%d polls in an hour, want about one a minute", n)
		}
		if gap := dead.polls[2].Sub(dead.polls[1]); gap < 8*time.Second || gap > 12*time.Second {
			t.Errorf("second delay %s, want 10s ± 20 %%", gap)
		}
		h := f.State().Source("dead")
		if h.Failures != dead.count() || h.Error.String() != "connection refused" || h.DownFrom.IsZero() {
			t.Errorf("health %+v", h)
		}
	}, dead)
}

func TestOneFailedPollIsNotDown(t *testing.T) {
	s := &scripted{id: "s", do: func(_ context.Context, n int) (backend.Reading, error) {
		if n == 2 || n >= 4 {
			return backend.Reading{}, errors.New("reset by peer")
		}
		return backend.Reading{}, nil
	}}
	running(t, func(t *testing.T, f *Fleet) {
		want := []SourceStatus{StatusOK, StatusDegraded, StatusOK, StatusDegraded, StatusDown}
		for i, status := range want {
			for s.count() < i+1 {
				time.Sleep(100 * time.Millisecond)
			}
			time.Sleep(2 * time.Second)
			if h := f.State().Source("s"); h.Status != status {
				t.Errorf("after poll %d: %s (%s), want %s", i+1, h.Status, h.Error, status)
			}
		}
	}, s)
}

func TestRetryAfterWins(t *testing.T) {
	s := &scripted{id: "s", do: func(_ context.Context, n int) (backend.Reading, error) {
		if n == 1 {
			return backend.Reading{}, &backend.Error{Kind: backend.ErrThrottled, RetryAfter: 7 * time.Minute}
		}
		return backend.Reading{}, nil
	}}
	running(t, func(t *testing.T, f *Fleet) {
		time.Sleep(6*time.Minute + 59*time.Second)
		if s.count() != 1 {
			t.Fatalf("%d polls before the time the source asked for", s.count())
		}
		time.Sleep(2 * time.Second)
		if h := f.State().Source("s"); s.count() != 2 || h.Status != StatusOK || h.Failures != 0 {
			t.Errorf("after it: %d polls, %s", s.count(), h.Status)
		}
	}, s)
}

func TestStatesAreAtMostFourASecond(t *testing.T) {
	s := answers("s")
	running(t, func(t *testing.T, f *Fleet) {
		time.Sleep(time.Second)
		before := f.State().Number
		for range 1000 {
			f.submit(backend.Answer{Source: "s", Reading: &backend.Reading{Source: "s", At: time.Now()}})
			time.Sleep(10 * time.Millisecond)
		}
		if n := f.State().Number - before; n > 41 || n < 35 {
			t.Errorf("%d States in 10 s of a flood, want at most 4 a second", n)
		}
	}, s)
}

func TestSlowStatesRestLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		states := 0
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil),
			OnState: func(*State) { states++; time.Sleep(15 * time.Millisecond) }})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		flooded := make(chan struct{})
		go func() {
			defer close(flooded)
			for ctx.Err() == nil {
				f.submit(backend.Answer{Source: "s", Reading: &backend.Reading{Source: "s", At: time.Now()}})
				time.Sleep(10 * time.Millisecond)
			}
		}()
		f.Run(ctx)
		<-flooded
		if n := states; n < 75 || n > 85 {
			t.Errorf("%d States of 15 ms in two minutes of a flood, want one each 1.515 s", n)
		}
	})
}

func TestDownSourceLeavesItsRowsStale(t *testing.T) {
	s := &scripted{id: "h", do: func(_ context.Context, n int) (backend.Reading, error) {
		if n > 1 {
			return backend.Reading{}, &backend.Error{Kind: backend.ErrUnreachable, Source: "h", Err: errors.New("refused")}
		}
		return backend.Reading{Workspaces: []*backend.Workspace{ws("a", "x", "open")}}, nil
	}}
	running(t, func(t *testing.T, f *Fleet) {
		time.Sleep(2 * time.Second)
		x := f.State().Workspaces.Get(wsKey("a", "x"))
		if _, stale := f.State().StaleWhy(&x.Meta); stale {
			t.Error("stale while its source answers")
		}
		time.Sleep(10 * time.Second)
		why, stale := f.State().StaleWhy(&x.Meta)
		if !stale || why.String() != "h is down: refused" {
			t.Errorf("stale %v: %s", stale, why)
		}
	}, s)
}

func TestPollOnceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		release := make(chan struct{})
		hang := &scripted{id: "hang", do: func(context.Context, int) (backend.Reading, error) {
			<-release
			return backend.Reading{}, nil
		}}
		slices := &scripted{id: "slices", do: func(_ context.Context, n int) (backend.Reading, error) {
			return backend.Reading{Partial: n < 3}, nil
		}}
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
		for _, s := range []*scripted{hang, slices} {
			f.Add(s, backend.SourceConfig{Kind: "test", Interval: 5 * time.Second, Deadline: 2 * time.Second})
		}
		st := f.PollOnce(t.Context())
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %s, want its limit of 9s and a second of grace", took)
		}
		if st.Source("hang").Status != StatusDown || st.Source("slices").Status != StatusOK || slices.count() != 3 {
			t.Errorf("hang %s, slices %s after %d polls", st.Source("hang").Status, st.Source("slices").Status, slices.count())
		}
		close(release)
	})
}

func TestWatchPollsEarly(t *testing.T) {
	s := &watching{scripted: answers("w"), tell: make(chan struct{})}
	synctest.Test(t, func(t *testing.T) {
		s.tell = make(chan struct{})
		start := time.Now()
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
		f.Add(s, backend.SourceConfig{Kind: "test", Interval: time.Minute, Deadline: time.Second})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); f.Run(ctx) }()
		time.Sleep(time.Second)
		s.tell <- struct{}{}
		time.Sleep(time.Second)
		if s.count() != 2 {
			t.Errorf("%d polls a second after a change, want 2", s.count())
		}
		cancel()
		<-done
	})
}

type watching struct {
	*scripted
	tell chan struct{}
}

func (w *watching) Watch(ctx context.Context, changed func()) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.tell:
			changed()
		}
	}
}

// listening is a source that takes what logs tell.
type listening struct {
	scripted
	told []backend.Report
}

func (l *listening) Listen(all []backend.Report) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, all...)
}

// TestPollOnceReadsAgainWhatIsOld: a source that was read long before a slow one ended is read once more, and is not called silent.
func TestPollOnceReadsAgainWhatIsOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
		quick := &scripted{id: "quick", do: func(context.Context, int) (backend.Reading, error) { return backend.Reading{}, nil }}
		slow := &scripted{id: "slow", do: func(context.Context, int) (backend.Reading, error) {
			time.Sleep(time.Minute)
			return backend.Reading{}, nil
		}}
		f.Add(quick, backend.SourceConfig{Kind: "docker", Interval: 5 * time.Second, Deadline: time.Second})
		f.Add(slow, backend.SourceConfig{Kind: "helix", Interval: time.Hour, Deadline: time.Second})
		f.Add(&scripted{id: "down", do: func(context.Context, int) (backend.Reading, error) { return backend.Reading{}, errors.New("no") }}, backend.SourceConfig{Kind: "docker", Interval: 5 * time.Second, Deadline: time.Second})
		st := f.PollOnce(t.Context())
		why, stale := st.StaleWhy(&backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "quick", ID: backend.MustID("a")}})
		if stale || quick.count() != 2 || slow.count() != 1 {
			t.Errorf("stale %v: %s; quick was asked %d times, slow %d", stale, why, quick.count(), slow.count())
		}
	})
}

// TestPollOnceTakesWhatLogsTell: a source that was read before the log is read again, so that one look joins both.
func TestPollOnceTakesWhatLogsTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		platform := &listening{}
		platform.id = "platform"
		platform.do = func(context.Context, int) (backend.Reading, error) {
			w := ws("a", "x", "open")
			platform.mu.Lock()
			defer platform.mu.Unlock()
			if len(platform.told) > 0 {
				w = ws("a", "x", "joined")
			}
			return backend.Reading{Workspaces: []*backend.Workspace{w}}, nil
		}
		log := &scripted{id: "log", do: func(context.Context, int) (backend.Reading, error) {
			time.Sleep(time.Second) // the platform answers sooner
			return backend.Reading{Reports: []backend.Report{{Kind: backend.ReportJoin, At: start}}}, nil
		}}
		f := New(Options{Now: time.Now, Mono: func() time.Duration { return time.Since(start) }, Spawn: backend.NewSpawner(nil)})
		for _, s := range []backend.Source{platform, log} {
			f.Add(s, backend.SourceConfig{Kind: "test", Interval: 5 * time.Second, Deadline: 2 * time.Second})
		}
		wantNames(t, f.PollOnce(t.Context()), "a/x=joined ")
		if platform.count() != 2 || log.count() != 1 {
			t.Errorf("polled %d and %d times", platform.count(), log.count())
		}
	})
}
