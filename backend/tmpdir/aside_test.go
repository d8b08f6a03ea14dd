package tmpdir

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/hostfs"
)

// putAside renames a directory as a clean-up does.
func putAside(t *testing.T, root, name string, moved time.Time) string {
	t.Helper()
	d, err := hostfs.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	st, err := d.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	to, err := hostfs.Aside{Original: name, Moved: moved, Grace: 15 * time.Minute, Ino: st.ID.Ino, Born: st.Born}.Name()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, name), filepath.Join(root, to)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestWhatWasSetAsideIsCountedAndNoScratchDirectory(t *testing.T) {
	root := t.TempDir()
	backendtest.Write(t, root+"/helix-ws-a/f", strings.Repeat("x", 1<<16))
	backendtest.Write(t, root+"/helix-ws-b/f", "x")
	// Names of our form that do not belong to what lies there: another inode, and a file.
	backendtest.Write(t, root+"/.sandglass-aside-1-1-1-0-0-helix-ws-c/f", "x")
	backendtest.Write(t, root+"/.sandglass-aside-1-1-2-0-0-helix-ws-d", "x")
	s, c := make1(t, func(o *Options) { o.Roots = []string{root} })
	walks := 0
	s.walk = func(ctx context.Context, d *hostfs.Dir, n string, o hostfs.WalkOptions) (hostfs.Tree, error) {
		if strings.HasPrefix(n, ".") {
			walks++
		}
		return hostfs.Walk(ctx, d, n, o)
	}
	var was backend.Key
	for _, d := range poll1(t, s).Tmpdirs { // in the order of their inodes, which the file system gives out as it likes
		if d.Path.String() == root+"/helix-ws-a" {
			was = d.Key
		}
	}
	moved := c.Now().Truncate(time.Second)
	putAside(t, root, "helix-ws-a", moved)
	for range 3 {
		c.Add(time.Minute)
		r := poll1(t, s)
		if len(r.Tmpdirs) != 1 || len(r.Hosts[0].Roots) != 1 || !complete(t, r) {
			t.Fatalf("%d directories, %+v", len(r.Tmpdirs), r.Hosts[0].Roots)
		}
		x := r.Hosts[0].Roots[0]
		if x.WaitingCount != 1 || len(x.Waiting) != 1 {
			t.Fatalf("%d directories wait: %+v", x.WaitingCount, x.Waiting)
		}
		w := x.Waiting[0]
		if w.Path.String() != root+"/helix-ws-a" || !w.Due.Equal(moved.Add(15*time.Minute)) || w.Bytes.Or(0) < 1<<16 {
			t.Errorf("%+v", w)
		}
		if w.Key != was {
			t.Errorf("key %v, it had %v", w.Key, was)
		}
	}
	if walks != 1 {
		t.Errorf("%d walks of what changes no more, want 1", walks)
	}
	if err := os.RemoveAll(filepath.Join(root, poll1(t, s).Hosts[0].Roots[0].Waiting[0].Aside.String())); err != nil {
		t.Fatal(err)
	}
	if x := poll1(t, s).Hosts[0].Roots[0]; x.WaitingCount != 0 || len(s.asides) != 0 {
		t.Errorf("%+v still waits", x)
	}
}
