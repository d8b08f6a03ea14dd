package test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"sandglass/app"
	"sandglass/backend/backendtest"
)

// TestMain lets the test binary be the program itself, so that tests can run the real main in a real terminal.
func TestMain(m *testing.M) {
	backendtest.Umask() // what others could write is trusted nowhere
	if os.Getenv("SANDGLASS_TEST_RUN_MAIN") == "1" {
		a := app.New(kinds(), effects())
		if pipe := os.Getenv("SANDGLASS_TEST_PANIC"); pipe != "" {
			a.Spawn.Go("test", func() {
				_, _ = os.ReadFile(pipe) // until the test opens it, too
				panic("\x1b]0;boom\x07")
			})
		}
		if pipe := os.Getenv("SANDGLASS_TEST_SCREEN_PANIC"); pipe != "" {
			panicInScreen(a, pipe)
		}
		os.Exit(run(a, os.Args[1:]))
	}
	if err := os.Chdir(".."); err != nil { // the tests name files from the top of the tree
		panic(err)
	}
	if err := os.Setenv("SANDGLASS_USER", "tester"); err != nil { // superusers without sudo are asked who they are
		panic(err)
	}
	debug.SetGCPercent(400) // worlds are many short-lived States
	debug.SetMemoryLimit(600 << 20)
	flag.Parse()
	if limit := flag.Lookup("test.parallel"); limit.Value.String() == limit.DefValue { // most tests wait: for engines, scrapes, terminals
		if err := limit.Value.Set("6"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// panicInScreen makes the screen's next look at the clock panic, once the test opened the pipe too.
func panicInScreen(a *app.App, pipe string) {
	var armed atomic.Bool
	a.Spawn.Go("test", func() {
		_, _ = os.ReadFile(pipe)
		armed.Store(true)
	})
	clock := a.Now
	a.Now = func() time.Time {
		if armed.Load() && bytes.Contains(debug.Stack(), []byte("sandglass/ui.(*Model)")) {
			panic("\x1b]0;boom\x07")
		}
		return clock()
	}
}

// patience is how long a test waits for what must come before it calls it missing: a busy machine takes its time.
const patience = 2 * time.Minute

// until waits until something is so.
func until(t *testing.T, what string, so func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v in vain: %s", patience, what)
		}
	}
}

// onTerminal is the program in a pseudo-terminal.
type onTerminal struct {
	cmd *exec.Cmd
	tty *os.File

	mu  sync.Mutex
	out bytes.Buffer
	end chan error
}

func startOnTerminal(t *testing.T, env []string, args ...string) *onTerminal {
	t.Helper()
	return startSaying(t, nil, env, args...)
}

// startSaying is startOnTerminal with the standard error in a file, where it outlives the terminal; nil leaves it there.
func startSaying(t *testing.T, stderr *os.File, env []string, args ...string) *onTerminal {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	if stderr != nil {
		cmd.Stderr = stderr
	}
	cmd.Env = append([]string{"SANDGLASS_TEST_RUN_MAIN=1", "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"),
		"HOME=" + t.TempDir(), "TMPDIR=/tmp", "LANG=C.UTF-8"}, env...)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		t.Fatal(err)
	}
	p := &onTerminal{cmd: cmd, tty: tty, end: make(chan error, 1)}
	p.read()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = tty.Close() })
	return p
}

// read keeps what the program writes, until it ends.
func (p *onTerminal) read() {
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := p.tty.Read(buf)
			p.mu.Lock()
			p.out.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				p.end <- p.cmd.Wait()
				return
			}
		}
	}()
}

func (p *onTerminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.out.String()
}

// waitFor waits until the terminal received the text.
func (p *onTerminal) waitFor(t *testing.T, want string) {
	t.Helper()
	for end := time.Now().Add(patience); !strings.Contains(p.text(), want); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the terminal never showed %q; it got %q", want, p.text())
		}
	}
}

// ended waits for the program's end and returns its exit status.
func (p *onTerminal) ended(t *testing.T) int {
	t.Helper()
	select {
	case <-p.end:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("the program did not end; the terminal got %q", p.text())
		return -1
	}
}

// clean checks that the terminal was given back as it was found: main screen, cursor visible, no modes left on.
func (p *onTerminal) clean(t *testing.T) {
	t.Helper()
	out := p.text()
	for what, seq := range map[string][2]string{
		"alternate screen": {"\x1b[?1049h", "\x1b[?1049l"},
		"hidden cursor":    {"\x1b[?25l", "\x1b[?25h"},
		"bracketed paste":  {"\x1b[?2004h", "\x1b[?2004l"},
	} {
		if on, off := strings.LastIndex(out, seq[0]), strings.LastIndex(out, seq[1]); on >= 0 && off < on {
			t.Errorf("%s is left on", what)
		}
	}
}

