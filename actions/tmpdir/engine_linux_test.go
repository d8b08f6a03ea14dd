package tmpdir

import (
	"archive/tar"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/docker"
	"sandglass/backend/fleet"
	"sandglass/internal/skip"
)

// engineOptions are those of a source of kind docker.
type engineOptions struct{ host string }

func (o engineOptions) Decode(into any) error {
	opts, ok := into.(*docker.Options)
	if !ok {
		return fmt.Errorf("not the options of an engine: %T", into)
	}
	opts.Host = o.host
	return nil
}

func (o engineOptions) Refuse(key, format string, args ...any) error {
	return fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...))
}

// dockerCommand runs the Docker command.
func dockerCommand(t *testing.T, stdin []byte, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out)), err
}

// realEngine makes an image of busybox alone on the machine's engine, or skips with the reason.
func realEngine(t *testing.T) (host, image string) {
	t.Helper()
	if host = os.Getenv("DOCKER_HOST"); host == "" {
		host = "unix:///var/run/docker.sock"
	}
	if _, err := exec.LookPath("docker"); err != nil {
		skip.Without(t, "docker", err.Error())
	}
	if out, err := dockerCommand(t, nil, "version", "--format", "{{.Server.Version}}"); err != nil {
		skip.Without(t, "docker", out)
	}
	program, err := os.ReadFile("/bin/busybox")
	if err != nil {
		skip.Without(t, "docker", err.Error())
	}
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	if err := w.WriteHeader(&tar.Header{Name: "bin/busybox", Mode: 0o755, Size: int64(len(program))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(program); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	image = fmt.Sprintf("sandglass-test:clean-%d", os.Getpid())
	if _, err := dockerCommand(t, tree.Bytes(), "import", "-", image); err != nil {
		t.Fatal("docker import failed")
	}
	t.Cleanup(func() { _, _ = dockerCommand(t, nil, "rmi", "-f", image) })
	return host, image
}

// TestContainersOfARealEngine makes containers in every state of which each was given a directory.
func TestContainersOfARealEngine(t *testing.T) {
	host, image := realEngine(t)
	r := newRig(t)
	keys := map[string]backend.Key{}
	start := func(state string, args ...string) string {
		t.Helper()
		dir := "helix-ws-" + state
		keys[state] = r.dir(dir)
		name := fmt.Sprintf("sandglass-clean-%d-%s", os.Getpid(), state)
		verb := []string{"run", "-d"}
		if state == "created" {
			verb = []string{"create"}
		}
		id, err := dockerCommand(t, nil, append(append(verb, "--name", name, "--network", "none", "-v", r.root+"/"+dir+"/a:/work"), args...)...)
		t.Cleanup(func() { _, _ = dockerCommand(t, nil, "rm", "-f", name) })
		if err != nil {
			t.Fatal("docker failed")
		}
		return id
	}
	for _, state := range []string{"running", "paused", "exited", "created"} {
		id := start(state, image, "/bin/busybox", "sleep", "600")
		switch state {
		case "paused":
			_, _ = dockerCommand(t, nil, "pause", id) // its state is checked below
		case "exited":
			_, _ = dockerCommand(t, nil, "kill", id)
			_, _ = dockerCommand(t, nil, "wait", id)
		}
	}
	// Volumes that stand for a directory: one that no container has, and one whose container is created, runs, and exits.
	for _, state := range []string{"unused", "volume"} {
		keys[state] = r.dir("helix-ws-" + state)
		name := fmt.Sprintf("sandglass-clean-%d-%s", os.Getpid(), state)
		if _, err := dockerCommand(t, nil, "volume", "create", "-o", "type=none", "-o", "o=bind", "-o", "device="+r.root+"/helix-ws-"+state, name); err != nil {
			t.Fatal("docker failed")
		}
		t.Cleanup(func() { _, _ = dockerCommand(t, nil, "volume", "rm", "-f", name) })
	}
	owner := fmt.Sprintf("sandglass-clean-%d-owner", os.Getpid())
	t.Cleanup(func() { _, _ = dockerCommand(t, nil, "rm", "-f", owner) })
	if _, err := dockerCommand(t, nil, "run", "--name", owner, "--network", "none", "-v", fmt.Sprintf("sandglass-clean-%d-volume:/work", os.Getpid()), image, "/bin/busybox", "touch", "/work/made"); err != nil {
		t.Fatal("docker failed")
	}
	if _, err := os.Stat(r.root + "/helix-ws-volume/made"); err != nil {
		t.Fatalf("the volume is not that directory: %v", err)
	}
	keys["free"] = r.dir("helix-ws-free")
	var dialer net.Dialer
	src, err := docker.Kind().New(engineOptions{host}, backend.Deps{ID: "docker-1", Interval: 5 * time.Second, Deadline: time.Minute, Now: time.Now,
		Spawn: backend.NewSpawner(nil), Cleaner: backend.NewCleaner(), Dial: dialer.DialContext, Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := src.(backend.Closer); ok {
		t.Cleanup(func() { _ = c.Close() })
	}
	reading, err := src.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.site.Peers = []actions.Peer{{ID: "docker-1", Kind: "docker", Source: src}}
	r.state = withDocker(r, fleet.StatusOK, reading.Sandboxes...)
	r.set = func(o *Options) { o.EngineSockets = []string{strings.TrimPrefix(host, "unix://")} }
	for state, k := range keys {
		why := r.why(k)
		switch state {
		case "free":
			if why != "" {
				t.Errorf("no container was given this one: %s", why)
			}
			continue
		case "unused", "volume":
			wantWhy(t, why, "it is the directory", "which volume sandglass-clean-", "-"+state+" of docker-1 stands for")
			continue
		}
		wantWhy(t, why, "it is above", "which container sandglass-clean-", "("+state+")")
	}
	// The processes and mount tables alone show the running one and the paused one.
	r.state, r.site.Peers, r.set = &fleet.State{}, nil, nil
	for _, state := range []string{"running", "paused"} {
		text, err := dockerCommand(t, nil, "inspect", "-f", "{{.State.Pid}}", fmt.Sprintf("sandglass-clean-%d-%s", os.Getpid(), state))
		pid, perr := strconv.Atoi(text)
		if err != nil || perr != nil {
			t.Fatal("docker inspect failed")
		}
		r.onlyThese(pid)
		wantWhy(t, r.why(keys[state]), "mounted elsewhere", fmt.Sprintf("process %d", pid))
	}
}
