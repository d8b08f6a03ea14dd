package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"sandglass/actions/audit"
)

// slowRegistry is a Helix server with failed workspaces whose resets take until they are let go.
type slowRegistry struct {
	t      *testing.T
	server *httptest.Server
	began  chan string // a reset that arrived
	letGo  chan struct{}
	start  time.Time

	mu     sync.Mutex
	reset  map[string]time.Time
	silent bool // what it reports does not show resets
}

const slowWorkspaces = 5

func newSlowRegistry(t *testing.T) *slowRegistry {
	r := &slowRegistry{t: t, began: make(chan string, slowWorkspaces), letGo: make(chan struct{}), start: time.Now(), reset: map[string]time.Time{}}
	r.server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.server.Close)
	return r
}

func (r *slowRegistry) serve(w http.ResponseWriter, q *http.Request) {
	if q.Method == http.MethodPost {
		name := filepath.Base(filepath.Dir(q.URL.Path))
		r.began <- name
		select {
		case <-r.letGo:
		case <-q.Context().Done():
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.reset[name] = time.Now()
		w.WriteHeader(http.StatusNoContent)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := incidentSession{ID: "slow", Status: "running", StartedAt: r.start.Add(-time.Hour).UnixMilli()}
	for i := range slowWorkspaces {
		x := incidentWorkspace{Name: fmt.Sprintf("box-%d", i), State: "failed", Provider: "docker", LastError: "WorkspaceFailedError: it did not answer its first command",
			Attempt: r.start.Add(-40 * time.Minute).UnixMilli(), Success: r.start.Add(-41 * time.Minute).UnixMilli()}
		if at, ok := r.reset[x.Name]; ok && !r.silent {
			x.State, x.LastError, x.Attempt, x.Success = "open", "", at.UnixMilli()+1, at.UnixMilli()+1
		}
		s.Workspaces = append(s.Workspaces, x)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string][]incidentSession{"sessions": {s}}) // a client that went away needs no answer
}

// config allows resets.
func (r *slowRegistry) config() string {
	token := filepath.Join(r.t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("a-token-of-the-test"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return writeConfig(r.t, fmt.Sprintf("environment = \"slow\"\n[[source]]\nid = \"helix\"\nkind = \"helix\"\ninterval = \"1s\"\naggregate_url = \"%[1]s/operator/workspaces\"\nactions = [\"reset\"]\n"+
		"[source.act]\nfile = %[2]q\n[source.reset]\nurl = \"%[1]s/operator/sessions/{session}/workspaces/{workspace}/reset\"\n", r.server.URL, token))
}

// program is the real one, about the registry.
func (r *slowRegistry) program(config, dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append(args, "--config", config, "--state-dir", dir)...)
	cmd.Env = append(os.Environ(), "SANDGLASS_TEST_RUN_MAIN=1", "SANDGLASS_USER=tester")
	return cmd
}

// planned plans a reset of the first three workspaces and returns the plan's digest.
func (r *slowRegistry) planned(config, dir string) string {
	r.t.Helper()
	out, err := r.program(config, dir, "reset", "slow/box-0", "slow/box-1", "slow/box-2").CombinedOutput()
	digest := planLine.FindSubmatch(out)
	if err != nil || digest == nil {
		r.t.Fatalf("%v\n%s", err, out)
	}
	return string(digest[1])
}

// shown is what the screen shows.
func (p *onTerminal) shown(t *testing.T) string {
	t.Helper()
	em := vt.NewEmulator(120, 40)
	go func() { _, _ = io.Copy(io.Discard, em) }() // what it answers to the program's questions
	if _, err := em.WriteString(p.text()); err != nil {
		t.Fatal(err)
	}
	shown := em.String()
	if w, ok := em.InputPipe().(io.Closer); ok {
		_ = w.Close() // ends the copying; the emulator's own Close races with it
	}
	return shown
}

// sees waits until the text stands on the screen that the terminal shows, and returns all of it.
func (p *onTerminal) sees(t *testing.T, want string) string {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		shown := p.shown(t)
		if strings.Contains(shown, want) {
			return shown
		}
		if time.Now().After(end) {
			t.Fatalf("the screen never showed %q; it shows\n%s", want, shown)
		}
	}
}

// quit leaves the console with its own key.
func (p *onTerminal) quit(t *testing.T) {
	t.Helper()
	if _, err := io.WriteString(p.tty, "q"); err != nil {
		t.Fatal(err)
	}
	if code := p.ended(t); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// records checks the chain of the journal in a state directory and returns what it holds.
func records(t *testing.T, dir string) []audit.Record {
	t.Helper()
	j := audit.At(filepath.Join(dir, "audit.jsonl"))
	if report, err := j.Verify(t.Context()); err != nil || !report.Intact() {
		t.Fatalf("the journal: %+v, %v", report, err)
	}
	var out []audit.Record
	for r, err := range j.Records(t.Context(), audit.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// TestKilledBetweenIntentAndOutcome kills the real program with a signal that nobody can catch while a reset is under way.
// The next console opens on it and writes it down, and the one after that does not speak of it again.
func TestKilledBetweenIntentAndOutcome(t *testing.T) {
	r := newSlowRegistry(t)
	config, dir := r.config(), filepath.Join(t.TempDir(), "state")
	digest := r.planned(config, dir)
	acting := r.program(config, dir, "reset", "--yes-plan", digest, "--reason", "quota raised")
	var said bytes.Buffer
	acting.Stdout, acting.Stderr = &said, &said
	if err := acting.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-r.began:
	case <-time.After(patience):
		_ = acting.Process.Kill()
		_ = acting.Wait()
		t.Fatalf("no reset arrived:\n%s", said.String())
	}
	if err := acting.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = acting.Wait() // killed
	if last := records(t, dir); last[len(last)-1].Phase != audit.PhaseTargetIntent {
		t.Fatalf("the journal ends with %+v", last[len(last)-1])
	}
	p := startOnTerminal(t, nil, "--config", config, "--state-dir", dir)
	p.sees(t, "broken off: reset: 0 of 3 done; the result of slow/box-0 is unknown")
	p.quit(t)
	recs := records(t, dir)
	if last, before := recs[len(recs)-1], recs[len(recs)-2]; last.Phase != audit.PhaseStopped || last.Targets != 3 || before.Phase != audit.PhaseOutcome || before.Result != audit.ResultUnknown {
		t.Errorf("the journal ends with %+v, then %+v", before, last)
	}
	p = startOnTerminal(t, nil, "--config", config, "--state-dir", dir)
	p.waitFor(t, "Workspaces")
	p.quit(t)
	if strings.Contains(p.text(), "broken off: reset: 0 of 3") {
		t.Errorf("it is told again:\n%s", p.text())
	}
	if again := r.program(config, dir, "reset", "--yes-plan", digest, "--reason", "once more"); again.Run() == nil || again.ProcessState.ExitCode() != 4 {
		t.Error("a plan that was broken off was used again")
	}
}

// TestTheTerminalIsLostMidPlan takes the terminal of a console away while a target is being acted on: that one finishes,
// no other begins, and the journal says how far it came.
func TestTheTerminalIsLostMidPlan(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(p *onTerminal) error{
		"closed":  func(p *onTerminal) error { return p.tty.Close() },
		"hang-up": func(p *onTerminal) error { return p.cmd.Process.Signal(syscall.SIGHUP) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newSlowRegistry(t)
			config, dir := r.config(), filepath.Join(t.TempDir(), "state")
			stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = stderr.Close() }()
			p := startSaying(t, stderr, []string{"SANDGLASS_USER=tester"}, "--config", config, "--state-dir", dir)
			p.waitFor(t, "Workspaces")
			say := func(keys string) {
				if _, err := io.WriteString(p.tty, keys); err != nil {
					t.Fatal(err)
				}
			}
			say(":arm 10m quota\r")
			p.sees(t, "actions enabled for 9m")
			say("2")
			p.sees(t, "box-4")
			say(" j j r")
			wants := regexp.MustCompile(`type  (3 [0-9a-f]{4})`).FindStringSubmatch(p.sees(t, "and enter to go ahead"))
			if wants == nil {
				t.Fatal(p.sees(t, ""))
			}
			say(wants[1] + "\r")
			select {
			case <-r.began:
			case <-time.After(patience):
				t.Fatalf("no reset arrived: %q", p.text())
			}
			if err := lose(p); err != nil {
				t.Fatal(err)
			}
			until(t, "the program says that the plan stops", func() bool {
				said, err := os.ReadFile(stderr.Name())
				return err == nil && strings.Contains(string(said), "the plan stops before its next target")
			})
			close(r.letGo)
			_ = p.ended(t) // what a lost terminal exits with is not the question
			recs := records(t, dir)
			if last := recs[len(recs)-1]; last.Phase != audit.PhaseStopped || last.Done != 1 || last.Targets != 3 || !strings.Contains(last.Detail.String(), "1 of 3 done") {
				t.Errorf("the journal ends with %+v", last)
			}
			if len(r.began) != 0 {
				t.Error("another reset began")
			}
			for _, readOnly := range []string{"--read-only", "--read-only=false"} { // who only looks takes it from nobody
				p = startOnTerminal(t, nil, "--config", config, "--state-dir", dir, readOnly)
				p.sees(t, "broken off: reset: 1 of 3 done")
				p.quit(t)
			}
			p = startOnTerminal(t, nil, "--config", config, "--state-dir", dir)
			p.waitFor(t, "Workspaces")
			p.quit(t)
			if strings.Contains(p.text(), "broken off") {
				t.Errorf("it is told again:\n%s", p.text())
			}
		})
	}
}
