//go:build unix

package test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"

	"sandglass/actions/audit"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/demo"
)

// TestShellGivesTheTerminalBack opens shells in real containers on a real terminal. However one ends, the terminal has the modes
// that it had before, and the journal has a begin and an end.
func TestShellGivesTheTerminalBack(t *testing.T) { enginetest.Each(t, shellGivesTheTerminalBack) }

func shellGivesTheTerminalBack(t *testing.T, e *enginetest.Engine) {
	w := &shellWorld{engine: e, image: e.Image("shell", "sh", "sleep", "true")}
	for name, leave := range map[string]struct {
		how   func(p *onTerminal, id string) error
		shows string
	}{
		"exit": {func(p *onTerminal, _ string) error { _, err := io.WriteString(p.tty, "exit 3\n"); return err }, "ended with exit code 3"},
		"kill": {func(_ *onTerminal, id string) error { _, err := e.Docker("kill", id); return err }, ""},
		"term": {func(p *onTerminal, _ string) error { return p.cmd.Process.Signal(syscall.SIGTERM) }, "the shell was left after"},
		"hup":  {func(p *onTerminal, _ string) error { return p.cmd.Process.Signal(syscall.SIGHUP) }, "the shell was left after"},
		"quit": {func(p *onTerminal, _ string) error { return p.cmd.Process.Signal(syscall.SIGQUIT) }, "ended by the signal"},
	} {
		t.Run(name, func(t *testing.T) { w.leaves(t, name, leave.how, leave.shows) })
	}
}

// shellWorld is where shells are opened.
type shellWorld struct {
	engine *enginetest.Engine
	image  string
}

// leaves opens a shell in a container of its own and leaves it.
func (w *shellWorld) leaves(t *testing.T, name string, how func(*onTerminal, string) error, shows string) {
	c := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "calm"}, func(string) string {
		return fmt.Sprintf("environment = \"real\"\n[[source]]\nid = \"engine\"\nkind = \"docker\"\nhost = %q\nactions = [\"shell\"]\n", w.engine.Host)
	})
	name = fmt.Sprint("sandglass-shell-", os.Getpid(), "-", name)
	id, err := w.engine.Docker("run", "-d", "--name", name, "--network", "none", "--label", "sandglass.session=s-shell", w.image, enginetest.Busybox, "sleep", "600")
	if err != nil {
		t.Fatal("docker run failed")
	}
	t.Cleanup(func() { _, _ = w.engine.Docker("rm", "-f", name) })
	digest := w.plan(t, c, name)
	p, tty := startKeeping(t, "shell", "--yes-plan", digest, "--reason", "a look", "--config", c.config, "--state-dir", c.dir)
	before := modes(t, tty)
	until(t, "the terminal is the shell's", func() bool { return !reflect.DeepEqual(modes(t, tty), before) })
	if _, err := io.WriteString(p.tty, "echo be''gun\n"); err != nil {
		t.Fatal(err)
	}
	p.waitFor(t, "begun")
	if err := how(p, id); err != nil {
		t.Fatal(err)
	}
	until(t, "the terminal is as before", func() bool { return reflect.DeepEqual(modes(t, tty), before) })
	_ = tty.Close()
	p.ended(t)
	if !strings.Contains(p.text(), shows) {
		t.Errorf("the terminal never showed %q; it got %q", shows, p.text())
	}
	recs := c.journal()
	if last := recs[len(recs)-1].Phase; recs[0].Phase != audit.PhaseIntent || last == audit.PhaseIntent && shows != "ended by the signal" {
		t.Errorf("the journal begins with %s and ends with %s", recs[0].Phase, last)
	}
}

// plan plans a shell on a terminal of its own: elsewhere none is offered.
func (w *shellWorld) plan(t *testing.T, c *commandLines, name string) (digest string) {
	t.Helper()
	c.run(4, "", "shell", name)
	p := startOnTerminal(t, nil, "shell", name, "--config", c.config, "--state-dir", c.dir)
	p.ended(t)
	made := planLine.FindStringSubmatch(strings.ReplaceAll(p.text(), "\r\n", "\n"))
	if made == nil {
		t.Fatalf("there is no plan: %q", p.text())
	}
	return made[1]
}

// startKeeping is startOnTerminal with the program's end of the terminal kept open: its modes outlive the program.
func startKeeping(t *testing.T, args ...string) (*onTerminal, *os.File) {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{"SANDGLASS_TEST_RUN_MAIN=1", "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=/tmp", "LANG=C.UTF-8", "SANDGLASS_USER=tester"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &onTerminal{cmd: cmd, tty: master, end: make(chan error, 1)}
	p.read()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = tty.Close(); _ = master.Close() })
	return p, tty
}

// modes are those of a terminal.
func modes(t *testing.T, tty *os.File) *term.State {
	t.Helper()
	s, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	return s
}
