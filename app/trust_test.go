package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/config"
)

// TestAConfigurationOfOthersIsDistrusted: by one that others can write nothing is done; the user that called sudo is not another.
func TestAConfigurationOfOthersIsDistrusted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sandglass.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := &App{Machine: Machine{Getenv: func(string) string { return "" }}}
	sudo := &App{Machine: Machine{Getenv: func(name string) string { return map[string]string{"SUDO_UID": "1234"}[name] }}}
	c := &config.Config{Path: file}
	if why := a.distrust(c); !why.IsEmpty() {
		t.Errorf("one's own file: %s", why)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if why := a.distrust(c); !strings.Contains(why.String(), "can be written by others (mode 0666)") {
		t.Errorf("a file for everybody: %s", why)
	}
	if len(a.Warnings(c)) != 1 {
		t.Error("no warning for reading")
	}
	if os.Geteuid() != 0 {
		return // only root can give a file away
	}
	if err := os.Chmod(file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, 1234, 1234); err != nil {
		t.Fatal(err)
	}
	if why := a.distrust(c); !strings.Contains(why.String(), "belongs to user 1234") {
		t.Errorf("another user's file, as root: %s", why)
	}
	if why := sudo.distrust(c); !why.IsEmpty() {
		t.Errorf("the caller's of sudo: %s", why)
	}
}
