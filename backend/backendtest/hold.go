package backendtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// roleVar says what the test binary plays.
const roleVar = "SANDGLASS_TEST_ROLE"

// Roles runs the tests, or lets the test binary be the process that Hold starts: it plays the role, prints a line and
// goes on until its standard input ends. play may call ready by itself and go on afterwards.
func Roles(m *testing.M, play func(verb, arg string, ready func()) error) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	said := false
	ready := func() {
		if !said {
			said = true
			_, _ = io.WriteString(os.Stdout, "ready\n")
		}
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	verb, arg, _ := strings.Cut(role, " ")
	if err := play(verb, arg, ready); err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	ready()
	select {}
}

// Hold starts a process in a role and returns its id. It ends with the test. attr may change how it is started.
func Hold(t testing.TB, attr func(*exec.Cmd), role ...string) int {
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
	if n, err := out.Read(line); err != nil || string(line[:n]) != "ready\n" {
		t.Fatalf("the holding process says %q, %v", line[:n], err)
	}
	return cmd.Process.Pid
}

// Write writes a file, and the directories above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
