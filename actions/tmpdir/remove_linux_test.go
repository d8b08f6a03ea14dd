package tmpdir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
	"sandglass/internal/skip"
)

// opened is a directory, which the caller closes, and the status of an entry in it.
func opened(t testing.TB, root, name string) (*hostfs.Dir, hostfs.Stat) {
	t.Helper()
	d, err := hostfs.OpenDirBare(root)
	if err != nil {
		t.Fatal(err)
	}
	st, err := d.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return d, st
}

// removeIn removes a directory of a root with nothing before it.
func removeIn(t testing.TB, ctx context.Context, root, name string) (*removal, error) {
	t.Helper()
	d, st := opened(t, root, name)
	defer func() { _ = d.Close() }()
	r := &removal{ctx: ctx, top: st}
	return r, r.run(d.FD(), name)
}

// quick is a directory in memory where the machine has one: what is tested is not the disk.
func quick(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "sandglass-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestRemovalOfDeepTrees(t *testing.T) {
	const levels = 10_000
	root := quick(t)
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range levels {
		name := "d"
		if i == 0 {
			name = "ws"
		}
		if err := unix.Mkdirat(fd, name, 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := unix.Openat(fd, name, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if i%100 == 50 { // something besides on the way
			if err := unix.Mkdirat(next, "aside", 0o755); err != nil {
				t.Fatal(err)
			}
		}
		_ = unix.Close(fd)
		fd = next
	}
	_ = unix.Close(fd)
	before := openFiles(t)
	r, err := removeIn(t, t.Context(), root, "ws")
	if err != nil || r.removed != levels+levels/100 {
		t.Errorf("%d removed, %v", r.removed, err)
	}
	if left, _ := os.ReadDir(root); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	if after := openFiles(t); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

func TestRemovalOfWideAndReadOnlyTrees(t *testing.T) {
	root := quick(t)
	for i := range 3000 {
		backendtest.Write(t, fmt.Sprintf("%s/ws/f%d", root, i), "x")
	}
	for i := range 1200 {
		if err := os.MkdirAll(fmt.Sprintf("%s/ws/sub/d%d", root, i), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Package caches leave directories without write permission for their own owner.
	backendtest.Write(t, root+"/ws/mod/cache/f", "x")
	for _, p := range []string{"/ws/mod/cache/f", "/ws/mod/cache", "/ws/mod"} {
		if err := os.Chmod(root+p, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc", root+"/ws/link"); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(root+"/ws/pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := removeIn(t, t.Context(), root, "ws"); err != nil || r.removed != 3000+1200+7 {
		t.Errorf("%d removed, %v, %v", r.removed, err, r.notes())
	}
}

func TestRemovalMeasuresWhatItFrees(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/a", strings.Repeat("x", 1<<20))
	backendtest.Write(t, root+"/ws/b", strings.Repeat("x", 1<<20))
	backendtest.Write(t, root+"/outside", strings.Repeat("x", 1<<20))
	for from, to := range map[string]string{"/ws/a": "/ws/a2", "/outside": "/ws/also"} { // of two names in it, and of one outside
		if err := os.Link(root+from, root+to); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := removeIn(t, t.Context(), root, "ws"); err != nil || r.freed < 2<<20 || r.freed > 2<<20+1<<16 {
		t.Errorf("%d bytes freed, want those of two files: %v", r.freed, err)
	}
}

func TestDeletedFilesThatAreStillHeld(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	backendtest.Write(t, r.root+"/helix-ws-a/log", strings.Repeat("x", 1<<20))
	c := r.look(actions.Clean, actions.Params{}, k)[0]
	if _, err := r.act(actions.Clean, actions.Params{}, c); err != nil {
		t.Fatal(err)
	}
	p := r.look(actions.Purge, actions.Params{}, k)[0]
	pid := backendtest.Hold(t, nil, "open", filepath.Join(r.root, r.names()[0], "log")) // after the look
	r.onlyThese(pid)
	done, err := r.act(actions.Purge, actions.Params{}, p)
	if err != nil || done.Freed >= 1<<20 || len(done.Notes) != 1 {
		t.Fatalf("%+v, %v", done, err)
	}
	wantWhy(t, done.Notes[0].String(), fmt.Sprintf("process %d", pid), "a deleted file of 1.0 MB", "running for")
	wantWhy(t, done.Text.String(), "1.0 MB still held by open files")
}

// TestATreeThatIsMovedAwayIsLeftAlone: who renames it back in the middle of its removal keeps what is left from then on.
func TestATreeThatIsMovedAwayIsLeftAlone(t *testing.T) {
	for step := 1; step <= 6; step++ {
		root := t.TempDir()
		for _, f := range []string{"a", "b", "deep/c", "deep/d", "deep/er/e"} {
			backendtest.Write(t, root+"/ws/"+f, "x")
		}
		d, st := opened(t, root, "ws")
		n, left := 0, 0
		count := func(dir string) (n int) {
			if err := filepath.WalkDir(dir, func(string, fs.DirEntry, error) error { n++; return nil }); err != nil {
				t.Fatal(err)
			}
			return n
		}
		r := &removal{ctx: t.Context(), top: st, before: func(int, string) {
			if n++; n == step {
				if err := os.Rename(root+"/ws", root+"/kept"); err != nil {
					t.Fatal(err)
				}
				if left = count(root + "/kept"); step%2 == 0 {
					backendtest.Write(t, root+"/ws/another", "x") // its name is taken by another one at once
				}
			}
		}}
		err := r.run(d.FD(), "ws")
		_ = d.Close()
		var moved *actions.ChangedError
		if !errors.As(err, &moved) {
			t.Fatalf("before step %d: %v, want it to be said that it was moved", step, err)
		}
		wantWhy(t, err.Error(), "was renamed or moved away")
		_, told := r.brokenOff(err, "ws", 0)
		if is := errors.As(told, &moved); is != (r.removed == 0) || !is && !strings.HasPrefix(told.Error(), "partly done: ") || strings.Contains(told.Error(), "tried again") {
			t.Errorf("before step %d, %d removed: %v", step, r.removed, told)
		}
		if now := count(root + "/kept"); now != left {
			t.Errorf("before step %d: %d of %d entries are left: some were removed after it was moved", step, now, left)
		}
		if step%2 == 0 && count(root+"/ws") != 2 {
			t.Errorf("before step %d: the other directory lost something", step)
		}
	}
}

func TestALiveWriterIsNamed(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/deep/f", "x")
	d, st := opened(t, root, "ws")
	defer func() { _ = d.Close() }()
	n := 0
	r := &removal{ctx: t.Context(), top: st, before: func(_ int, name string) {
		if name == "deep" { // a writer that is always a moment faster
			n++
			backendtest.Write(t, fmt.Sprintf("%s/ws/deep/new-%d", root, n), "x")
		}
	}}
	err := r.run(d.FD(), "ws")
	if err == nil || len(r.notes()) == 0 || n < 3 {
		t.Fatalf("%v, %v after %d new files", err, r.notes(), n)
	}
	wantWhy(t, err.Error(), "keeps creating entries", "ENOTEMPTY")
	wantWhy(t, r.notes()[0].String(), "deep")
}

func TestAnImmutableFileIsNamedAndTheRestGoes(t *testing.T) {
	needsRoot(t, "sets the immutable attribute")
	r := newRig(t)
	k := r.dir("helix-ws-a")
	stuck := r.root + "/helix-ws-a/a/b/stuck"
	backendtest.Write(t, stuck, "x")
	if err := immutable(stuck, true); err != nil {
		skip.Without(t, "root", "no such attribute on this file system: "+err.Error())
	}
	t.Cleanup(func() {
		for _, p := range []string{"helix-ws-a", r.names()[0]} {
			_ = immutable(filepath.Join(r.root, p, "a/b/stuck"), false) // one of them is there
		}
	})
	done, err := r.do(actions.Clean, actions.Params{PurgeNow: true}, k)
	if err == nil || done.Proved || !strings.Contains(err.Error(), "EPERM") || !strings.Contains(err.Error(), "chattr -i") {
		t.Fatalf("%+v, %v", done, err)
	}
	wantWhy(t, done.Notes[0].String(), "stuck", "immutable")
	name := r.names()[0]
	if a, ok := hostfs.ParseAside(name); !ok || !a.Begun {
		t.Errorf("it waits as %q", name)
	}
	if _, err := os.Lstat(filepath.Join(r.root, name, "f")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what could be removed is still there: %v", err)
	}
	// The next pass takes the rest once the reason is gone.
	if err := immutable(filepath.Join(r.root, name, "a/b/stuck"), false); err != nil {
		t.Fatal(err)
	}
	due, err := (&Keeper{r.tool()}).PurgeDue(t.Context(), r.state, r.clock(), &journal{})
	if err != nil || len(due) != 1 || due[0].Err != nil || len(r.names()) != 0 {
		t.Errorf("%+v, %v", due, err)
	}
	backendtest.Write(t, r.root+"/last", "")
}

func immutable(path string, on bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return err
	}
	const immutableFlag = 0x10 // FS_IMMUTABLE_FL of linux/fs.h
	if flags &^= immutableFlag; on {
		flags |= immutableFlag
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags)
}

func TestABindMountInsideIsLeftOutAndKeepsItsContent(t *testing.T) {
	needsRoot(t, "mounts")
	r := newRig(t)
	canaries, check := canary(t)
	k := r.dir("helix-ws-a")
	t.Cleanup(func() { unmountBelow(t, r.root) })
	if err := unix.Mount(canaries, r.root+"/helix-ws-a/a/b", "", unix.MS_BIND, ""); err != nil {
		skip.Without(t, "root", "mounting is not allowed: "+err.Error())
	}
	wantWhy(t, r.why(k), "mount") // by the walk: the fixture's table is older than the mount
	r.proc = fixture(t)
	wantWhy(t, r.why(k), "something is mounted on it or in it")
	// Removing anyway, with every check left out, takes what is beside it and leaves it alone.
	rm, err := removeIn(t, t.Context(), r.root, "helix-ws-a")
	if err == nil || !strings.Contains(err.Error(), "mounted there") {
		t.Errorf("%v, %v", err, rm.notes())
	}
	check()
	// The directory itself as a mount point, and a directory that is mounted elsewhere.
	b, c := r.dir("helix-ws-b"), r.dir("helix-ws-c")
	if err := unix.Mount(canaries, r.root+"/helix-ws-b", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	r.proc = fixture(t)
	wantWhy(t, r.why(b), "removed and made again") // what is there now is another directory
	wantWhy(t, r.why(r.key("helix-ws-b")), "mounted on it")
	if err := os.Mkdir(r.root+"/point", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(r.root+"/helix-ws-c/a", r.root+"/point", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	r.proc = fixture(t)
	wantWhy(t, r.why(c), "mounted elsewhere")
}

// TestOnAFullDisk sets aside and puts back with not a byte and not an inode free.
// TestOnAFullExt4 does the same where a rename may need a block: then nothing moves, and a removal at once works.
// fill takes every inode, then every byte.
func TestRemovalStopsWhenItsTimeEnds(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		backendtest.Write(t, fmt.Sprintf("%s/ws/d%d/f", root, i), "x")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := removeIn(t, ctx, root, "ws"); !errors.Is(err, context.Canceled) || r.removed != 0 {
		t.Errorf("%d removed, %v", r.removed, err)
	}
}

func TestErrnoInWords(t *testing.T) {
	for _, e := range []unix.Errno{unix.EBUSY, unix.ENOTEMPTY, unix.EACCES, unix.EPERM, unix.EROFS, unix.ENOSPC, unix.EXDEV, unix.ELOOP, unix.ENOSYS} {
		text := translate(&os.PathError{Op: "unlinkat", Path: "/x", Err: e}).String()
		if !strings.Contains(text, unix.ErrnoName(e)) || strings.Contains(text, "unlinkat") {
			t.Errorf("%s: %q", unix.ErrnoName(e), text)
		}
	}
	if text := translate(errors.New("other")).String(); text != "other" {
		t.Errorf("%q", text)
	}
}

// BenchmarkRemoval makes and removes a million files; -benchtime 1x is enough.
func BenchmarkRemoval(b *testing.B) {
	root := quick(b)
	for b.Loop() {
		b.StopTimer()
		for d := range 1000 {
			dir := fmt.Sprintf("%s/ws/%d", root, d)
			if err := os.MkdirAll(dir, 0o755); err != nil {
				b.Fatal(err)
			}
			for f := range 1000 {
				fd, err := unix.Open(fmt.Sprintf("%s/%d", dir, f), unix.O_CREAT|unix.O_WRONLY, 0o644)
				if err != nil {
					b.Fatal(err)
				}
				_ = unix.Close(fd)
			}
		}
		b.StartTimer()
		began := time.Now()
		r, err := removeIn(b, context.Background(), root, "ws")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.removed)/time.Since(began).Seconds(), "entries/s")
	}
}
