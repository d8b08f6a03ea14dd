package audit

import (
	"errors"
	"os"
	"path/filepath"
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
		if err := syscall.Unmount(dir, 0); err != nil {
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
	filled(t, j, func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	})
}
