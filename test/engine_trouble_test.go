package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"sandglass/backend/backendtest/enginetest"
)

// TestRealDockerTrouble makes containers on a real engine that do not do what they should, beside others that do, and reads
// what check says about them.
func TestRealDockerTrouble(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, realDockerTrouble)
}

func realDockerTrouble(t *testing.T, e *enginetest.Engine) {
	t.Parallel()
	image := e.Image("trouble")
	run := fmt.Sprint("sandglass-trouble-", os.Getpid(), "-")
	docker := func(fails bool, args ...string) {
		t.Helper()
		if _, err := e.Docker(args...); err != nil && !fails {
			t.Fatal("docker failed")
		}
	}
	create := func(name string, args ...string) {
		t.Helper()
		at := 0
		for args[at] != "--" {
			at++
		}
		of := append([]string{"run", "-d", "--name", run + name, "--network", "none", "--label", "sandglass.session=s-1", "--label", "sandglass.workspace=" + name}, args[:at]...)
		t.Cleanup(func() { _ = e.Remove(run + name) })
		docker(name == "missing", append(append(of, image), args[at+1:]...)...)
	}
	box := enginetest.Busybox
	create("missing", "--", "/bin/agentd")
	create("loops", "--restart=always", "--", box, "sh", "-c", "sleep 0.2; echo cannot open db >&2; exit 3")
	create("sick", "--health-cmd", "/bin/busybox false", "--health-interval", "1s", "--health-retries", "2", "--", box, "sleep", "600")
	create("fails", "--", box, "sh", "-c", "echo working; echo fatal: no model >&2; exit 4")
	create("full", "-m", "16m", "--memory-swap", "16m", "--", box, "sh", "-c", "echo growing; a=x; while true; do a=$a$a; done")
	create("done", "--", box, "true")
	create("stopped", "--", box, "sleep", "600")
	create("paused", "--", box, "sleep", "600")
	create("slow", "--health-cmd", "/bin/busybox false", "--health-interval", "1s", "--health-start-period", "10m", "--", box, "sleep", "600")
	for _, name := range []string{"sick", "slow"} {
		e.CheckHealth(run+name, time.Second)
	}
	docker(false, "stop", "-t", "0", run+"stopped")
	docker(false, "pause", run+"paused")
	docker(false, "create", "--name", run+"created", "--label", "sandglass.session=s-1", image, box, "true")
	t.Cleanup(func() { _, _ = e.Docker("rm", "-f", run+"created") })

	file := writeConfig(t, fmt.Sprintf("environment = \"trouble\"\n[[source]]\nid = \"engine\"\nkind = \"docker\"\nhost = %q\n"+
		"[[source]]\nid = \"helix\"\nkind = \"helix\"\naggregate_url = %q\n", e.Host, runningSession(t)))
	state := t.TempDir()
	want := map[string][]string{
		"sandbox-start-failed": {run + "missing: cannot start:", "/bin/agentd"},
		"sandbox-crash-loop":   {run + "loops: restarted", "restart policy: always", "ends: cannot open db"},
		"sandbox-unhealthy":    {run + "sick: unhealthy since", "in a row"},
		"sandbox-exited":       {run + "fails: exit code 4", "fatal: no model"},
		"sandbox-oom":          {run + "full: killed at its memory limit of 16 MiB", "ended with exit code 137", "ends: growing"},
	}
	if e.Kind == enginetest.Podman {
		delete(want, "sandbox-start-failed") // it keeps no error of a start
	}
	var missing, text string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Second) {
		text = checkText(t, file, state)
		if missing = lacks(text, want); missing == "" {
			break
		}
	}
	if missing != "" {
		t.Errorf("check lacks %s:\n%s", missing, text)
	}
	for _, quiet := range []string{"done", "stopped", "paused", "slow", "created"} {
		if strings.Contains(text, run+quiet) {
			t.Errorf("%s is told of:\n%s", quiet, text)
		}
	}
}

// runningSession serves a list of one running session.
func runningSession(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		now := time.Now().UnixMilli()
		_ = json.NewEncoder(w).Encode(map[string]any{"sessions": []any{map[string]any{"sessionId": "s-1", "status": "running",
			"workspaces": []any{map[string]any{"name": "notes", "state": "open", "lastAttemptAt": now, "lastSuccessAt": now}}}}}) // a lost client is no failure
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// checkText is what one check prints about a real engine.
func checkText(t *testing.T, file, state string, more ...string) string {
	t.Helper()
	p := testProgram(time.Now)
	p.Getenv = os.Getenv
	var out bytes.Buffer
	p.Stdout = &out
	p.Run(t.Context(), append([]string{"check", "--config", file, "--state-dir", state}, more...))
	return out.String()
}

// lacks names the first rule of which a part of the text is missing among its firing alerts.
func lacks(text string, want map[string][]string) string {
	for rule, parts := range want {
		_, said, is := strings.Cut(text, " "+rule+" on engine, firing")
		said, _, _ = strings.Cut(said, "\n\n")
		for _, part := range parts {
			if !is || !strings.Contains(said, part) {
				return fmt.Sprintf("%s: %q", rule, part)
			}
		}
	}
	return ""
}