func TestTerminalIsLeftClean(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]struct {
		how  func(*onTerminal) error
		code int
	}{
		"q":       {func(p *onTerminal) error { _, err := io.WriteString(p.tty, "q"); return err }, 0},
		"ctrl+c":  {func(p *onTerminal) error { _, err := io.WriteString(p.tty, "\x03"); return err }, 0},
		"SIGTERM": {func(p *onTerminal) error { return p.cmd.Process.Signal(syscall.SIGTERM) }, 0},
		"SIGHUP":  {func(p *onTerminal) error { return p.cmd.Process.Signal(syscall.SIGHUP) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := startOnTerminal(t, nil, "demo", "--workspaces", "40", "--scenario", "calm")
			p.waitFor(t, "Workspaces")
			if err := leave.how(p); err != nil {
				t.Fatal(err)
			}
			if code := p.ended(t); code != leave.code {
				t.Errorf("exit status %d, want %d", code, leave.code)
			}
			p.clean(t)
		})
	}
}

// A panic on a goroutine and one of the screen's own program end the console alike.
func TestPanicRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	for name, variable := range map[string]string{"goroutine": "SANDGLASS_TEST_PANIC", "screen": "SANDGLASS_TEST_SCREEN_PANIC"} {
		t.Run(name, func(t *testing.T) { panicsOnTerminal(t, variable) })
	}
}

// A terminal that can move no cursor gets no screen but a sentence.
func TestADumbTerminalGetsNoScreen(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"TERM=dumb", "TERM="} {
		p := startOnTerminal(t, []string{set}, "demo", "--workspaces", "40", "--state-dir", t.TempDir())
		if code := p.ended(t); code == 0 {
			t.Errorf("%s: exit status 0", set)
		}
		if out := p.text(); !strings.Contains(out, "Without a screen: sandglass demo --headless") || strings.Contains(out, "\x1b") {
			t.Errorf("%s: %q", set, out)
		}
	}
}

// A signal from outside whose default is a dump of goroutines leaves the terminal clean, and the dump in a file.
func TestSignalsRestoreTheTerminal(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			state := t.TempDir()
			p := startOnTerminal(t, nil, "demo", "--workspaces", "40", "--scenario", "calm", "--state-dir", state)
			p.waitFor(t, "Workspaces")
			if err := p.cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if code := p.ended(t); code != 128+int(sig) {
				t.Errorf("exit status %d, want %d", code, 128+int(sig))
			}
			p.clean(t)
			if out := p.text(); !strings.Contains(out, "ended by the signal") || strings.Contains(out, "goroutine 1 ") {
				t.Errorf("the last words: %q", out[max(0, len(out)-400):])
			}
			files, err := filepath.Glob(filepath.Join(state, "crash-*.txt"))
			if err != nil || len(files) != 1 {
				t.Fatalf("crash files: %v %v", files, err)
			}
			if dump, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(dump), "goroutine 1 ") {
				t.Errorf("the crash file holds %.200q, %v", dump, err)
			}
		})
	}
}

// What a signal ends is kept before the process ends: the next console begins there, and no half of a file is left.
func TestASignalKeepsWhereTheConsoleWas(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	config := writeConfig(t, fmt.Sprintf("[[source]]\nid = \"scratch\"\nkind = \"tmpdir\"\nroots = [%q]\n", t.TempDir()))
	p := startOnTerminal(t, nil, "--config", config, "--state-dir", state)
	p.waitFor(t, "Sources")
	if _, err := p.tty.WriteString("9"); err != nil {
		t.Fatal(err)
	}
	p.sees(t, "KIND")
	if err := p.cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	p.ended(t)
	kept, err := filepath.Glob(filepath.Join(state, "console-*.json"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept: %v %v", kept, err)
	}
	if data, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(data), `"sources"`) {
		t.Errorf("kept %s, %v", data, err)
	}
	if half, err := filepath.Glob(filepath.Join(state, ".console-*")); err != nil || len(half) > 0 {
		t.Errorf("left: %v %v", half, err)
	}
}

func panicsOnTerminal(t *testing.T, variable string) {
	state := t.TempDir()
	pipe := filepath.Join(t.TempDir(), "now")
	backendtest.Fifo(t, pipe)
	p := startOnTerminal(t, []string{variable + "=" + pipe}, "demo", "--workspaces", "40", "--scenario", "calm", "--state-dir", state)
	p.waitFor(t, "Workspaces")
	if err := os.WriteFile(pipe, nil, 0); err != nil { // the screen is up
		t.Fatal(err)
	}
	if code := p.ended(t); code != app.ExitCrash {
		t.Errorf("exit status %d, want %d", code, app.ExitCrash)
	}
	p.clean(t)
	if out := p.text(); !strings.Contains(out, "crash-") || strings.Contains(out, "\x1b]0;boom") {
		t.Errorf("the last words should name the crash file and carry nothing raw: %q", out[max(0, len(out)-400):])
	}
	files, err := filepath.Glob(filepath.Join(state, "crash-*.txt"))
	if err != nil || len(files) != 1 {
		t.Errorf("crash files: %v %v", files, err)
	}
}
