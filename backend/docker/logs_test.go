package docker

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/backend"
)

// logSink remembers the lines of one log.
type logSink struct {
	mu    sync.Mutex
	lines []string
	times []time.Time
	live  int // lines that came before it was live; -1: it is not
}

func (s *logSink) Line(l backend.LogLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := string(l.Text)
	if l.Stderr {
		text = "! " + text
	}
	s.lines, s.times = append(s.lines, text), append(s.times, l.At)
}

func (s *logSink) Live() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = len(s.lines)
}

func (s *logSink) taken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

func logOf(t *testing.T, s *Source, id string) backend.Log {
	t.Helper()
	logs := s.LogsOf(backend.LogAbout{Key: s.key(backend.MustID(id))})
	if len(logs) != 1 {
		t.Fatalf("%d logs", len(logs))
	}
	return logs[0]
}

// The past comes first, and the line that the second request repeats is left out. What no engine writes is an error.
func TestLogIsFollowed(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a"})
	framed := func(w io.Writer, stream byte, text string) {
		_, _ = w.Write(binary.BigEndian.AppendUint32([]byte{stream, 0, 0, 0}, uint32(len(text))))
		_, _ = io.WriteString(w, text)
	}
	stamp := func(i int) string { return fmt.Sprintf("2026-11-27T10:00:%02d.5Z ", i) }
	var asked []string
	bad := false
	f.override = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/logs") {
			return false
		}
		q := r.URL.Query()
		asked = append(asked, "tail="+q.Get("tail")+" follow="+q.Get("follow"))
		switch {
		case bad:
			_, _ = io.WriteString(w, "<html>not an engine</html>")
		case q.Get("follow") == "":
			framed(w, 1, stamp(1)+"one\r\n"+stamp(2)+"tw")
			framed(w, 2, stamp(2)+"bad\n")
			framed(w, 1, "o\n")
		default:
			framed(w, 1, stamp(2)+"two\n")
			framed(w, 1, stamp(3)+"three\n"+stamp(4)+"last, unfinished")
		}
		return true
	}
	s := plain(f)
	if err := logOf(t, s, "a").Read(t.Context(), backend.LogQuery{Tail: 10}, &logSink{}); backend.KindOf(err) != backend.ErrUnreachable {
		t.Errorf("before any poll: %v", err)
	}
	mustPoll(t, s)
	to := &logSink{live: -1}
	if err := logOf(t, s, "a").Read(t.Context(), backend.LogQuery{Tail: 10, Follow: true}, to); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(to.lines, []string{"one", "! bad", "two", "three", "last, unfinished"}) || to.live != 3 || to.times[0].Second() != 1 {
		t.Errorf("%q, live after %d, %v", to.lines, to.live, to.times)
	}
	if !slices.Equal(asked, []string{"tail=10 follow=", "tail= follow=1"}) {
		t.Errorf("asked %q", asked)
	}
	bad = true
	if err := logOf(t, s, "a").Read(t.Context(), backend.LogQuery{Tail: 10}, to); err == nil || !strings.Contains(err.Error(), "not a log stream") {
		t.Errorf("no log: %v", err)
	}
	if err := logOf(t, s, "gone").Read(t.Context(), backend.LogQuery{Tail: 10}, to); backend.KindOf(err) != backend.ErrGone {
		t.Errorf("no container: %v", err)
	}
}

// A log is no answer: it may be longer than one.
func TestALogMayBeLongerThanAnAnswer(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a"})
	payload := strings.Repeat(strings.Repeat("x", 1023)+"\n", 1024) // 1 MB
	f.override = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/logs") || r.URL.Query().Get("follow") == "" {
			return strings.HasSuffix(r.URL.Path, "/logs")
		}
		for range maxBody>>20 + 2 {
			_, _ = w.Write(binary.BigEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(len(payload))))
			_, _ = io.WriteString(w, payload)
		}
		return true
	}
	s := plain(f)
	mustPoll(t, s)
	var n counting
	if err := logOf(t, s, "a").Read(t.Context(), backend.LogQuery{Tail: 10, Follow: true}, &n); err != nil || n != (maxBody>>20+2)*1024 {
		t.Errorf("%d lines, %v", n, err)
	}
}

type counting int

func (c *counting) Line(backend.LogLine) { *c++ }
func (*counting) Live()                  {}

// TestRealLog follows what a container writes on both of its outputs, through its end and its next start.
func TestRealLog(t *testing.T) { onEngines(t, realLog) }

func realLog(t *testing.T, w *workshop) {
	id := w.container("talks", container.Config{Cmd: []string{"sh", "-c", `echo "out 1"; echo "err 1" >&2; printf '\033[31mred\007\n'; sleep 2; echo "out 2"; sleep 1000`}}, container.HostConfig{})
	tty := w.container("tty", container.Config{Tty: true, Cmd: []string{"sh", "-c", `echo "with a terminal"; sleep 1000`}}, container.HostConfig{})
	s := realSource(t, w.Host)
	if _, err := s.Poll(t.Context()); err != nil {
		t.Fatal(err)
	}
	has := func(to *logSink, lines ...string) func() bool {
		return func() bool {
			got := to.taken()
			return !slices.ContainsFunc(lines, func(l string) bool { return !slices.Contains(got, l) })
		}
	}
	to, ended := &logSink{}, make(chan error, 1)
	go func() {
		ended <- logOf(t, s, id).Read(t.Context(), backend.LogQuery{Tail: 100, Follow: true}, to)
	}()
	eventually(t, "both outputs, and what comes later", has(to, "out 1", "! err 1", "\x1b[31mred\a", "out 2"))
	if at := to.times[0]; time.Since(at) > time.Hour || time.Since(at) < -time.Minute {
		t.Errorf("the time of the first line is %s", at)
	}
	for _, l := range to.taken() {
		if n := countOf(to.taken(), l); n > 1 {
			t.Errorf("%q came %d times", l, n)
		}
	}
	plain := &logSink{}
	if err := logOf(t, s, tty).Read(t.Context(), backend.LogQuery{Tail: 100}, plain); err != nil || !has(plain, "with a terminal")() {
		t.Errorf("with a terminal: %q, %v", plain.taken(), err)
	}
	_, err := w.API.ContainerKill(t.Context(), id, client.ContainerKillOptions{})
	w.do("kill", err)
	if err := <-ended; err != nil {
		t.Errorf("its log ended with %v", err)
	}
	again := &logSink{}
	if err := logOf(t, s, id).Read(t.Context(), backend.LogQuery{Tail: 1}, again); err != nil || len(again.taken()) != 1 || again.taken()[0] != "out 2" {
		t.Errorf("of one that ended: %q, %v", again.taken(), err)
	}
	w.do("remove", w.Remove(id))
	if err := logOf(t, s, id).Read(t.Context(), backend.LogQuery{Tail: 1}, again); backend.KindOf(err) != backend.ErrGone {
		t.Errorf("of one that was removed: %v", err)
	}
}
