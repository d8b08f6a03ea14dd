package test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend/backendtest/enginetest"
)

// TestRealEnginesContradicted breaks containers of real engines whose registry calls them open: each is one contradiction with its
// own cause, and their healthy neighbours are none.
func TestRealEnginesContradicted(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, realEngineContradicted)
}

func realEngineContradicted(t *testing.T, e *enginetest.Engine) {
	image := e.Image("contradicted", "sh", "sleep", "true")
	run := fmt.Sprint("sandglass-contradicted-", os.Getpid(), "-")
	docker := func(args ...string) string {
		t.Helper()
		out, err := e.Docker(args...)
		if err != nil {
			t.Fatal("docker failed")
		}
		return out
	}
	var names []string
	box := func(name string, args ...string) {
		t.Helper()
		names = append(names, name)
		of := []string{"run", "-d", "--name", run + name, "--network", "none", "-w", "/work/ws", "--label", "sandglass.session=s-" + name, "--label", "sandglass.workspace=w"}
		command := []string{"sleep", "600"}
		for i, x := range args {
			if x == "--" {
				args, command = args[:i], args[i+1:]
				break
			}
		}
		t.Cleanup(func() { _ = e.Remove(run + name) })
		if _, err := e.Docker(append(append(append(of, args...), image), command...)...); err != nil && name != "unstarted" {
			t.Fatal("docker failed")
		}
	}
	inside := func(name string, argv ...string) {
		t.Helper()
		docker(append([]string{"exec", "-w", "/", "-u", "0", run + name, enginetest.Busybox}, argv...)...)
	}
	for _, name := range []string{"healthy", "missing", "dangling", "link", "file", "paused", "frozen", "removed"} {
		box(name)
	}
	inside("missing", "rm", "-r", "/work/ws")
	for name, target := range map[string]string{"dangling": "/mnt/gone", "link": "/tmp"} {
		inside(name, "rmdir", "/work/ws")
		inside(name, "ln", "-s", target, "/work/ws")
	}
	inside("file", "rmdir", "/work/ws")
	inside("file", "touch", "/work/ws")
	docker("pause", run+"paused")
	docker("kill", "-s", "STOP", run+"frozen")
	t.Cleanup(func() { _, _ = e.Docker("kill", "-s", "CONT", run+"frozen") })
	box("shut", "-u", "1000")
	inside("shut", "chown", "0:0", "/work/ws")
	inside("shut", "chmod", "0700", "/work/ws")
	box("root", "-u", "1000", "-w", "/")
	inside("root", "chmod", "0700", "/")
	box("loop")
	inside("loop", "rmdir", "/work/ws")
	inside("loop", "ln", "-s", "/work/ws", "/work/ws")
	bound := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(bound, 0o755); err != nil {
		t.Fatal(err)
	}
	box("unlinked", "-v", bound+":/work/ws")
	if err := os.Remove(bound); err != nil {
		t.Fatal(err)
	}
	box("unmounted", "-v", t.TempDir()+":/work/ws")
	pid := docker("inspect", "-f", "{{.State.Pid}}", run+"unmounted")
	if out, err := exec.Command("nsenter", "-t", pid, "-m", enginetest.Busybox, "umount", "-l", "/work/ws").CombinedOutput(); err != nil {
		e.Missing("the mount of a container cannot be removed: %v: %s", err, out)
	}
	box("ended", "--", "sh", "-c", "exit 5")
	box("limit", "-m", "16m", "--memory-swap", "16m", "--", "sh", "-c", "a=x; while true; do a=$a$a; done")
	box("unstarted", "--", "/bin/agentd")
	box("done", "--", "true")

	byID := map[string]string{}
	for _, name := range names {
		byID[docker("inspect", "-f", "{{.Id}}", run+name)] = name
	}
	registry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var sessions []any
		now := time.Now().UnixMilli()
		for _, name := range names {
			sessions = append(sessions, map[string]any{"sessionId": "s-" + name, "status": "running", "workspaces": []any{
				map[string]any{"name": "w", "provider": "docker", "state": "open", "lastAttemptAt": now, "lastSuccessAt": now}}})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"sessions": sessions}) // a lost client is no failure
	}))
	t.Cleanup(registry.Close)
	file := writeConfig(t, fmt.Sprintf("environment = \"contradicted\"\n[[source]]\nid = \"engine\"\nkind = \"docker\"\nhost = %q\nworkdir_sweep = \"5s\"\nfrozen_after = \"10s\"\n"+
		"[[source]]\nid = \"helix\"\nkind = \"helix\"\naggregate_url = %q\n[rules.contradiction]\nsettle = \"5s\"\nmany = 50\n", e.Host, registry.URL))
	state := t.TempDir()
	checkText(t, file, state)
	docker("rm", "-f", run+"removed")
	want := map[string]string{"missing": "its working directory is missing", "dangling": "its working directory is a link to nothing", "file": "its working directory is not a directory",
		"loop": "its working directory is a link to nothing", "root": "its user may not enter its working directory",
		"shut": "its user may not enter its working directory", "unlinked": "the host directory mounted there was removed", "unmounted": "its mount is gone",
		"frozen": "its main process is frozen", "ended": "its container ended with exit code 5", "limit": "its container was killed at its memory limit",
		"unstarted": "its container could not start", "removed": "its container is gone"}
	if e.Kind == enginetest.Podman { // it keeps no error of a start
		want["unstarted"] = "its container was never started"
	}
	var wrong []string
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(3 * time.Second) {
		said := contradictions(t, file, state, byID)
		wrong = nil
		for _, name := range names {
			if got := said[name]; len(got) > 1 || want[name] == "" && len(got) > 0 || want[name] != "" && (len(got) == 0 || !strings.Contains(got[0], want[name])) {
				wrong = append(wrong, fmt.Sprintf("%s: %q, want %q", name, got, want[name]))
			}
		}
		if len(wrong) == 0 {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}

// contradictions are the causes of the contradictions that fire, by container.
func contradictions(t *testing.T, file, state string, byID map[string]string) map[string][]string {
	t.Helper()
	var document struct {
		Alerts []struct {
			Rule, State, Cause string
			Subjects           []struct{ ID string }
		}
	}
	if err := json.Unmarshal([]byte(checkText(t, file, state, "-o", "json")), &document); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, a := range document.Alerts {
		if a.Rule != "contradiction" || a.State != "firing" {
			continue
		}
		for _, x := range a.Subjects {
			name, is := byID[x.ID]
			if !is { // a workspace
				name = strings.TrimSuffix(strings.TrimPrefix(x.ID, "s-"), "/w")
			}
			out[name] = append(out[name], a.Cause)
		}
	}
	return out
}
