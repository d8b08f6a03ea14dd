package demo

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

func (e *engine) state(t *testing.T, id string) *container.State {
	t.Helper()
	got, err := e.client.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return got.Container.State
}

// exec runs a command in a container and returns its exit code and what it printed.
func (e *engine) exec(t *testing.T, id, dir string, argv ...string) (int, string) {
	t.Helper()
	made, err := e.client.ExecCreate(t.Context(), id, client.ExecCreateOptions{Cmd: argv, WorkingDir: dir, AttachStdout: true, AttachStderr: true})
	if err != nil {
		t.Fatal(err)
	}
	stream, err := e.client.ExecAttach(t.Context(), made.ID, client.ExecAttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var out bytes.Buffer
	if _, err := stdcopy.StdCopy(&out, &out, stream.Reader); err != nil {
		t.Fatal(err)
	}
	state, err := e.client.ExecInspect(t.Context(), made.ID, client.ExecInspectOptions{})
	if err != nil || state.Running || state.ContainerID != id {
		t.Fatalf("%+v, %v", state, err)
	}
	return state.ExitCode, out.String()
}

func TestDockerClientActs(t *testing.T) {
	e := newEngine(t, "all")
	e.t.Store(int64(time.Minute))
	ctx, b := t.Context(), e.byKind(t, containerSteady)
	hear, cancel := context.WithCancel(ctx)
	defer cancel()
	stream := e.client.Events(hear, client.EventsListOptions{Since: e.when(time.Minute - time.Millisecond).Format(time.RFC3339Nano), Filters: make(client.Filters).Add("container", b.id)})
	var got []string
	heardUntil := func(action string) {
		t.Helper()
		for !slices.Contains(got, action) {
			select {
			case m := <-stream.Messages:
				if a := string(m.Action); !strings.HasPrefix(a, "exec_") {
					got = append(got, a)
				}
			case err := <-stream.Err:
				t.Fatalf("stream ended after %v: %v", got, err)
			}
		}
	}
	want := func(what string, err error, status container.ContainerState) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if got := e.state(t, b.id).Status; got != status {
			t.Fatalf("after %s it is %s, want %s", what, got, status)
		}
	}
	refused := func(what string, err error, words string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", what, err, words)
		}
	}
	_, err := e.client.ContainerPause(ctx, b.id, client.ContainerPauseOptions{})
	want("pause", err, "paused")
	_, err = e.client.ContainerPause(ctx, b.id, client.ContainerPauseOptions{})
	refused("pause again", err, "already paused")
	_, err = e.client.ExecCreate(ctx, b.id, client.ExecCreateOptions{Cmd: []string{"true"}})
	refused("exec in a paused one", err, "unpause the container before exec")
	_, err = e.client.ContainerUnpause(ctx, b.id, client.ContainerUnpauseOptions{})
	want("unpause", err, "running")
	_, err = e.client.ContainerUnpause(ctx, b.id, client.ContainerUnpauseOptions{})
	refused("unpause again", err, "not paused")
	_, err = e.client.ContainerRemove(ctx, b.id, client.ContainerRemoveOptions{})
	refused("remove without force", err, "cannot remove a running container")
	if code, text := e.exec(t, b.id, "", "pwd"); code != 0 || text != "/workspace\n" {
		t.Errorf("pwd: %d %q", code, text)
	}
	if code, text := e.exec(t, b.id, "", "nosuch"); code != 126 || !strings.Contains(text, "executable file not found") {
		t.Errorf("nosuch: %d %q", code, text)
	}
	_, err = e.client.ContainerStop(ctx, b.id, client.ContainerStopOptions{})
	want("stop", err, "exited")
	if s := e.state(t, b.id); s.ExitCode != 137 || s.FinishedAt != e.when(time.Minute).Format(time.RFC3339Nano) {
		t.Errorf("stopped: %+v", s)
	}
	// An engine repeats only its last events: a stream that opens an hour later has missed these.
	heardUntil("stop")
	// What was stopped stays so, whatever the script meant for it.
	e.t.Store(int64(time.Hour))
	want("an hour", nil, "exited")
	_, err = e.client.ContainerStart(ctx, b.id, client.ContainerStartOptions{})
	want("start", err, "running")
	_, err = e.client.ContainerRemove(ctx, b.id, client.ContainerRemoveOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.client.ContainerInspect(ctx, b.id, client.ContainerInspectOptions{}); err == nil {
		t.Error("a removed container is still inspected")
	}
	list, err := e.client.ContainerList(ctx, client.ContainerListOptions{All: true})
	if err != nil || len(list.Items) != len(e.containers)-1 {
		t.Errorf("%d of %d containers, %v", len(list.Items), len(e.containers), err)
	}
	heardUntil("destroy")
	if s := strings.Join(got, " "); s != "pause unpause kill die stop start kill die destroy" {
		t.Errorf("events %s", s)
	}
}

