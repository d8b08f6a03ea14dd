//go:build unix

package hostfs

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/backend/backendtest"
	"sandglass/internal/skip"
)

// roleVar makes the test binary play the process that holds something: it does what the role says, prints a line and
// waits until its standard input ends.
const roleVar = "SANDGLASS_HOSTFS_ROLE"

func TestMain(m *testing.M) {
	backendtest.Umask() // what others could write is trusted nowhere
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	verb, arg, _ := strings.Cut(role, " ")
	if err := play(verb, arg); err != nil {
		_, _ = io.WriteString(os.Stdout, "failed: "+err.Error()+"\n")
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, "ready\n")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
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

// hold starts a process in a role and returns its id; it ends with the test.
func hold(t *testing.T, attr func(*exec.Cmd), role ...string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+strings.Join(role, " "))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if attr != nil {
		attr(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line := make([]byte, 200)
	n, err := out.Read(line)
	if got := string(line[:n]); err != nil || got != "ready\n" {
		t.Fatalf("the holding process says %q, %v", got, err)
	}
	return cmd.Process.Pid
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

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
