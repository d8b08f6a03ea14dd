//go:build unix

package hostfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"sandglass/backend/backendtest"

	"golang.org/x/sys/unix"
)

// deepTree makes a chain of directories, from 600 levels on longer than a path may be, and puts a file at its end.
func deepTree(t testing.TB, top string, levels int) {
	t.Helper()
	if err := os.MkdirAll(top, 0o755); err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	for range levels {
		if err == nil {
			err = unix.Mkdirat(fd, deepName, 0o755)
		}
		next := -1
		if err == nil {
			next, err = unix.Openat(fd, deepName, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		}
		_ = unix.Close(fd)
		fd = next
	}
	if err != nil {
		t.Fatal(err)
	}
	last, err := unix.Openat(fd, "bottom", unix.O_CREAT|unix.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(last, make([]byte, 8192)); err != nil {
		t.Fatal(err)
	}
	_, _ = unix.Close(last), unix.Close(fd)
}

func walkIn(t *testing.T, root, name string, o WalkOptions) Tree {
	t.Helper()
	tree, err := Walk(t.Context(), openDir(t, root), name, o)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestWalkFindsTheNewestChangeAnywhere(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/a/b/old", "x")
	newest := time.Now().Add(-time.Minute).Truncate(time.Microsecond)
	backendtest.Write(t, root+"/ws/a/b/c/new", "yy")
	before := walkIn(t, root, "ws", WalkOptions{})
	if !before.Whole() || before.Entries != 5 {
		t.Errorf("entries %d, want 5: a, b, old, c, new (%+v)", before.Entries, before)
	}
	if before.Newest.Before(newest) {
		t.Errorf("newest %v lies before the files were made", before.Newest)
	}
	// A change of a deep file moves nothing at the top, but it is the newest change.
	top, err := os.Stat(root + "/ws")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(root+"/ws/a/b/old", []byte("more"), 0o644); err != nil {
		t.Fatal(err)
	}
	deep, err := os.Stat(root + "/ws/a/b/old")
	if err != nil {
		t.Fatal(err)
	}
	after := walkIn(t, root, "ws", WalkOptions{})
	if after.Newest.Before(deep.ModTime()) {
		t.Errorf("newest %v, the deep file changed at %v", after.Newest, deep.ModTime())
	}
	if again, _ := os.Stat(root + "/ws"); !again.ModTime().Equal(top.ModTime()) {
		t.Error("this test assumes that the top does not change")
	}
}

func TestWalkIgnoresTimesSetInTheFuture(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/f", "x")
	now := time.Now().Add(time.Second)
	future := now.Add(1000 * time.Hour)
	if err := os.Chtimes(root+"/ws/f", future, future); err != nil {
		t.Fatal(err)
	}
	tree := walkIn(t, root, "ws", WalkOptions{Now: now})
	if tree.Newest.After(now) || tree.Future != 1 {
		t.Errorf("newest %v with %d future times, want at most %v and 1", tree.Newest, tree.Future, now)
	}
	if open := walkIn(t, root, "ws", WalkOptions{}); !open.Newest.Equal(future.Truncate(0)) {
		t.Errorf("without a present the later time counts: %v, want %v", open.Newest, future)
	}
}

func TestWalkNeverFollowsLinks(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	backendtest.Write(t, outside+"/secret/file", "outside")
	backendtest.Write(t, root+"/ws/in", "x")
	for name, target := range map[string]string{"dir": outside, "up": "..", "self": ".", "gone": "/nonexistent", "loop": "loop"} {
		if err := os.Symlink(target, root+"/ws/"+name); err != nil {
			t.Fatal(err)
		}
	}
	if tree := walkIn(t, root, "ws", WalkOptions{}); tree.Entries != 6 || !tree.Whole() {
		t.Errorf("%d entries, want the file and five links: %+v", tree.Entries, tree)
	}
	if err := os.Symlink(outside, root+"/link"); err != nil {
		t.Fatal(err)
	}
	if _, err := Walk(t.Context(), openDir(t, root), "link", WalkOptions{}); err == nil {
		t.Error("a link in place of the directory was followed")
	}
	if _, err := Walk(t.Context(), openDir(t, root), "none", WalkOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory gives %v", err)
	}
}

func TestWalkGoesDeeperThanAnyPath(t *testing.T) {
	root := t.TempDir()
	deepTree(t, root+"/ws", 1200)
	// A sibling on every tenth level makes the way back up matter.
	fd, err := unix.Open(root+"/ws", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		t.Fatal(err)
	}
	siblings := int64(0)
	for level := range 1200 {
		if level%10 == 0 {
			if err := unix.Mkdirat(fd, "aside", 0o755); err != nil {
				t.Fatal(err)
			}
			siblings++
		}
		next, err := unix.Openat(fd, deepName, unix.O_RDONLY|unix.O_DIRECTORY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = unix.Close(fd)
		fd = next
	}
	_ = unix.Close(fd)
	tree := walkIn(t, root, "ws", WalkOptions{})
	if want := 1200 + siblings + 1; tree.Entries != want || !tree.Whole() {
		t.Errorf("%d entries, want %d: cut %q, unreadable %d (%v)", tree.Entries, want, tree.Cut, tree.Unreadable, tree.Unread)
	}
	if tree.Bytes < 8192 {
		t.Errorf("%d bytes: the file at the bottom is missing", tree.Bytes)
	}
}

func TestWalkStopsAtItsBounds(t *testing.T) {
	root := t.TempDir()
	for i := range 50 {
		backendtest.Write(t, fmt.Sprintf("%s/ws/d%d/f", root, i), "x")
	}
	if tree := walkIn(t, root, "ws", WalkOptions{MaxEntries: 20}); tree.Cut != CutEntries || tree.Entries != 20 {
		t.Errorf("cut %q after %d entries, want %q after 20", tree.Cut, tree.Entries, CutEntries)
	}
	if tree := walkIn(t, root, "ws", WalkOptions{MaxEntries: 100}); !tree.Whole() || tree.Entries != 100 {
		t.Errorf("exactly at the bound: %+v", tree)
	}
	if tree := walkIn(t, root, "ws", WalkOptions{MaxPending: 64}); tree.Cut != CutNames {
		t.Errorf("cut %q, want %q", tree.Cut, CutNames)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tree, err := Walk(ctx, openDir(t, root), "ws", WalkOptions{})
	if err != nil || tree.Cut != CutDeadline {
		t.Errorf("cut %q, %v, want %q", tree.Cut, err, CutDeadline)
	}
}

func TestWalkCountsWhatItCannotRead(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/open/f", "x")
	backendtest.Write(t, root+"/ws/closed/f", "x")
	var o opener
	tree := walkIn(t, root, "ws", WalkOptions{child: func(dir int, name string, like Stat) (int, error) {
		if name == "closed" {
			return -1, unix.EACCES
		}
		return o.child(dir, name, like)
	}})
	if tree.Unreadable != 1 || !errors.Is(tree.Unread, fs.ErrPermission) || tree.Whole() || tree.Entries != 3 {
		t.Errorf("%+v, want one unreadable directory and three entries", tree)
	}
	_, err := Walk(t.Context(), openDir(t, root), "ws", WalkOptions{child: func(int, string, Stat) (int, error) {
		return -1, unix.EACCES
	}})
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a closed top gives %v", err)
	}
}

func TestWalkNoticesThatTheGroundMoved(t *testing.T) {
	root := t.TempDir()
	deepTree(t, root+"/ws", 60)
	backendtest.Write(t, root+"/elsewhere/f", "x")
	var o opener
	level := 0
	tree := walkIn(t, root, "ws", WalkOptions{child: func(dir int, name string, like Stat) (int, error) {
		fd, err := o.child(dir, name, like)
		if level++; level == 40 {
			// The directory on level 5 leaves the tree, so that ".." of its child is not what it was.
			five := filepath.Join(root, "ws", deepName, deepName, deepName, deepName, deepName)
			if err := os.Rename(five+"/"+deepName, root+"/elsewhere/moved"); err != nil {
				t.Fatal(err)
			}
		}
		return fd, err
	}})
	if tree.Cut != CutMoved {
		t.Errorf("cut %q, want %q", tree.Cut, CutMoved)
	}
}

func TestWalkCountsLinkedFilesOnceAndWatches(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/ws/a", string(make([]byte, 1<<16)))
	one := walkIn(t, root, "ws", WalkOptions{})
	for i := range 10 {
		if err := os.Link(root+"/ws/a", fmt.Sprintf("%s/ws/b%d", root, i)); err != nil {
			t.Fatal(err)
		}
	}
	a, err := statPath(root + "/ws/a")
	if err != nil {
		t.Fatal(err)
	}
	many := walkIn(t, root, "ws", WalkOptions{Watch: map[FileID]bool{a.ID: true, {Dev: 1, Ino: 2}: true}})
	if many.Bytes != one.Bytes || many.Entries != 11 {
		t.Errorf("%d bytes in %d entries, want %d in 11", many.Bytes, many.Entries, one.Bytes)
	}
	if len(many.Seen) != 11 || many.Seen[0] != a.ID {
		t.Errorf("seen %v", many.Seen)
	}
}

func statPath(p string) (Stat, error) {
	fd, err := unix.Open(p, unix.O_RDONLY, 0)
	if err != nil {
		return Stat{}, err
	}
	defer func() { _ = unix.Close(fd) }()
	return statOpen(fd)
}

func TestWalkTakesHostileNames(t *testing.T) {
	root := t.TempDir()
	names := []string{"a\nb", "\x1b]0;pwned\a", "..a", "...", "-rf", " ", "$(id)"}
	if runtime.GOOS == "linux" {
		names = append(names, "\x9b31m", "\xff\xfe")
	}
	for _, n := range names {
		backendtest.Write(t, filepath.Join(root, "ws", n, "f"), "x")
	}
	if tree := walkIn(t, root, "ws", WalkOptions{}); tree.Entries != int64(2*len(names)) || !tree.Whole() {
		t.Errorf("%d entries, want %d", tree.Entries, 2*len(names))
	}
}

func TestCrosses(t *testing.T) {
	dir := Stat{ID: FileID{Dev: 1}, MountID: 7, Mode: fs.ModeDir}
	for _, c := range []struct {
		name string
		b    Stat
		want bool
	}{
		{"same", Stat{ID: FileID{Dev: 1}, MountID: 7, Mode: fs.ModeDir}, false},
		{"bind mount of the same file system", Stat{ID: FileID{Dev: 1}, MountID: 8, Mode: fs.ModeDir}, true},
		{"subvolume", Stat{ID: FileID{Dev: 2}, MountID: 7, Mode: fs.ModeDir}, true},
		{"file of another overlay layer", Stat{ID: FileID{Dev: 2}, MountID: 7}, false},
		{"no mount ids, other device", Stat{ID: FileID{Dev: 2}}, true},
		{"no mount ids, same device", Stat{ID: FileID{Dev: 1}}, false},
	} {
		if got := otherFilesystem(dir, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestWalkHoldsFewDescriptors(t *testing.T) {
	root := t.TempDir()
	deepTree(t, root+"/ws", 60)
	base := openDir(t, root).fd()
	most := 0
	var o opener
	walkIn(t, root, "ws", WalkOptions{child: func(dir int, name string, like Stat) (int, error) {
		fd, err := o.child(dir, name, like)
		most = max(most, fd)
		return fd, err
	}})
	// Descriptors are numbered from the lowest free one, so the highest tells how many were open.
	if most > base+openDirs+8 {
		t.Errorf("descriptor %d was needed above %d; the walk must hold at most %d", most, base, openDirs)
	}
}

func TestListStopsAndMatches(t *testing.T) {
	root := t.TempDir()
	for i := range 30 {
		backendtest.Write(t, fmt.Sprintf("%s/ws-%d/f", root, i), "x")
	}
	backendtest.Write(t, root+"/other", "x")
	d := openDir(t, root)
	match := func(n string) bool { ok, _ := filepath.Match("ws-*", n); return ok }
	all, err := d.List(t.Context(), match, 100)
	if err != nil || len(all) != 30 {
		t.Fatalf("%d entries, %v, want 30", len(all), err)
	}
	if again, err := d.List(t.Context(), match, 100); err != nil || len(again) != 30 {
		t.Errorf("a second time: %d entries, %v", len(again), err)
	}
	if some, err := d.List(t.Context(), match, 10); err == nil || len(some) != 10 {
		t.Errorf("%d entries, %v, want 10 and an error: a cut list is not a list", len(some), err)
	}
}

func BenchmarkWalk(b *testing.B) {
	root := b.TempDir()
	const dirs, files = 100, 100
	for i := range dirs {
		p := fmt.Sprintf("%s/ws/d%d", root, i)
		if err := os.MkdirAll(p, 0o755); err != nil {
			b.Fatal(err)
		}
		for j := range files {
			if err := os.WriteFile(fmt.Sprintf("%s/f%d", p, j), nil, 0o644); err != nil {
				b.Fatal(err)
			}
		}
	}
	d, err := OpenDir(root)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	b.ReportAllocs()
	entries := int64(0)
	for b.Loop() {
		tree, err := Walk(context.Background(), d, "ws", WalkOptions{})
		if err != nil || tree.Entries != dirs*files+dirs {
			b.Fatalf("%+v, %v", tree, err)
		}
		entries += tree.Entries
	}
	b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
}
