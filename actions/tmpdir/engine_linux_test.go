package tmpdir

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/backend/docker"
	"sandglass/backend/fleet"
)

// TestContainersOfARealEngine makes containers in every state of which each was given a directory.
func TestContainersOfARealEngine(t *testing.T) { enginetest.Each(t, containersOfARealEngine) }

func containersOfARealEngine(t *testing.T, e *enginetest.Engine) {
	image := e.Image("clean", "true")
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
		id, err := e.Docker(append(append(verb, "--name", name, "--network", "none", "-v", r.root+"/"+dir+"/a:/work"), args...)...)
		t.Cleanup(func() { _, _ = e.Docker("rm", "-f", name) })
		if err != nil {
			t.Fatal("docker failed")
		}
		return id
	}
	for _, state := range []string{"running", "paused", "exited", "created"} {
		id := start(state, image, "/bin/busybox", "sleep", "600")
		switch state {
		case "paused":
			_, _ = e.Docker("pause", id) // its state is checked below
		case "exited":
			_, _ = e.Docker("kill", id)
			_, _ = e.Docker("wait", id)
		}
	}
	// Volumes that stand for a directory: one that no container has, and one whose container is created, runs, and exits.
	for _, state := range []string{"unused", "volume"} {
		keys[state] = r.dir("helix-ws-" + state)
		name := fmt.Sprintf("sandglass-clean-%d-%s", os.Getpid(), state)
		if _, err := e.Docker("volume", "create", "-o", "type=none", "-o", "o=bind", "-o", "device="+r.root+"/helix-ws-"+state, name); err != nil {
			t.Fatal("docker failed")
		}
		t.Cleanup(func() { _, _ = e.Docker("volume", "rm", "-f", name) })
	}
	owner := fmt.Sprintf("sandglass-clean-%d-owner", os.Getpid())
	t.Cleanup(func() { _, _ = e.Docker("rm", "-f", owner) })
	if _, err := e.Docker("run", "--name", owner, "--network", "none", "-v", fmt.Sprintf("sandglass-clean-%d-volume:/work", os.Getpid()), image, "/bin/busybox", "touch", "/work/made"); err != nil {
		t.Fatal("docker failed")
	}
	if _, err := os.Stat(r.root + "/helix-ws-volume/made"); err != nil {
		t.Fatalf("the volume is not that directory: %v", err)
	}
	keys["free"] = r.dir("helix-ws-free")
	var dialer net.Dialer
	src, err := docker.Kind().New(backendtest.Options[docker.Options](func(o *docker.Options) { o.Host = e.Host }), backend.Deps{ID: "docker-1", Interval: 5 * time.Second, Deadline: time.Minute, Now: time.Now,
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
	r.set = func(o *Options) { o.EngineSockets = []string{strings.TrimPrefix(e.Host, "unix://")} }
	for state, k := range keys {
		why := r.why(k)
		switch state {
		case "free":
			if why != "" {
				t.Errorf("no container was given this one: %s", why)
			}
			continue
		case "unused", "volume":
			wantWhy(t, why, "it is the directory", "which volume sandglass-clean-", "-"+state+" of docker-1 maps to")
			continue
		}
		wantWhy(t, why, "it is above", "which container sandglass-clean-", "("+state+")")
	}
	// The processes and mount tables alone show the running one and the paused one.
	r.state, r.site.Peers, r.set = &fleet.State{}, nil, nil
	for _, state := range []string{"running", "paused"} {
		text, err := e.Docker("inspect", "-f", "{{.State.Pid}}", fmt.Sprintf("sandglass-clean-%d-%s", os.Getpid(), state))
		pid, perr := strconv.Atoi(text)
		if err != nil || perr != nil {
			t.Fatal("docker inspect failed")
		}
		r.onlyThese(pid)
		wantWhy(t, r.why(keys[state]), "mounted elsewhere", fmt.Sprintf("process %d", pid))
	}
}
