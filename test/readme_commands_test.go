package test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// readme is a shell in which the README's commands run: sandglass is this program.
type readme struct {
	t     *testing.T
	dir   string
	given []string // lines that change the shell for those after them
}

// TestCommandsOfTheReadme runs each line of the README's sh blocks as it is, on the demo that the blocks start, and then
// the command lines that the plans end with. What only CI runs is in .ci/run word for word.
func TestCommandsOfTheReadme(t *testing.T) {
	t.Parallel()
	ci := fileText(t, ".ci/run")
	r := newReadme(t)
	for _, line := range blockLines(t, "sh") {
		command, _, _ := strings.Cut(line, " #")
		command = strings.TrimSpace(command)
		switch {
		case command == "go run . demo":
			r.console(".", command)
		case strings.HasPrefix(command, "go "):
			if !strings.Contains(ci, "\n"+command+"\n") {
				t.Errorf(".ci/run does not run %q", command)
			}
		case strings.HasPrefix(command, "CGO_ENABLED=0 go build "):
			if !strings.Contains(ci, "grep '^CGO_ENABLED=0 go build' README.md") {
				t.Errorf(".ci/run does not run %q", command)
			}
		case strings.HasSuffix(command, "&"):
			r.behind(strings.TrimSuffix(command, "&"))
		case strings.HasPrefix(command, "until "):
			r.run(command, 0)
		case strings.HasPrefix(command, "export "):
			r.given = append(r.given, command)
		case strings.HasPrefix(command, "sandglass "):
			r.command(command)
		default:
			t.Errorf("nothing runs %q: give its block another kind than sh", command)
		}
	}
	for _, more := range []string{"sandglass audit show", "sandglass audit verify", "sandglass rules list", "sandglass demo --help",
		"sandglass config check", "sandglass config init own.toml", "sandglass bundle s-0bd6c1d112ed/box", `sandglass note "rolled back agent-eu"`} {
		r.command(more)
	}
	if err := os.Link(filepath.Join(r.dir, "demo.toml"), filepath.Join(r.dir, "prod.toml")); err != nil {
		t.Fatal(err)
	}
	r.console(r.dir, "sandglass --config prod.toml")
}

func newReadme(t *testing.T) *readme {
	t.Helper()
	r := &readme{t: t, dir: t.TempDir()}
	program := fmt.Sprintf("#!/bin/sh\nSANDGLASS_TEST_RUN_MAIN=1 exec '%s' \"$@\"\n", os.Args[0])
	if err := os.WriteFile(filepath.Join(r.dir, "sandglass"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *readme) shell(dir, line string) *exec.Cmd {
	cmd := exec.Command("sh", "-c", strings.Join(append(r.given, line), "\n"))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+r.dir+":"+os.Getenv("PATH"), "XDG_STATE_HOME="+r.dir, "XDG_CONFIG_HOME="+r.dir, "SANDGLASS_USER=mara", "TERM=xterm-256color")
	return cmd
}

// command runs a line and checks its exit code; the plan that it prints is carried out by the line at its end.
func (r *readme) command(line string) {
	r.t.Helper()
	want := 0
	if strings.HasPrefix(line, "sandglass check") {
		want = 2 // something critical fires in the demo
	}
	out := r.run(line, want)
	if end := regexp.MustCompile(`(?m)^  (sandglass \w+ --yes-plan .*)$`).FindStringSubmatch(out); end != nil {
		r.run(end[1], 0)
	}
}

func (r *readme) run(line string, want int) string {
	r.t.Helper()
	for tries := 0; ; tries++ {
		cmd := r.shell(r.dir, line)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			r.t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != want && tries < 3 && strings.Contains(string(out)+errs.String(), processesHidden) {
			continue
		} else if got != want {
			r.t.Errorf("%s: exit code %d, want %d\n%s%s", line, got, want, out, errs.String())
		}
		return string(out)
	}
}

// behind starts a line in the background, until the test ends. Its file goes with it.
func (r *readme) behind(line string) {
	r.t.Helper()
	cmd := r.shell(r.dir, "exec "+line)
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	file := filepath.Join(r.dir, regexp.MustCompile(`--write-config (\S+)`).FindStringSubmatch(line)[1])
	r.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			r.t.Errorf("the configuration of a demo that has ended is left behind: %v", err)
		}
	})
}

// console runs a line in a terminal until its screen is there, and leaves it by q.
func (r *readme) console(dir, line string) {
	r.t.Helper()
	cmd := r.shell(dir, "exec "+line)
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 120})
	if err != nil {
		r.t.Fatal(err)
	}
	p := &onTerminal{cmd: cmd, tty: tty, end: make(chan error, 1)}
	p.read()
	r.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = tty.Close() })
	p.waitFor(r.t, "Alerts")
	time.Sleep(500 * time.Millisecond)
	if _, err := tty.WriteString("q"); err != nil {
		r.t.Fatal(err)
	}
	if code := p.ended(r.t); code != 0 {
		r.t.Errorf("%s: exit code %d", line, code)
	}
}

// blocks are the README's code blocks of a kind.
func blocks(t *testing.T, kind string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(fileText(t, "README.md"), -1) {
		switch m[1] {
		case kind:
			out = append(out, m[2])
		case "sh", "toml":
		default:
			t.Errorf("a block of the README is of the kind %q, so that nothing says whether it runs:\n%s", m[1], m[2])
		}
	}
	return out
}

func blockLines(t *testing.T, kind string) []string {
	return strings.Split(strings.TrimSpace(strings.Join(blocks(t, kind), "")), "\n")
}

func fileText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestConfigurationsOfTheReadme: each block of TOML is a whole configuration, and the one for a Helix server reads one.
func TestConfigurationsOfTheReadme(t *testing.T) {
	t.Parallel()
	helix := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer t0k3n":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/sessions":
			_, _ = w.Write([]byte(`{"sessions":[{"sessionId":"s-1","status":"running"},{"sessionId":"s-2","status":"running"}]}`))
		default:
			now := time.Now().UnixMilli()
			_, _ = fmt.Fprintf(w, `{"workspaces":[{"name":"box","state":"open","lastAttemptAt":%d,"lastSuccessAt":%d}]}`, now, now)
		}
	}))
	defer helix.Close()
	r := newReadme(t)
	r.given = []string{"export HELIX_TOKEN=t0k3n"}
	read := 0
	for i, text := range blocks(t, "toml") {
		file := fmt.Sprintf("%d.toml", i)
		if err := os.WriteFile(filepath.Join(r.dir, file), []byte(strings.ReplaceAll(text, "https://agents.example.com", helix.URL)), 0o600); err != nil {
			t.Fatal(err)
		}
		r.run("sandglass config check --config "+file, 0)
		if strings.Contains(text, "agents.example.com") {
			read++
			if out := r.run("sandglass check --config "+file, 0); !strings.Contains(out, "2 workspaces, 1 of 1 source ok") {
				t.Errorf("the Helix server is not read:\n%s", out)
			}
		}
	}
	if read != 1 {
		t.Errorf("%d blocks read a Helix server", read)
	}
}
