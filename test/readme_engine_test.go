package test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"

	"sandglass/backend/backendtest/enginetest"
)

// TestTheReadmeOnARealEngine runs what the README says to the user of a laptop on a real engine: the commands without
// a configuration, a rehearsed action, the starter configuration, and the README's own table of Docker.
func TestTheReadmeOnARealEngine(t *testing.T) { enginetest.Each(t, theReadmeOnARealEngine) }

func theReadmeOnARealEngine(t *testing.T, e *enginetest.Engine) {
	image := e.Image("readme")
	agent, ends := e.Run+"agent", e.Run+"ends"
	id := e.Container("agent", container.Config{Image: image, Labels: map[string]string{"sandglass.session": "c4f1"}}, container.HostConfig{})
	e.Container("ends", container.Config{Image: image, Cmd: []string{enginetest.Busybox, "sh", "-c", "echo out of paper; exit 7"}}, container.HostConfig{})
	r := newReadme(t)
	r.given = []string{"export DOCKER_HOST=" + e.Host, "unset SANDGLASS_CONFIG; export XDG_CONFIG_HOME=$PWD/none XDG_STATE_HOME=$PWD/kept"}
	says := func(line string, codes []int, want ...string) string {
		t.Helper()
		cmd := r.shell(r.dir, line)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // the exit code is looked at
		code, text := cmd.ProcessState.ExitCode(), out.String()
		ok := false
		for _, c := range codes {
			ok = ok || c == code
		}
		if !ok {
			t.Errorf("%s: exit code %d, want one of %v\n%s", line, code, codes, text)
		}
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not say %q:\n%s", line, w, text)
			}
		}
		return text
	}
	done := []int{0}
	until(t, "the engine has written the end down", func() bool {
		state, err := e.Docker("inspect", "-f", "{{.State.Status}}", ends)
		return err == nil && state == "exited"
	})
	says("sandglass get sandboxes -o wide", done, agent, ends, "running", "exited", "c4f1")
	says("sandglass get sandboxes -o csv", done, agent+",", "exited,")
	verdict := []int{0, 1, 2} // what else runs on this engine and machine decides
	until(t, "the end with an error is old enough to be one", func() bool {
		return strings.Contains(says("sandglass check", verdict), ends)
	})
	says("sandglass check", verdict, "sandbox-exited", ends, "ended with exit code 7", "first:")
	says("sandglass check -o json", verdict, `"sandbox-exited"`, ends)
	says("sandglass why "+ends, done, "out of paper", "sandbox-exited", "diagnosis")
	says("sandglass why "+agent, done, "running", "c4f1")
	says("sandglass stop "+ends+" --allow stop --dry-run --reason tidy", []int{4}, "it is not a sandbox", "sandglass.session")
	says("sandglass stop "+agent+" --allow stop --dry-run --reason tidy", done, "stop 1 sandbox", agent, "this is a dry run")
	if state, err := e.Docker("inspect", "-f", "{{.State.Running}}", id); err != nil || strings.TrimSpace(state) != "true" {
		t.Errorf("after a dry run the container's state is %q, %v", state, err)
	}
	says("sandglass config init own.toml", done, "wrote ", "own.toml")
	r.given[0] = "unset DOCKER_HOST" // another shell: the file knows the engine
	says("sandglass config check --config own.toml", done, "can be used", "now: ok")
	says("sandglass --config own.toml get sandboxes --filter sandbox="+agent, done, agent)

	table := blocks(t, "toml")[0]
	if !strings.Contains(table, `kind = "docker"`) {
		t.Fatalf("the README's first configuration is another one:\n%s", table)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "prod.toml"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	r.given[0] = "export DOCKER_HOST=" + e.Host
	says("sandglass config check --config prod.toml", done, "can be used", "now: ok")
	says("sandglass stop "+agent+" --config prod.toml --dry-run --reason tidy", done, "stop 1 sandbox")
	r.console(r.dir, "sandglass --config prod.toml")
}
