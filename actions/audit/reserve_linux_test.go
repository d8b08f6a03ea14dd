package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"sandglass/internal/skip"
)

// TestARealFullDisk fills a small tmpfs, which takes root.
func TestARealFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m,mode=0700"); err != nil {
		skip.Without(t, "root", "a tmpfs cannot be mounted: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil { // whoever else on the machine looks at it
			t.Error(err)
		}
	})
	j, err := New(Options{Dir: filepath.Join(dir, "state"), Origin: origin()})
	if err != nil {
		t.Fatal(err)
	}
	add(t, j, entry(0))
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	plan := filepath.Join(dir, "state", "plan")
	if err := WriteNew(plan, []byte("x")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("without the reserve: %v", err)
	}
	if err := j.WriteNew(t.Context(), plan, make([]byte, 3000)); err != nil {
		t.Errorf("a plan cannot be kept on a full disk, and so nothing can be cleaned: %v", err)
	}
	if err := j.WriteNew(t.Context(), plan, []byte("x")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second plan of the name: %v", err)
	}
	for n := 0; ; n++ {
		err := j.WriteNew(t.Context(), plan+strconv.Itoa(n), make([]byte, 60_000))
		if err == nil {
			continue
		}
		if full := (*FullError)(nil); !errors.As(err, &full) || n == 0 {
			t.Errorf("after %d more: %v", n, err)
		}
		break
	}
	if reserve, err := os.Stat(j.reservePath()); err != nil || reserve.Size() < reserveFloor {
		t.Errorf("plans used up the room of the outcomes: %v, %v", reserve, err)
	}
	for n := range 3 { // plans are forgotten after a while
		if err := os.Remove(plan + strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
	filled(t, j, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
}
