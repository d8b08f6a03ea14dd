package alerts

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sandglass/internal/skip"
)

// A full disk takes as much of an addition as it can. What it took must not stand, since all of it is tried again.
func TestAnAdditionThatDoesNotFitLeavesNothing(t *testing.T) {
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		skip.Without(t, "root", "a tmpfs cannot be mounted: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, 0); err != nil {
			t.Error(err)
		}
	})
	file := lineFile{filepath.Join(disk, "lines")}
	if err := file.add(true, []byte("whole")); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 10<<10)
	for i := range line {
		line[i] = 'x'
	}
	for range 2 {
		if err := file.add(true, line, line, line, line, line, line, line, line); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("it fits: %v", err)
		}
		if got, err := os.ReadFile(file.path); err != nil || string(got) != "whole\n" {
			t.Errorf("%d bytes are there, %v", len(got), err)
		}
	}
	if err := file.add(true, []byte("next")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file.path); err != nil || string(got) != "whole\nnext\n" {
		t.Errorf("%.40q, %v", got, err)
	}
}
