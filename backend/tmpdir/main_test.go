package tmpdir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
)

// TestMain lets the test binary play a process whose working directory is a scratch directory.
func TestMain(m *testing.M) {
	backendtest.Roles(m, func(_, dir string, _ func()) error { return os.Chdir(dir) })
}

func make1(t *testing.T, set func(*Options)) (*Source, *backendtest.Clock) {
	t.Helper()
	c := backendtest.NewClock(time.Now().Add(time.Second))
	src, err := Kind().New(backendtest.Options[Options](set), backend.Deps{ID: "here", Interval: time.Minute, Deadline: 10 * time.Second, Now: c.Now,
		Cleaner: backend.NewCleaner(), Spawn: backend.NewSpawner(nil)})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := src.(*Source)
	if !ok {
		t.Fatalf("%T is not the source", src)
	}
	s.proc, s.limits.Sys = hostfs.Proc{Root: fixture(t)}, t.TempDir()
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
		backendtest.Write(t, filepath.Join(p, name), text)
	}
	return p
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
