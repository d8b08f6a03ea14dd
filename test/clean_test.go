package test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"sandglass/internal/skip"
)

// scratchLines are command lines about one root of scratch directories, three hours after they were made.
func scratchLines(t *testing.T) (c *commandLines, root string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		skip.Without(t, "linux", "scratch directories are only cleaned on Linux")
	}
	root = t.TempDir()
	c = &commandLines{t: t, dir: filepath.Join(t.TempDir(), "state"), clock: func() time.Time { return time.Now().Add(3 * time.Hour) }}
	c.config = writeConfig(t, fmt.Sprintf("environment = \"night\"\n[[source]]\nid = \"scratch\"\nkind = \"tmpdir\"\ninterval = \"500ms\"\nroots = [%q]\n"+
		"actions = [\"clean\"]\nsession_lifetime = \"1h\"\nclean_older_than = \"1h\"\nengine_sockets = []\n", root))
	for _, name := range []string{"helix-ws-a", "helix-ws-b"} {
		if err := os.MkdirAll(filepath.Join(root, name, "src"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "src", "main.go"), []byte("package main\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c, root
}

func TestCleaningSaysWhatItWouldDo(t *testing.T) {
	c, _ := scratchLines(t)
	c.run(0, "^nothing waits\n$", "clean", "--list")
	c.run(0, `"waiting": \[\]`, "clean", "--list", "-o", "json")
	c.run(4, "^$", "clean", "--undo")
	units := c.run(0, `(?s)max = 50.*ExecStart=.* clean --policy /etc/sandglass/clean.toml --config `, "clean", "--timer", "--older-than", "48h", "--max", "50")
	for _, want := range []string{`older_than = "48h"`, `pattern = "helix-ws-*"`, "OnCalendar=", "StateDirectory=sandglass", "Environment=XDG_STATE_HOME=/var/lib"} {
		if !strings.Contains(units, want) {
			t.Errorf("no %q in\n%s", want, units)
		}
	}
	c.run(64, "^$", "clean", "--timer", "--older-than", "1m") // such a policy would be refused
	c.run(64, "^$", "clean", "--older-than", "9m59s")
	c.run(64, "^$", "clean", "--older-than", "0s")
	c.run(64, "^$", "clean", "--undo", "--purge")
	c.run(64, "^$", "clean", "--list", "helix-ws-a")
	c.run(64, "^$", "clean", "--undo", "--filter", "size>1")
	if os.Geteuid() == 0 {
		if err := os.Chmod(c.config, 0o660); err != nil {
			t.Fatal(err)
		}
		c.refuse("a configuration that others can write: .*can be written by others", "clean")
		if err := os.Chmod(c.config, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loose := c.policy(0o666, 10)
	c.refuse("can be written by others", "clean", "--policy", loose)
	c.run(64, "^$", "clean", "--policy", loose, "--max", "5")
}

// refuse is a command line that does nothing, with a regular expression about why.
func (c *commandLines) refuse(why string, args ...string) {
	c.t.Helper()
	if out, errs, code := c.process(args...); code != 4 || out != "" || !regexp.MustCompile(why).MatchString(errs) {
		c.t.Errorf("%v: exit code %d, want %q in\n%s\n%s", args, code, why, out, errs)
	}
}

// policy writes a policy for the test's root.
func (c *commandLines) policy(mode os.FileMode, most int) string {
	c.t.Helper()
	text, err := os.ReadFile(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	_, roots, _ := strings.Cut(string(text), "roots = ")
	roots, _, _ = strings.Cut(roots, "\n")
	file := filepath.Join(c.t.TempDir(), "clean.toml")
	body := fmt.Sprintf("roots = %s\npattern = \"helix-ws-*\"\nolder_than = \"2h\"\nmax = %d\n", roots, most)
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil {
		c.t.Fatal(err)
	}
	return file
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}
