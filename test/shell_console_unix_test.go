//go:build unix

package test

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"sandglass/actions/audit"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/demo"
)

// TestShellFromTheConsole opens shells in real containers from the table of sandboxes. The shell has the terminal alone, with its
// size; after it the console is where it was and says how the shell ended.
func TestShellFromTheConsole(t *testing.T) { enginetest.Each(t, shellFromTheConsole) }

func shellFromTheConsole(t *testing.T, e *enginetest.Engine) {
	image := e.Image("shell-console", "sh", "sleep", "stty")
	t.Run("exit", func(t *testing.T) {
		w := newConsoleShell(t, e, image, "exit")
		w.open()
		w.hasTheSize(50, 100)
		w.alone("exit 3\n")
		w.p.sees(t, w.name+": sh ended with exit code 3")
		w.p.sees(t, "› "+w.name) // the cursor is on the same row
		w.types("\r")
		w.p.sees(t, "sandbox "+w.name)
		w.types("\x1b")
		w.p.sees(t, "› "+w.name)
		w.open() // once more
		w.alone("exit\n")
		w.p.sees(t, w.name+": sh ended with exit code 0")
		w.types("q")
		w.left("verified")
	})
	t.Run("kill", func(t *testing.T) {
		w := newConsoleShell(t, e, image, "kill")
		w.open()
		if _, err := e.Docker("kill", w.name); err != nil {
			t.Fatal(err)
		}
		w.p.sees(t, w.name+": sh ended with exit code 137")
		w.types("S")
		w.p.sees(t, "it does not run: exited")
		w.types("\x03")
		w.p.sees(t, "› "+w.name)
		w.types("q")
		w.left("verified")
	})
	t.Run("term", func(t *testing.T) {
		w := newConsoleShell(t, e, image, "term")
		w.open()
		if err := w.p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		w.left("failed")
	})
}

// consoleShell is a console about a container.
type consoleShell struct {
	t    *testing.T
	c    *commandLines
	p    *onTerminal
	tty  *os.File
	name string
}

func newConsoleShell(t *testing.T, e *enginetest.Engine, image, how string) *consoleShell {
	w := &consoleShell{t: t, name: fmt.Sprint("shell", os.Getpid(), how)}
	if _, err := e.Docker("run", "-d", "--name", w.name, "--network", "none", "--label", "sandglass.session=s-shell", image, enginetest.Busybox, "sleep", "600"); err != nil {
		t.Fatal("docker run failed")
	}
	t.Cleanup(func() { _, _ = e.Docker("rm", "-f", w.name) })
	w.c = newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "calm"}, func(string) string {
		return fmt.Sprintf("environment = \"real\"\n[[source]]\nid = \"engine\"\nkind = \"docker\"\ninterval = \"1s\"\nhost = %q\nactions = [\"shell\"]\n", e.Host)
	})
	w.p, w.tty = startKeeping(t, "--config", w.c.config, "--state-dir", w.c.dir)
	w.p.waitFor(t, "Sandboxes")
	w.types("3/" + w.name + "\r")
	w.p.sees(t, "› "+w.name)
	w.types(":arm 10m a look\r")
	w.p.sees(t, "actions enabled for 9m")
	return w
}

func (w *consoleShell) types(keys string) {
	w.t.Helper()
	if _, err := io.WriteString(w.p.tty, keys); err != nil {
		w.t.Fatal(err)
	}
}

// open opens a shell in the container, which the cursor is on, and waits until it answers.
func (w *consoleShell) open() {
	w.t.Helper()
	banner := "sh in " + w.name + "; exit or ctrl+d ends it"
	before := strings.Count(w.p.text(), banner)
	w.types("S")
	w.p.sees(w.t, "press S ")
	var pressed time.Time
	until(w.t, "the shell has the terminal", func() bool {
		if strings.Count(w.p.text(), banner) > before {
			return true
		}
		// A dialog takes keys only after it was there for a while; a key too many would reach the console after the shell.
		if strings.Contains(w.p.shown(w.t), "press S ") && time.Since(pressed) > 2*time.Second {
			w.types("S")
			pressed = time.Now()
		}
		return false
	})
	w.types("\x15echo be''gun-" + fmt.Sprint(before) + "\n")
	w.p.waitFor(w.t, "begun-"+fmt.Sprint(before))
}

// hasTheSize changes the size of the terminal, and back, and waits until the shell has it.
func (w *consoleShell) hasTheSize(rows, columns uint16) {
	w.t.Helper()
	for _, size := range []pty.Winsize{{Rows: rows, Cols: columns}, {Rows: 40, Cols: 120}} {
		if err := pty.Setsize(w.p.tty, &size); err != nil {
			w.t.Fatal(err)
		}
		want := fmt.Sprint(size.Rows, " ", size.Cols, "\r")
		until(w.t, "the shell's terminal has the size "+want, func() bool {
			w.types("stty size\n")
			return strings.Contains(w.p.text(), want)
		})
	}
}

// alone fails when the terminal got something of the console since the shell has it, and then types.
func (w *consoleShell) alone(keys string) {
	w.t.Helper()
	text := w.p.text()
	text = text[strings.LastIndex(text, "ends it\r\n"):]
	for _, ours := range []string{"Sandboxes", "\x1b[?1049h", "\x1b[?2026h", "\x1b]"} {
		if strings.Contains(text, ours) {
			w.t.Errorf("the console wrote %q while the shell had the terminal: %q", ours, text)
		}
	}
	w.types(keys)
}

// left checks what is left behind: a terminal with the modes of a new one, and a journal with the end.
func (w *consoleShell) left(result audit.Result) {
	w.t.Helper()
	master, fresh, err := pty.Open()
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _, _ = fresh.Close(), master.Close() }()
	was := modes(w.t, fresh)
	until(w.t, "the journal has the end, and the terminal is as before", func() bool {
		recs := w.c.journal()
		last := recs[len(recs)-1]
		return (last.Phase == audit.PhaseDone || last.Phase == audit.PhaseStopped || last.Phase == audit.PhaseArmed) && reflect.DeepEqual(modes(w.t, w.tty), was)
	})
	_ = w.tty.Close()
	_ = w.p.ended(w.t) // what a lost shell exits with is not the question
	w.p.clean(w.t)
	for _, r := range w.c.journal() {
		if r.Phase == audit.PhaseOutcome && r.Result == result {
			return
		}
	}
	w.t.Errorf("the journal has no outcome %q", result)
}