func TestDockerClientRepairs(t *testing.T) {
	for _, c := range []struct {
		root   rootKind
		target string
		unpack bool
	}{{rootMissing, workRoot, false}, {rootMissing, workRoot, true}, {rootDangling, linkedRoot, false}} {
		e := newEngine(t, "all")
		e.t.Store(int64(time.Minute))
		i := slices.IndexFunc(e.containers, func(b fakeContainer) bool { return b.root == c.root })
		if i < 0 {
			t.Fatalf("no container whose root is %d", c.root)
		}
		b := &e.containers[i]
		stat := func(p string) (container.PathStat, error) {
			got, err := e.client.ContainerStatPath(t.Context(), b.id, client.ContainerStatPathOptions{Path: p})
			return got.Stat, err
		}
		if s := e.state(t, b.id); s.Health.Status != "unhealthy" || !strings.Contains(s.Health.Log[0].Output, "chdir to cwd") {
			t.Errorf("health %+v", s.Health)
		}
		if code, text := e.exec(t, b.id, "", "true"); code != 126 || !strings.Contains(text, `chdir to cwd ("/workspace") set in config.json failed: no such file or directory`) {
			t.Errorf("true: %d %q", code, text)
		}
		got, err := stat(workRoot)
		if c.root == rootMissing && err == nil || c.root == rootDangling && (err != nil || got.LinkTarget != linkedRoot) {
			t.Errorf("stat %+v, %v", got, err)
		}
		if c.unpack {
			var tree bytes.Buffer
			w := tar.NewWriter(&tree)
			if err := w.WriteHeader(&tar.Header{Name: "workspace/", Typeflag: tar.TypeDir, Mode: 0o755}); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := e.client.CopyToContainer(t.Context(), b.id, client.CopyToContainerOptions{DestinationPath: "/", Content: &tree}); err != nil {
				t.Fatal(err)
			}
		} else if code, text := e.exec(t, b.id, "/", "mkdir", "-p", "--", c.target); code != 0 {
			t.Fatalf("mkdir: %d %q", code, text)
		}
		if code, text := e.exec(t, b.id, "", "true"); code != 0 || text != "" {
			t.Errorf("true afterwards: %d %q", code, text)
		}
		if got, err := stat(c.target); err != nil || !got.Mode.IsDir() {
			t.Errorf("stat afterwards %+v, %v", got, err)
		}
		e.t.Store(int64(time.Minute + checkGap))
		if s := e.state(t, b.id); s.Health.Status != "healthy" || s.Health.FailingStreak != 0 {
			t.Errorf("health after a check %+v", s.Health)
		}
		if said := e.now().events(time.Minute); !slices.ContainsFunc(said, func(x containerEvent) bool { return x.container == b && x.action == "health_status: healthy" }) {
			t.Errorf("nobody said that it is healthy")
		}
		if again := e.now().events(time.Minute + checkGap); slices.ContainsFunc(again, func(x containerEvent) bool { return x.container == b && x.action == saidHealthy }) {
			t.Errorf("it is said twice")
		}
	}
}

// A detached command answers at once. An unknown one is not found.
func TestDockerExecEdges(t *testing.T) {
	e := newEngine(t, "all")
	b := e.byKind(t, containerSteady)
	e.t.Store(int64(time.Minute))
	made, err := e.client.ExecCreate(t.Context(), b.id, client.ExecCreateOptions{Cmd: []string{"true"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.client.ExecStart(t.Context(), made.ID, client.ExecStartOptions{Detach: true}); err != nil {
		t.Error(err)
	}
	if _, err := e.client.ExecStart(t.Context(), made.ID, client.ExecStartOptions{Detach: true}); err == nil {
		t.Error("a command is started twice")
	}
	if _, err := e.client.ExecInspect(t.Context(), "nosuch", client.ExecInspectOptions{}); err == nil {
		t.Error("a command that nobody made is inspected")
	}
	if _, err := e.client.ExecCreate(t.Context(), b.id, client.ExecCreateOptions{}); err == nil {
		t.Error("no command is a command")
	}
	if _, err := e.client.CopyToContainer(t.Context(), b.id, client.CopyToContainerOptions{DestinationPath: "/", Content: io.LimitReader(strings.NewReader("no archive at all, but long enough to be looked at"), 600)}); err == nil {
		t.Error("what is no archive is unpacked")
	}
}
