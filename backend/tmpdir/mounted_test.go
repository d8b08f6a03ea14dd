package tmpdir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// TestAnEmptyRootOnAnotherFileSystemIsUnknown: its scratch directories may be below a mount that is not there; in the same process
// and in the next one.
func TestAnEmptyRootOnAnotherFileSystemIsUnknown(t *testing.T) {
	root := t.TempDir()
	set := func(o *Options) { o.Roots = []string{root} }
	s, _ := make1(t, set)
	dir := filepath.Join(root, "helix-ws-a")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := poll1(t, s)
	if len(r.Tmpdirs) != 1 || len(r.Bookmarks) != 1 {
		t.Fatalf("%d directories, %v", len(r.Tmpdirs), r.Bookmarks)
	}
	marks := r.Bookmarks
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if r = poll1(t, s); !complete(t, r) || !r.Degraded.IsEmpty() {
		t.Errorf("empty on the same file system: %v", r.Degraded)
	}
	unknown := func(how string, r backend.Reading) {
		t.Helper()
		if complete(t, r) || !strings.Contains(r.Degraded.String(), "is it mounted?") || len(r.Missing) == 0 {
			t.Errorf("%s: %v, missing %v", how, r.Degraded, r.Missing)
		}
	}
	s.roots[0].full.dev++
	unknown("the same process", poll1(t, s))
	marks[0].Sizes[0].Size++
	next, _ := make1(t, set)
	next.Resume(marks)
	unknown("another process", poll1(t, next))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if r = poll1(t, next); !complete(t, r) || len(r.Tmpdirs) != 1 {
		t.Errorf("with a directory: %v", r.Degraded)
	}
	rebooted, _ := make1(t, set)
	backendtest.Write(t, filepath.Join(rebooted.proc.Root, "sys/kernel/random/boot_id"), "second\n")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	rebooted.Resume(marks)
	if r = poll1(t, rebooted); !complete(t, r) {
		t.Errorf("after a boot: %v", r.Degraded)
	}
}
