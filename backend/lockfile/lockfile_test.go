package lockfile_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/backend/lockfile"
)

func open(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := lockfile.Open(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o022)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func try(t *testing.T, f *os.File, shared, want bool) {
	t.Helper()
	if ok, err := lockfile.Try(f, shared); err != nil || ok != want {
		t.Fatalf("shared %t: %t, %v; want %t", shared, ok, err, want)
	}
}

func TestALockHasOneHolderOrManyReaders(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, b := open(t, path), open(t, path)
	try(t, a, false, true)
	try(t, b, false, false)
	try(t, b, true, false)
	if _, err := a.WriteString("line\n"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "line\n" {
		t.Errorf("a locked file is read: %q, %v", got, err)
	}
	gone := errors.New("the operator gave up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if err := lockfile.Lock(ctx, b, false); !errors.Is(err, gone) || !strings.Contains(err.Error(), "another process holds the lock") {
		t.Errorf("a held lock: %v", err)
	}
	if err := lockfile.Unlock(a); err != nil {
		t.Fatal(err)
	}
	try(t, a, true, true)
	try(t, b, true, true)
}

func TestALockEndsWithItsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, err := lockfile.TryOpen(path)
	if a == nil || err != nil {
		t.Fatal(a, err)
	}
	if b, err := lockfile.TryOpen(path); b != nil || err != nil {
		t.Errorf("a second holder: %v, %v", b, err)
	}
	if err := lockfile.Remove(a); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	b, err := lockfile.OpenLocked(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.WriteString("whole\ntorn"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(lockfile.Truncate(b, 6), b.Sync(), b.Close(), lockfile.SyncDir(filepath.Dir(path))); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "whole\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestALinkAndADirectoryAreRefused(t *testing.T) {
	dir := t.TempDir()
	if f, err := lockfile.Open(dir, os.O_RDONLY, 0); err == nil {
		_ = f.Close()
		t.Error("a directory was opened")
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "elsewhere"), link); err != nil {
		t.Fatal(err)
	}
	if f, err := lockfile.TryOpen(link); err == nil {
		_ = f.Close()
		t.Error("a link was followed")
	}
}
