package tmpdir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

const cwdVar = "SANDGLASS_TMPDIR_HOLD"

// options decodes into the defaults what a test wants.
type options struct{ set func(*Options) }

func (o options) Decode(into any) error {
	opts, ok := into.(*Options)
	if !ok {
		return errors.New("not this kind's options")
	}
	o.set(opts)
	return nil
}

func (o options) Refuse(key, format string, args ...any) error {
	return fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...))
}

// clock is the injected time.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// TestMain lets the test binary play a process whose working directory is a scratch directory.
func TestMain(m *testing.M) {
	dir := os.Getenv(cwdVar)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := os.Chdir(dir); err != nil {
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, "ready\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func holdDir(t *testing.T, dir string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), cwdVar+"="+dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if n, err := out.Read(make([]byte, 16)); err != nil || n == 0 {
		t.Fatalf("the holding process does not start: %v", err)
	}
	return cmd.Process.Pid
}

func make1(t *testing.T, set func(*Options)) (*Source, *clock) {
	t.Helper()
	c := &clock{t: time.Now().Add(time.Second)}
	src, err := Kind().New(options{set}, backend.Deps{ID: "here", Interval: time.Minute, Deadline: 10 * time.Second, Now: c.now,
		Cleaner: backend.NewCleaner(), Spawn: backend.NewSpawner(nil)})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := src.(*Source)
	if !ok {
		t.Fatalf("%T is not the source", src)
	}
	s.proc = hostfs.Proc{Root: fixture(t)}
	return s, c
}

// fixture is a /proc tree with a mount table, host facts and no process.
func fixture(t *testing.T) string {
	t.Helper()
	p := t.TempDir()
	for name, text := range map[string]string{
		"self/mountinfo": "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n", "meminfo": "MemTotal: 1000 kB\nMemAvailable: 400 kB\n",
		"vmstat": "oom_kill 3\n", "stat": "btime 1700000000\n", "sys/kernel/hostname": "build-7\n",
		"sys/kernel/random/boot_id": "first\n", "pressure/memory": "some avg10=50.00 avg60=0.00 avg300=0.00 total=0\n"} {
		put(t, filepath.Join(p, name), text)
	}
	return p
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func poll1(t *testing.T, s *Source) backend.Reading {
	t.Helper()
	r, err := s.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func only(t *testing.T, r backend.Reading) *backend.Tmpdir {
	t.Helper()
	if len(r.Tmpdirs) != 1 {
		t.Fatalf("%d directories, want 1: %+v", len(r.Tmpdirs), r.Problems)
	}
	return r.Tmpdirs[0]
}

func complete(t *testing.T, r backend.Reading) bool {
	t.Helper()
	for _, s := range r.Scopes {
		if s.Kind == backend.KindTmpdir {
			return s.Complete
		}
	}
	t.Fatal("no scope of scratch directories")
	return false
}
