package docker

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/backendtest/enginetest"
)

// TestRealEngineShowsWhatContainersAreInside: each trouble is found unasked, and nothing is said of a healthy neighbour.
func TestRealEngineShowsWhatContainersAreInside(t *testing.T) {
	onEngines(t, realEngineShowsWhatContainersAreInside)
}

func realEngineShowsWhatContainersAreInside(t *testing.T, w *workshop) {
	inside := func(id string, argv ...string) {
		t.Helper()
		_, err := w.Engine.Docker(append([]string{"exec", "-w", "/", "-u", "0", id, enginetest.Busybox}, argv...)...)
		w.do("exec", err)
	}
	box := func(name string, change func(*container.Config, *container.HostConfig)) string {
		c, h := container.Config{Cmd: []string{"sleep", "1000"}, WorkingDir: "/home/ws"}, container.HostConfig{}
		if change != nil {
			change(&c, &h)
		}
		return w.container(name, c, h)
	}
	removed := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(removed, 0o755); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{"healthy": box("healthy", nil), "missing": box("missing", nil), "dangling": box("dangling", nil), "link": box("link", nil), "paused": box("paused", nil),
		"frozen": box("frozen", nil), "shut": box("shut", func(c *container.Config, _ *container.HostConfig) { c.User = "1000" }), "file": box("file", nil),
		"bound": box("bound", func(_ *container.Config, h *container.HostConfig) { h.Binds = []string{removed + ":/home/ws"} })}
	inside(ids["missing"], "rm", "-r", "/home/ws")
	for name, target := range map[string]string{"dangling": "/mnt/gone", "link": "/work"} {
		inside(ids[name], "rmdir", "/home/ws")
		inside(ids[name], "ln", "-s", target, "/home/ws")
	}
	inside(ids["shut"], "chown", "0:0", "/home/ws")
	inside(ids["shut"], "chmod", "0700", "/home/ws")
	inside(ids["file"], "rmdir", "/home/ws")
	inside(ids["file"], "touch", "/home/ws")
	inside(ids["paused"], "rmdir", "/home/ws")
	_, err := w.API.ContainerPause(t.Context(), ids["paused"], client.ContainerPauseOptions{})
	w.do("pause", err)
	_, err = w.API.ContainerKill(t.Context(), ids["frozen"], client.ContainerKillOptions{Signal: "STOP"})
	w.do("stop its main process", err)
	t.Cleanup(func() { // not t.Context(): that one is over
		_, _ = w.Engine.Docker("kill", "-s", "CONT", ids["frozen"])
	})
	if err := os.Remove(removed); err != nil {
		t.Fatal(err)
	}

	s := checkingSource(t, w.Host)
	if !s.check.host.Local(&mustPollAndFind(t, s, ids["healthy"]).ins.place) {
		w.Missing("the mount tables of its containers cannot be read: not on this machine, or not as root")
	}
	list, driver := backend.PlaneList, backend.PlaneDriver
	for name, want := range map[string]backend.Verdict{
		"healthy":  {Plane: list, Outcome: backend.OutcomeOK, What: backend.Text("the working directory /home/ws is there")},
		"missing":  {Plane: list, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, What: backend.Text("the working directory /home/ws is missing")},
		"paused":   {Plane: list, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, What: backend.Text("the working directory /home/ws is missing")},
		"dangling": {Plane: list, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirDangling, What: backend.Text("is a link to /mnt/gone, which is missing")},
		"link":     {Plane: list, Outcome: backend.OutcomeOK, What: backend.Text("is a link to the directory /work")},
		"file":     {Plane: list, Outcome: backend.OutcomeFailed, What: backend.Text("is not a directory")},
		"shut":     {Plane: list, Outcome: backend.OutcomeFailed, Kind: backend.FailUnauthorised, What: backend.Text("user 1000 may not enter")},
		"bound":    {Plane: list, Outcome: backend.OutcomeFailed, Kind: backend.FailMountUnlinked, What: backend.Text("removed on the host")},
		"frozen":   {Plane: driver, Outcome: backend.OutcomeFailed, Kind: backend.FailServerFrozen, What: backend.Text("all of its threads are stopped for at least")},
	} {
		b := until(t, s, ids[name], name+" inside", func(b *backend.Sandbox) bool {
			v, _ := b.Observed.Or(backend.Observation{}).Of(want.Plane)
			return v.Outcome == want.Outcome && v.Kind == want.Kind && strings.Contains(v.What.String(), want.What.String())
		})
		if failed := b.Observed.Or(backend.Observation{}).Failed(); len(failed) > 1 || len(failed) == 1 && want.Outcome == backend.OutcomeOK {
			t.Errorf("%s: %+v", name, failed)
		}
	}
	if _, err := os.Stat(removed); err == nil {
		t.Error("a look made the engine create the removed directory of the host again")
	}
	inside(ids["missing"], "mkdir", "-p", "/home/ws")
	until(t, s, ids["missing"], "well again", func(b *backend.Sandbox) bool { return b.Observed.Or(backend.Observation{}).Works() })
}

// checkingSource looks at working directories every 5 seconds and calls a process frozen after 10.
func checkingSource(t *testing.T, host string) *Source {
	t.Helper()
	d := net.Dialer{}
	src, err := Kind().New(backendtest.Options[Options](func(o *Options) {
		o.Host, o.Selector = host, enginetest.Label+"=1"
		o.WorkdirSweep, o.FrozenAfter = backend.Duration(5*time.Second), backend.Duration(10*time.Second)
	}), backend.Deps{ID: "docker-local", Interval: time.Second, Deadline: time.Minute, Now: time.Now, Cleaner: backend.NewCleaner(), Dial: d.DialContext, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*Source)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func mustPollAndFind(t *testing.T, s *Source, id string) *cachedContainer {
	t.Helper()
	mustPoll(t, s)
	e := s.entries[id]
	if e == nil || e.ins == nil {
		t.Fatal("the container is not listed")
	}
	return e
}
