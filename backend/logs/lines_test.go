package logs

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// readLines is a sink that remembers.
type readLines struct {
	mu    sync.Mutex
	lines []string
	times []time.Time
	live  bool
}

func (r *readLines) Line(l backend.LogLine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines, r.times = append(r.lines, string(l.Text)), append(r.times, l.At)
}

func (r *readLines) Live() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live = true
}

func (r *readLines) taken() ([]string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines), r.live
}

func logFor(t *testing.T, set func(*Options), names ...[]string) backend.Log {
	t.Helper()
	src, err := Kind().New(backendtest.Options[Options](set), testDeps(t, time.Now))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.(backend.Closer).Close() })
	logs := src.(backend.LogSource).LogsOf(backend.LogAbout{Names: names})
	if len(logs) != 1 {
		t.Fatalf("%d logs", len(logs))
	}
	return logs[0]
}

func until(t *testing.T, r *readLines, want ...string) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(30 * time.Second)
	defer end.Stop()
	for {
		got, live := r.taken()
		if slices.Equal(got, want) && live {
			return
		}
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("got %q, want %q, live %t", got, want, live)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Of shared files those lines are read that name the subject, the past of all files in the order of its times, then what comes,
// through rotation and truncation.
func TestLinesOfFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.log"), filepath.Join(dir, "b.log")
	write(t, a, "2026-11-27T10:00:01Z s1 first of a\n2026-11-27T10:00:02Z s12 is another\n2026-11-27T10:00:05Z (s1) third\n")
	write(t, b, `{"time":"2026-11-27T10:00:03Z","session":"s1","msg":"second"}`+"\nno name here\nend of s1 without")
	r := &readLines{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- logFor(t, func(o *Options) { o.Files = []string{filepath.Join(dir, "*.log")} }, []string{"s1"}).Read(ctx, backend.LogQuery{Tail: 10, Follow: true}, r)
	}()
	first := []string{"2026-11-27T10:00:01Z s1 first of a", `{"time":"2026-11-27T10:00:03Z","session":"s1","msg":"second"}`, "2026-11-27T10:00:05Z (s1) third"}
	until(t, r, first...)
	if at := r.times[1]; !at.Equal(time.Date(2026, 11, 27, 10, 0, 3, 0, time.UTC)) {
		t.Errorf("the time of a JSON line is %s", at)
	}
	write(t, b, " its end until now\n")
	want := append(first, "end of s1 without its end until now")
	until(t, r, want...)
	if err := os.Rename(a, filepath.Join(dir, "a.1")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.1"), "s1 into the old file\n")
	want = append(want, "s1 into the old file")
	until(t, r, want...)
	write(t, a, "s1 into the new file\n")
	want = append(want, "s1 into the new file")
	until(t, r, want...)
	if err := os.Truncate(b, 0); err != nil {
		t.Fatal(err)
	}
	write(t, b, "s1 after it was emptied\n")
	until(t, r, append(want, "s1 after it was emptied")...)
	cancel()
	if err := <-done; err != context.Canceled {
		t.Errorf("it ended with %v", err)
	}
}

// Only so many of the newest lines are read of the past, and none that is older than asked for.
func TestThePastIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.log")
	write(t, path, strings.Repeat("2026-11-27T10:00:01Z x\n", 500)+"2026-11-27T10:00:02Z y\n2026-11-27T10:00:03Z z\n")
	log := logFor(t, func(o *Options) { o.Files = []string{path} })
	r := &readLines{}
	if err := log.Read(t.Context(), backend.LogQuery{Tail: 3}, r); err != nil || len(r.lines) != 3 || r.lines[2] != "2026-11-27T10:00:03Z z" {
		t.Errorf("%q, %v", r.lines, err)
	}
	r = &readLines{}
	since := time.Date(2026, 11, 27, 10, 0, 2, 0, time.UTC)
	if err := log.Read(t.Context(), backend.LogQuery{Tail: 300, Since: since}, r); err != nil || len(r.lines) != 1 {
		t.Errorf("since: %q, %v", r.lines, err)
	}
	missing := logFor(t, func(o *Options) { o.Files = []string{path + ".gone"} })
	if err := missing.Read(t.Context(), backend.LogQuery{Tail: 3}, r); err == nil || !strings.Contains(err.Error(), "no file matches") {
		t.Errorf("no file: %v", err)
	}
}

// A configured command is run once more. Where it is not followed it is ended after its past; how it failed is said.
func TestLinesOfACommand(t *testing.T) {
	r := &readLines{}
	log := logFor(t, func(o *Options) {
		o.Command = []string{"sh", "-c", "echo s1 a; echo s2 b; echo s1 c; echo broken >&2; exit 3"}
	}, []string{"s1"})
	err := log.Read(t.Context(), backend.LogQuery{Tail: 10, Follow: true}, r)
	if !slices.Equal(r.lines, []string{"s1 a", "s1 c"}) || err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("%q, %v", r.lines, err)
	}
	none := logFor(t, func(o *Options) { o.Command = []string{"/nonexistent/x"} })
	if err := none.Read(t.Context(), backend.LogQuery{Tail: 10}, r); backend.KindOf(err) != backend.ErrInvalid {
		t.Errorf("no program: %v", err)
	}
}

func TestNamesInLines(t *testing.T) {
	for _, c := range []struct {
		line, name string
		want       bool
	}{
		{"web-1", "web-1", true}, {"web-12", "web-1", false}, {"a-web-1", "web-1", false}, {"(web-1)", "web-1", true}, {"web-1.", "web-1", true},
		{"web-12 web-1", "web-1", true}, {"", "x", false}, {"x", "", false}, {`"session":"s1"`, "s1", true}, {"s1/box", "s1", true},
	} {
		if got := holdsName([]byte(c.line), []byte(c.name)); got != c.want {
			t.Errorf("%q in %q: %t", c.name, c.line, got)
		}
	}
}
