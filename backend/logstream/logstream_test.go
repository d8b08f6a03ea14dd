package logstream

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
)

// sink remembers what it took.
type sink struct {
	mu     sync.Mutex
	lines  []string
	states []string
}

func (s *sink) Line(log int, l backend.LogLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprintf("%d %s", log, l.Text))
}

func (s *sink) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

func (s *sink) State(log int, x State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.states = append(s.states, fmt.Sprintf("%d live=%t ended=%t err=%v again=%t", log, x.Live, x.Ended, x.Err, x.Again > 0))
}

func at(second int) time.Time { return time.Unix(1795800000+int64(second), 0) }

func line(second int, text string) backend.LogLine {
	l := backend.LogLine{Text: []byte(text)}
	if second > 0 {
		l.At = at(second)
	}
	return l
}

func log(read func(ctx context.Context, q backend.LogQuery, to backend.LogSink) error) backend.Log {
	return backend.Log{Name: backend.Text("x"), Read: read}
}

// The pasts of several logs are merged by their times; a line without a time stays behind the one before it.
func TestPastsAreMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := log(func(_ context.Context, _ backend.LogQuery, to backend.LogSink) error {
			to.Line(line(1, "a1"))
			to.Line(line(5, "a5"))
			to.Line(line(0, "a5 goes on"))
			to.Live()
			to.Line(line(2, "new, whatever its time"))
			return nil
		})
		b := log(func(_ context.Context, _ backend.LogQuery, to backend.LogSink) error {
			time.Sleep(time.Second)
			to.Line(line(3, "b3"))
			to.Line(line(7, "b7"))
			return nil
		})
		var s sink
		Run(t.Context(), []backend.Log{a, b}, Options{}, &s)
		if want := "0 a1|0 new, whatever its time|1 b3|0 a5|0 a5 goes on|1 b7"; strings.Join(s.lines, "|") != want {
			t.Errorf("%q", s.lines)
		}
	})
}

// A log that hangs holds the others back for two seconds and no longer.
func TestAHangingLogHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		hangs := log(func(ctx context.Context, _ backend.LogQuery, _ backend.LogSink) error {
			<-ctx.Done()
			return ctx.Err()
		})
		works := log(func(ctx context.Context, _ backend.LogQuery, to backend.LogSink) error {
			to.Line(line(1, "old"))
			to.Live()
			<-ctx.Done()
			return ctx.Err()
		})
		var s sink
		done := make(chan struct{})
		go func() {
			Run(ctx, []backend.Log{hangs, works}, Options{Query: backend.LogQuery{Follow: true}}, &s)
			close(done)
		}()
		time.Sleep(settleWithin - time.Millisecond)
		synctest.Wait()
		if got := s.got(); len(got) > 0 {
			t.Errorf("not held back: %q", got)
		}
		time.Sleep(2 * time.Millisecond)
		synctest.Wait()
		if got := s.got(); !slices.Equal(got, []string{"1 old"}) {
			t.Errorf("%q", got)
		}
		cancel()
		<-done // every goroutine has returned
	})
}

// A log that ends or breaks is opened again after the newest line that came, with pauses that grow; one that is gone is not.
func TestOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		n := 0
		breaks := log(func(_ context.Context, q backend.LogQuery, to backend.LogSink) error {
			asked = append(asked, fmt.Sprintf("tail %d since %d", q.Tail, q.Since.Unix()-at(0).Unix()))
			switch n++; n {
			case 1:
				to.Line(line(4, "first"))
				to.Live()
				return nil
			case 2:
				return errors.New("broken")
			}
			return backend.Errorf(backend.ErrGone, "x", "no such container")
		})
		var s sink
		began := time.Now()
		Run(t.Context(), []backend.Log{breaks}, Options{Query: backend.LogQuery{Tail: 9, Since: at(0), Follow: true}}, &s)
		if took := time.Since(began); took < time.Second || took > 6*time.Second {
			t.Errorf("it took %s", took)
		}
		if !slices.Equal(asked, []string{"tail 9 since 0", "tail 9 since 4", "tail 9 since 4"}) {
			t.Errorf("asked %q", asked)
		}
		want := []string{"0 live=true ended=false err=<nil> again=false", "0 live=true ended=true err=<nil> again=true", "0 live=true ended=false err=broken again=true",
			"0 live=true ended=false err=gone: x: no such container again=false"}
		if !slices.Equal(s.states, want) {
			t.Errorf("told %q", s.states)
		}
	})
}
