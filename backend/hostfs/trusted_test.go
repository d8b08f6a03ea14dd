//go:build unix

package hostfs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/backend/backendtest"
)

func TestOnlyFilesThatNobodyElseCanWriteAreTrusted(t *testing.T) {
	me := uint32(os.Getuid())
	dir := t.TempDir()
	name := filepath.Join(dir, "policy.toml")
	backendtest.Write(t, name, "x")
	check := func(mode os.FileMode, users ...uint32) error {
		t.Helper()
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		return Trusted(f, users...)
	}
	for mode, ok := range map[os.FileMode]bool{0o600: true, 0o644: true, 0o444: true, 0o664: false, 0o646: false, 0o666: false} {
		if err := check(mode, me); (err == nil) != ok {
			t.Errorf("mode %04o: %v", mode, err)
		}
	}
	if me == 0 {
		if err := os.Chown(name, 12345, 0); err != nil {
			t.Fatal(err)
		}
		if err := check(0o600, 777); err == nil {
			t.Error("a stranger's file is trusted")
		}
		if err := check(0o600, 12345); err != nil {
			t.Errorf("the user's own file: %v", err)
		}
		own, link := filepath.Join(dir, "own.toml"), filepath.Join(dir, "link.toml")
		backendtest.Write(t, own, "x")
		if err := errors.Join(os.Chmod(own, 0o600), os.Symlink(own, link), os.Lchown(link, 12345, 0)); err != nil {
			t.Fatal(err)
		}
		if f, err := TrustedPath(link); err == nil || !strings.Contains(err.Error(), "is a symbolic link of user 12345") {
			t.Errorf("a stranger's link: %v, %v", f, err)
		}
		if f, err := TrustedPath(link, 12345); err != nil {
			t.Errorf("the user's own link: %v", err)
		} else {
			_ = f.Close()
		}
	}
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := Trusted(d, me); err == nil {
		t.Error("a directory is trusted")
	}
}

func TestNobodyCanExchangeATrustedPath(t *testing.T) {
	me := uint32(os.Getuid())
	dir := t.TempDir()
	name := filepath.Join(dir, "sub", "policy.toml")
	backendtest.Write(t, name, "x")
	f, err := TrustedPath(name, me)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if f, err := TrustedPath(name, me); err == nil {
		_ = f.Close()
		t.Error("everybody may rename the directory above it, and it is trusted")
	}
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if f, err = TrustedPath(name, me); err != nil {
		t.Errorf("the sticky bit keeps others from renaming: %v", err)
	} else {
		_ = f.Close()
	}
}
