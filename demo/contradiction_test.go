package demo

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// all are the containers of a kind and root that a story plays.
func (e *engine) all(kind containerKind, root rootKind) []*fakeContainer {
	var out []*fakeContainer
	for i := range e.containers {
		if b := &e.containers[i]; b.kind == kind && b.root == root {
			out = append(out, b)
		}
	}
	return out
}

// TestWorkspaceGoneIsMended: a directory that was removed is missing for a look and for a command, also in a container that is
// called healthy; mkdir mends it and so does a restart, and the agent goes on.
func TestWorkspaceGoneIsMended(t *testing.T) {
	e := newEngine(t, "workspace-gone")
	e.t.Store(int64(time.Minute))
	missing := e.all(containerSteady, rootMissing)
	if len(missing) != 2 || len(e.all(containerSteady, rootDangling)) != 1 || len(e.all(containerUnhealthy, rootMissing)) != 1 {
		t.Fatalf("%d are missing", len(missing))
	}
	b := missing[0]
	at := func() entry { return e.now().entry(b.workspace) }
	before := at()
	if before.state != reportedHealthy || before.success.at > b.since {
		t.Errorf("its entry is %+v", before)
	}
	if s := e.state(t, b.id); s.Status != container.StateRunning {
		t.Errorf("it is %s", s.Status)
	}
	if _, err := e.client.ContainerStatPath(t.Context(), b.id, client.ContainerStatPathOptions{Path: workRoot}); err == nil {
		t.Error("the directory is there")
	}
	if code, said := e.exec(t, b.id, "", "true"); code != 126 || !strings.Contains(said, "chdir to cwd") {
		t.Errorf("%d %s", code, said)
	}
	if code, _ := e.exec(t, b.id, "/", "mkdir", "-p", "--", workRoot); code != 0 {
		t.Errorf("mkdir ends with %d", code)
	}
	if code, said := e.exec(t, b.id, "", "true"); code != 0 {
		t.Errorf("%d %s", code, said)
	}
	e.t.Store(int64(10 * time.Minute))
	if after := at(); after.success.at <= b.since {
		t.Errorf("its entry is %+v", after)
	}
	late := missing[1]
	if _, err := e.client.ContainerRestart(t.Context(), late.id, client.ContainerRestartOptions{}); err != nil {
		t.Error(err)
	}
	if code, said := e.exec(t, late.id, "", "true"); code != 0 {
		t.Errorf("after a restart: %d %s", code, said)
	}
}

// TestOrphansArePlayed: registry entries stay open over a container that was removed, ended, or could not start.
func TestOrphansArePlayed(t *testing.T) {
	e := newEngine(t, "orphan-containers")
	e.t.Store(int64(time.Minute))
	for _, kind := range []containerKind{containerRemoved, containerCrashed, containerRefused} {
		for _, b := range e.all(kind, rootFine) {
			if x := e.now().entry(b.workspace); x.state != reportedHealthy || x.cause != causeNone {
				t.Errorf("its entry is %+v", x)
			}
		}
	}
	for i, b := range e.all(containerRemoved, rootFine) {
		if _, err := e.client.ContainerInspect(t.Context(), b.id, client.ContainerInspectOptions{}); err == nil {
			t.Errorf("removed container %d is there", i)
		}
	}
	if s := e.state(t, e.all(containerRefused, rootFine)[0].id); s.Status != container.StateCreated || !strings.Contains(s.Error, "no such file") {
		t.Errorf("%+v", s)
	}
	if s := e.state(t, e.all(containerCrashed, rootFine)[0].id); s.Status != container.StateExited || s.ExitCode != 1 {
		t.Errorf("%+v", s)
	}
}

// TestFrozenContainers: top tells that a main process is stopped or waits for a disk; CONT helps the first, a restart both, and
// a command in the second never ends.
func TestFrozenContainers(t *testing.T) {
	e := newEngine(t, "frozen")
	e.t.Store(int64(30 * time.Second))
	stat := func(b *fakeContainer) string {
		t.Helper()
		got, err := e.client.ContainerTop(t.Context(), b.id, client.ContainerTopOptions{Arguments: []string{"-eLo", "pid,stat,comm"}})
		if err != nil || !slices.Equal(got.Titles, []string{"PID", "STAT", "COMMAND"}) || len(got.Processes) != 1 {
			t.Fatalf("%+v %v", got, err)
		}
		return got.Processes[0][1][:1]
	}
	stopped, stuck := e.all(containerStopped, rootFine), e.all(containerStuck, rootFine)
	if stat(stopped[0]) != "T" || stat(stopped[1]) != "S" || stat(stuck[0]) != "D" {
		t.Errorf("%s %s %s", stat(stopped[0]), stat(stopped[1]), stat(stuck[0]))
	}
	if code, _ := e.exec(t, stopped[0].id, "", "true"); code != 0 {
		t.Errorf("a command ends with %d", code)
	}
	made, err := e.client.ExecCreate(t.Context(), stuck[0].id, client.ExecCreateOptions{Cmd: []string{"true"}, AttachStdout: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := e.client.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if x, err := e.client.ExecInspect(t.Context(), made.ID, client.ExecInspectOptions{}); err != nil || !x.Running {
		t.Errorf("%+v %v", x, err)
	}
	stream.Close()
	cancel()
	if _, err := e.client.ContainerKill(t.Context(), stopped[0].id, client.ContainerKillOptions{Signal: "CONT"}); err != nil || stat(stopped[0]) != "S" {
		t.Errorf("%s %v", stat(stopped[0]), err)
	}
	if _, err := e.client.ContainerRestart(t.Context(), stuck[0].id, client.ContainerRestartOptions{}); err != nil || stat(stuck[0]) != "S" {
		t.Errorf("%s %v", stat(stuck[0]), err)
	}
}

// A small fleet plays these scenarios too, as far as it has containers for them.
func TestASmallFleetIsContradicted(t *testing.T) {
	for scenario, kinds := range map[string][]containerKind{"workspace-gone": {containerUnhealthy}, "orphan-containers": {containerRemoved, containerCrashed, containerRefused}, "frozen": {containerStopped, containerStuck}} {
		f := testFleet(t, scenario, 60, 1)
		for _, k := range kinds {
			if !slices.ContainsFunc(f.containers, func(b fakeContainer) bool { return b.kind == k }) {
				t.Errorf("%s: no container of kind %d", scenario, k)
			}
		}
	}
}
