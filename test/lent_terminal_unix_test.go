//go:build unix

package test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"sandglass/app"
	"sandglass/backend/backendtest"
)

// lentConsole is a console whose terminal a pager has.
type lentConsole struct {
	*onTerminal
	polls   atomic.Int64
	state   string
	release string // a pipe: once it is written to, the pager ends
}

// newLentConsole opens the log of a session in a pager that shows a word and waits.
func newLentConsole(t *testing.T, env ...string) *lentConsole {
	t.Helper()
	w := &lentConsole{state: t.TempDir()}
	registry := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		w.polls.Add(1)
		now := time.Now().UnixMilli()
		_ = json.NewEncoder(rw).Encode(map[string]any{"sessions": []any{map[string]any{"sessionId": "s-lent", "status": "running", "workspaces": []any{
			map[string]any{"name": "w", "provider": "docker", "state": "open", "lastAttemptAt": now, "lastSuccessAt": now}}}}}) // a lost client is no failure
	}))
	t.Cleanup(registry.Close)
	dir := t.TempDir()
	w.release = filepath.Join(dir, "release")
	backendtest.Fifo(t, w.release)
	t.Cleanup(w.giveBack)
	pager, log := filepath.Join(dir, "pager"), filepath.Join(dir, "agent.log")
	write := func(file, text string, mode os.FileMode) {
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write(pager, "#!/bin/sh\necho the-pager-has-it\nread line < '"+w.release+"'\n", 0o700)
	write(log, "{\"level\":50,\"time\":"+fmt.Sprint(time.Now().UnixMilli())+",\"msg\":\"line-of-the-agent\",\"sessionId\":\"s-lent\"}\n", 0o600)
	config := writeConfig(t, fmt.Sprintf("environment = \"lent\"\n[[source]]\nid = \"helix\"\nkind = \"helix\"\ninterval = \"200ms\"\naggregate_url = %q\n"+
		"[[source]]\nid = \"log\"\nkind = \"logs\"\nfiles = [%q]\nlookback = \"1h\"\n", registry.URL, log))
	w.onTerminal = startOnTerminal(t, append(env, "PAGER="+pager), "--config", config, "--state-dir", w.state)
	w.waitFor(t, "Sessions")
	w.types(t, "4")
	w.waitFor(t, "s-lent")
	w.types(t, "l")
	w.waitFor(t, "line-of-the-agent")
	w.types(t, "o")
	w.waitFor(t, "the-pager-has-it")
	return w
}

func (w *lentConsole) types(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(w.tty, keys); err != nil {
		t.Fatal(err)
	}
}

// giveBack ends the pager, if it still waits.
func (w *lentConsole) giveBack() {
	if f, err := os.OpenFile(w.release, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		_, _ = f.WriteString("\n")
		_ = f.Close()
	}
}

// Sources are read on while a pager has the terminal, and the console is back after it.
func TestPollingGoesOnWhileTheTerminalIsLent(t *testing.T) {
	t.Parallel()
	w := newLentConsole(t)
	before := w.polls.Load()
	until(t, "sources are read on", func() bool { return w.polls.Load() > before+4 })
	if text := w.text(); strings.LastIndex(text, "\x1b[?1049h") > strings.LastIndex(text, "the-pager-has-it") {
		t.Error("the console took the screen while the pager had it")
	}
	drawn := strings.Count(w.text(), "\x1b[?1049h")
	w.giveBack()
	until(t, "the console is drawn again", func() bool { return strings.Count(w.text(), "\x1b[?1049h") > drawn })
	w.types(t, "q")
	if code := w.ended(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
	w.clean(t)
}

// However the console ends while a pager has the terminal, that is left as it was found; what is a fault of ours is in a crash file.
func TestTheEndWhileTheTerminalIsLent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		signal syscall.Signal // zero: a panic
		code   int
		crash  bool
	}{
		"SIGTERM": {syscall.SIGTERM, 0, false},
		"SIGHUP":  {syscall.SIGHUP, 0, false},
		"SIGQUIT": {syscall.SIGQUIT, 128 + int(syscall.SIGQUIT), true},
		"panic":   {0, app.ExitCrash, true},
	} {
		t.Run(name, func(t *testing.T) {
			var env []string
			pipe := filepath.Join(t.TempDir(), "now")
			if c.signal == 0 {
				backendtest.Fifo(t, pipe)
				env = append(env, "SANDGLASS_TEST_PANIC="+pipe)
			}
			w := newLentConsole(t, env...)
			var err error
			if c.signal == 0 {
				err = os.WriteFile(pipe, nil, 0)
			} else {
				err = w.cmd.Process.Signal(c.signal)
			}
			if err != nil {
				t.Fatal(err)
			}
			if c.crash { // the pager outlives a console that crashed
				w.waitFor(t, "crash-")
				w.giveBack()
			}
			if code := w.ended(t); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			w.clean(t)
			files, err := filepath.Glob(filepath.Join(w.state, "crash-*.txt"))
			if err != nil || (len(files) == 1) != c.crash {
				t.Errorf("crash files: %v %v", files, err)
			}
		})
	}
}
