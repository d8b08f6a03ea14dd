//go:build unix

package hostfs

import (
	"os"
	"testing"

	"sandglass/backend/backendtest"
	"sandglass/internal/skip"
)

func TestMain(m *testing.M) {
	backendtest.Umask() // what others could write is trusted nowhere
	backendtest.Roles(m, func(verb, arg string, _ func()) error { return play(verb, arg) })
}

// kept keeps the descriptors of the playing process from being collected.
func play(verb, arg string) error {
	switch verb {
	case "open", "open-deleted":
		f, err := os.Open(arg)
		if err != nil {
			return err
		}
		held := f.Fd() // blocking now, and used below: stays open while we wait
		_ = held
		if verb == "open-deleted" {
			err = os.Remove(arg)
		}
		keep = append(keep, f)
		return err
	case "chdir":
		return os.Chdir(arg)
	case "chdir-deep":
		return chdirDeep(arg)
	case "bind":
		return bindElsewhere(arg)
	case "thread":
		return threadIn(arg)
	case "listen", "listen-relative":
		return listen(arg, verb == "listen-relative")
	case "overlay":
		return overlay(arg)
	}
	return os.ErrInvalid
}

var keep []*os.File

func openDir(t *testing.T, path string) *Dir {
	t.Helper()
	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// needsRoot skips with one line where mounting is not allowed, and fails instead when the run demands root's tests.
func needsRoot(t *testing.T, why string) {
	t.Helper()
	skip.Without(t, "root", "it needs CAP_SYS_ADMIN: "+why)
}
