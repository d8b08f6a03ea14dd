package test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sandglass/demo"
	"sandglass/internal/skip"
)

// TestActingOnAFullDisk: the disk that has to be cleaned is often the one with the state directory.
func TestActingOnAFullDisk(t *testing.T) {
	c := newCommandLines(t, demo.Options{Workspaces: 60, Seed: 1, Scenario: "calm"}, withHold)
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=4m,mode=0700"); err != nil {
		skip.Without(t, "root", "a tmpfs cannot be mounted: "+err.Error())
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil { // whoever else on the machine looks at it
			t.Error(err)
		}
	})
	c.dir = filepath.Join(disk, "state")
	id := c.subjects("sessions", "source:helix-eu")[0]
	c.carryOut(1, "1 of 1 done: 1 unverified", "do", "hold", id)
	if err := os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, 8<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	before := len(c.journal())
	c.carryOut(1, "1 of 1 done: 1 unverified", "do", "hold", id)
	if n := len(c.journal()) - before; n != 4 && n != 5 {
		t.Errorf("%d records of it are in the journal", n)
	}
}
