package demo

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// keep runs a scratch keeper over some moments.
func keep(t *testing.T, f *fleet, moments ...time.Duration) {
	t.Helper()
	k := &scratchKeeper{}
	for _, at := range moments {
		if err := k.step(f.At(at)); err != nil {
			t.Fatal(err)
		}
	}
}

func scratchSize(t *testing.T, root string) (dirs int, bytes int64) {
	t.Helper()
	tops, err := filepath.Glob(filepath.Join(root, "helix-ws-??????"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		bytes += info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(tops), bytes
}

func TestScratchDirectoriesStayBounded(t *testing.T) {
	f := testFleet(t, "all", defaultWorkspaces, 1)
	f.root = t.TempDir()
	keep(t, f, 0, 10*time.Second, time.Minute)
	early, _ := scratchSize(t, f.scratchRoot())
	if want := scratchDirs + 20; early != want {
		t.Errorf("%d directories after a minute, want %d", early, want)
	}
	g := testFleet(t, "all", defaultWorkspaces, 1)
	g.root = t.TempDir()
	keep(t, g, 0, 100*time.Hour)
	late, size := scratchSize(t, g.scratchRoot())
	if late != scratchDirs+leakedDirs || size > 20<<20 {
		t.Errorf("%d directories with %d bytes after days", late, size)
	}
}

func TestScratchDirectoriesLookOldAndSomeGrow(t *testing.T) {
	f := testFleet(t, "tmp-leak", 100, 1)
	f.root = t.TempDir()
	keep(t, f, 0)
	old := 0
	for i := range f.dirs {
		d := &f.dirs[i]
		if d.made > 0 || d.grows {
			continue
		}
		info, err := os.Stat(f.scratchPath(d))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 || !info.ModTime().Equal(testStart.Add(-d.age)) {
			t.Errorf("%s has mode %s and time %s", d.name, info.Mode(), info.ModTime())
		}
		if d.age > 24*time.Hour {
			old++
		}
	}
	if old < 5 {
		t.Errorf("only %d directories are older than a day", old)
	}
	_, before := scratchSize(t, f.scratchRoot())
	g := testFleet(t, "tmp-leak", 100, 1)
	g.root = t.TempDir()
	keep(t, g, 0, 2*time.Second)
	if _, after := scratchSize(t, g.scratchRoot()); after != before+2*growPerStep*growingDirs {
		t.Errorf("from %d to %d bytes in two seconds", before, after)
	}
}
