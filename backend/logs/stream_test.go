package logs

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	apicontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/backend/loglines"
)

func TestCommandOutput(t *testing.T) {
	r := newRig(t, func(o *Options) {
		o.Command = []string{"sh", "-c", `printf '%s\n' '{"msg":"command not in allowlist","sessionId":"a"}'; exec sleep 1000`}
	})
	got := r.poll(0)
	// A busy machine starts the command after the first poll.
	for end := time.Now().Add(time.Minute); total(got.Counts, backend.MetricRejections, "a") == 0 && time.Now().Before(end); {
		got = r.poll(0)
	}
	r.want(got, backend.MetricRejections, "a", 1)
	if len(got.Inputs) != 2 || !got.Degraded.IsEmpty() {
		t.Errorf("inputs %v, degraded %q", got.Inputs, got.Degraded)
	}
}

func TestCommandThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		argv []string
		kind backend.ErrorKind
		says string
	}{
		"exits":   {[]string{"sh", "-c", "echo no cluster >&2; exit 3"}, backend.ErrUnreachable, "exit status 3: no cluster"},
		"ends":    {[]string{"true"}, backend.ErrUnreachable, "needs one that keeps running"},
		"missing": {[]string{"/nonexistent/program"}, backend.ErrInvalid, "no such program"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, func(o *Options) { o.Command = c.argv })
			_, err := r.src.Poll(t.Context())
			if backend.KindOf(err) != c.kind || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// flaky fails at once, every time.
type flaky struct{ starts []time.Time }

func (f *flaky) run(context.Context, time.Time, *intake) error {
	f.starts = append(f.starts, time.Now())
	return errors.New("refused")
}
func (f *flaky) routes() []backend.Route { return nil }

func TestStreamsAreOpenedAgainWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{}
		opts := defaults()
		in := newIntake(time.Now, newPatterns(&opts))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { in.follow(ctx, f, time.Now()); close(done) }()
		time.Sleep(10 * time.Minute) // of the bubble's clock
		cancel()
		<-done
		if n := len(f.starts); n < 10 || n > 20 {
			t.Errorf("%d starts in 10 minutes", n)
		}
		for i := 2; i < len(f.starts); i++ {
			if gap := f.starts[i].Sub(f.starts[i-1]); gap > retryMax || gap < retryFirst/2 {
				t.Errorf("pause %d: %v", i, gap)
			}
		}
	})
}

// fakeEngine serves one container's log: past lines, then what is written to the pipe.
type fakeEngine struct {
	mu     sync.Mutex
	tty    bool
	past   []byte
	live   chan *io.PipeWriter
	asked  []client.ContainerLogsOptions
	broken error
}

func (f *fakeEngine) ContainerInspect(context.Context, string, client.ContainerInspectOptions) (client.ContainerInspectResult, error) {
	return client.ContainerInspectResult{Container: apicontainer.InspectResponse{Config: &apicontainer.Config{Tty: f.tty}}}, f.broken
}

func (f *fakeEngine) ContainerLogs(ctx context.Context, _ string, o client.ContainerLogsOptions) (client.ContainerLogsResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, o)
	if !o.Follow {
		return io.NopCloser(strings.NewReader(string(f.past))), nil
	}
	r, w := io.Pipe()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) })
	f.live <- w
	return r, nil
}

func (f *fakeEngine) Close() error { return nil }

func frame(which byte, text string) []byte {
	b := []byte{which, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(b[4:], uint32(len(text)))
	return append(b, text...)
}

func stamped(at time.Time, text string) string {
	return at.UTC().Format("2006-01-02T15:04:05.000000000Z") + " " + text + "\n"
}

func TestContainerStream(t *testing.T) {
	for _, tty := range []bool{false, true} {
		t.Run(fmt.Sprintf("tty %v", tty), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { containerStream(t, tty) })
		})
	}
}

func containerStream(t *testing.T, tty bool) {
	wrap := func(which byte, text string) []byte {
		if tty {
			return []byte(text)
		}
		return frame(which, text)
	}
	start := time.Now()
	line := `{"msg":"command not in allowlist","sessionId":"a"}`
	e := &fakeEngine{tty: tty, live: make(chan *io.PipeWriter, 1)}
	last := stamped(start.Add(-time.Second), line)
	e.past = append(wrap(1, stamped(start.Add(-10*time.Minute), line)), wrap(2, last)...)
	opts := defaults()
	opts.Container = "agent"
	src, err := newSource(opts, testDeps(t, time.Now))
	if err != nil {
		t.Fatal(err)
	}
	src.origin = &container{engine: e, name: "agent", host: "unix:///x"}
	r := &rig{t: t, src: src, now: start}
	r.want(r.poll(0), backend.MetricRejections, "a", 2)
	w := <-e.live
	if e.asked[0].Since != stampOf(start.Add(-15*time.Minute)) || e.asked[1].Since != stampOf(start.Add(-time.Second)) {
		t.Errorf("asked since %q and %q", e.asked[0].Since, e.asked[1].Since)
	}
	time.Sleep(3 * time.Second)
	fresh := stamped(time.Now(), line)
	for _, b := range [][]byte{wrap(2, last), wrap(1, fresh[:30]), wrap(1, fresh[30:])} {
		if _, err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Wait()
	r.now = time.Now()
	got := r.poll(0)
	r.want(got, backend.MetricRejections, "a", 1)
	if got.Load.Bytes != int64(len(line)+1) {
		t.Errorf("%d bytes: the engine's time stamps are not the log's", got.Load.Bytes)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	if _, err := src.Poll(t.Context()); backend.KindOf(err) != backend.ErrGone {
		t.Errorf("a closed source polls: %v", err)
	}
}

func TestContainerThatIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := defaults()
		opts.Container = "agent"
		src, err := newSource(opts, testDeps(t, time.Now))
		if err != nil {
			t.Fatal(err)
		}
		src.origin = &container{engine: &fakeEngine{broken: errdefs.ErrNotFound}, name: "agent", host: "unix:///x"}
		if _, err := src.Poll(t.Context()); backend.KindOf(err) != backend.ErrGone || !strings.Contains(err.Error(), `"agent"`) {
			t.Errorf("error %v", err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestContainerUsesTheGivenDialler(t *testing.T) {
	for host, want := range map[string]string{"unix:///run/x.sock": "unix /run/x.sock", "tcp://127.0.0.1:2375": "tcp 127.0.0.1:2375"} {
		var dialled string
		deps := testDeps(t, time.Now)
		deps.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
			dialled = network + " " + address
			return nil, errors.New("refused")
		}
		deps.Getenv = func(k string) string { return map[string]string{"DOCKER_HOST": host}[k] }
		c, err := newContainer(&Options{Container: "x"}, deps)
		if err != nil {
			t.Fatal(err)
		}
		opts := defaults()
		err = c.run(t.Context(), t0, newIntake(time.Now, newPatterns(&opts)))
		if backend.KindOf(err) != backend.ErrUnreachable || dialled != want {
			t.Errorf("%s: dialled %q, error %v", host, dialled, err)
		}
		if err := c.engine.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestBadFramesEndTheStream(t *testing.T) {
	var got strings.Builder
	take := func(b []byte, which int) { fmt.Fprintf(&got, "%d%s", which, b) }
	if err := loglines.Demultiplex(strings.NewReader(string(frame(1, "a"))+string(frame(2, "b"))), take); err != nil || got.String() != "0a1b" {
		t.Errorf("%q, %v", got.String(), err)
	}
	for text, want := range map[string]string{
		"\x07\x00\x00\x00\x00\x00\x00\x01x":    "unknown stream 7",
		"\x01\x00\x00\x00\xff\xff\xff\xffx":    "within a frame",
		string(frame(3, "log driver is gone")): "log driver is gone",
		"\x01\x00":                             "unexpected EOF",
	} {
		if err := loglines.Demultiplex(strings.NewReader(text), func([]byte, int) {}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFullQueueStillCounts(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Container = "x"; o.Host = "tcp://127.0.0.1:1" })
	in := r.src.intake
	in.opened()
	line := `{"sessionId":"a","msg":"command not in allowlist","pad":"` + strings.Repeat("x", 100_000) + `"}` + "\n"
	n := queueBytes/len(line) + 50
	for range n {
		in.take([]byte(line), 0, false, false)
	}
	in.take([]byte(`{"sessionId":"a","msg":"[rate-limited] command not in allowlist","suppressedCount":7}`+"\n"), 0, false, false)
	queue, more, _ := in.drain()
	if more.lines < 50 || len(queue)+more.lines != n+1 || more.lostRollups != 0 {
		t.Fatalf("%d queued, %d not", len(queue), more.lines)
	}
	var got backend.Reading
	r.src.analyst.begin(0, time.Second)
	for i := range queue {
		r.src.queued(&queue[i])
	}
	r.src.overflowed(more, &got)
	r.src.analyst.finish(&got, r.now)
	r.want(got, backend.MetricLogLines, "*", float64(n+1))
	r.want(got, backend.MetricRejections, "", float64(more.lines))
	r.want(got, backend.MetricRejections, "a", float64(len(queue)-1)+7)
	if !hasNote(got, "faster than they could be taken apart") {
		t.Errorf("notes %v", got.Notes)
	}
}

// TestOutputBeforeItsStartIsNoted: a program may write before its start is noted here; nothing of that is lost.
func TestOutputBeforeItsStartIsNoted(t *testing.T) {
	in := newIntake(time.Now, nil)
	out := &commandOutput{in: in, open: sync.OnceFunc(in.opened)}
	if _, err := out.Write([]byte("one\nhalf")); err != nil {
		t.Fatal(err)
	}
	out.open() // what follows the start
	if _, err := out.Write([]byte(" two\n")); err != nil {
		t.Fatal(err)
	}
	queue, _, status := in.drain()
	if !status.open || len(queue) != 2 || queue[1].size != len("half two\n") {
		t.Errorf("open %v, lines %+v", status.open, queue)
	}
}
