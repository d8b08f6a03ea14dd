package docker

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
		"frozen": box("frozen", nil), "shut": box("shut", func(c *container.Config, _ *container.HostConfig) { c.User = "1000" }), "file": box("file", nil), "loop": box("loop", nil),
		"root":  box("root", func(c *container.Config, _ *container.HostConfig) { c.User, c.WorkingDir = "1000", "/" }),
		"lost":  box("lost", func(_ *container.Config, h *container.HostConfig) { h.Binds = []string{t.TempDir() + ":/home/ws"} }),
		"bound": box("bound", func(_ *container.Config, h *container.HostConfig) { h.Binds = []string{removed + ":/home/ws"} })}
	inside(ids["missing"], "rm", "-r", "/home/ws")
	for name, target := range map[string]string{"dangling": "/mnt/gone", "link": "/work"} {
		inside(ids[name], "rmdir", "/home/ws")
		inside(ids[name], "ln", "-s", target, "/home/ws")
	}
	inside(ids["shut"], "chown", "0:0", "/home/ws")
	inside(ids["shut"], "chmod", "0700", "/home/ws")
	inside(ids["root"], "chmod", "0700", "/")
	inside(ids["loop"], "rmdir", "/home/ws")
	inside(ids["loop"], "ln", "-s", "/home/ws", "/home/ws")
	inside(ids["file"], "rmdir", "/home/ws")
	inside(ids["file"], "touch", "/home/ws")
	inside(ids["paused"], "rmdir", "/home/ws")
	if s, err := w.API.ContainerInspect(t.Context(), ids["lost"], client.ContainerInspectOptions{}); err != nil {
		t.Fatal(err)
	} else if out, err := exec.Command("nsenter", "-t", strconv.Itoa(s.Container.State.Pid), "-m", enginetest.Busybox, "umount", "-l", "/home/ws").CombinedOutput(); err != nil {
		t.Fatalf("unmount: %v: %s", err, out)
	}
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

	s, far := checkingSource(t, w.Host), checkingSource(t, w.Host)
	far.check.host.Proc = t.TempDir() // as from another machine
	if !s.check.host.Local(&mustPollAndFind(t, s, ids["healthy"]).ins.place) {
		w.Missing("the mount tables of its containers cannot be read: not on this machine, or not as root")
	}
	list, driver, is, not := backend.PlaneList, backend.PlaneDriver, backend.OutcomeOK, backend.OutcomeFailed
	type found struct {
		plane   backend.Plane
		outcome backend.Outcome
		kind    backend.FailureKind
		what    string
	}
	missing := found{list, not, backend.FailWorkDirMissing, "the working directory /home/ws is missing"}
	frozen := found{driver, not, backend.FailServerFrozen, "all of its threads are stopped for at least"}
	for name, want := range map[string]struct{ near, far found }{
		"healthy":  {near: found{list, is, "", "the working directory /home/ws is there"}},
		"missing":  {near: missing},
		"paused":   {near: missing},
		"dangling": {near: found{list, not, backend.FailWorkDirDangling, "is a link to /mnt/gone, which is missing"}},
		"link":     {near: found{list, is, "", "is a link to the directory /work"}},
		"file":     {near: found{list, not, backend.FailWorkDirNoDir, "is not a directory"}},
		"loop":     {found{list, not, backend.FailWorkDirDangling, "is a link that leads back to itself"}, found{list, backend.OutcomeUnknown, "", "is not known"}},
		"root":     {found{list, not, backend.FailUnauthorised, "user 1000 may not enter"}, found{plane: list}},
		"shut":     {found{list, not, backend.FailUnauthorised, "user 1000 may not enter"}, found{list, is, "", "is there"}},
		"lost":     {found{list, not, backend.FailMountGone, "the mount that held the working directory /home/ws is gone"}, found{list, backend.OutcomeNotTried, "", "cannot be looked at from outside"}},
		"bound":    {found{list, not, backend.FailMountUnlinked, "removed on the host"}, found{list, backend.OutcomeNotTried, "", "cannot be looked at from outside"}},
		"frozen":   {near: frozen},
	} {
		if want.far.plane == "" {
			want.far = want.near
		}
		for place, source := range map[string]*Source{"here": s, "elsewhere": far} {
			want := map[bool]found{true: want.near, false: want.far}[source == s]
			if w.Kind == enginetest.Podman && source == far && want.plane == driver {
				continue // its top is not asked
			}
			b := until(t, source, ids[name], name+" inside, seen from "+place, func(b *backend.Sandbox) bool {
				v, _ := b.Observed.Or(backend.Observation{}).Of(want.plane)
				return v.Outcome == want.outcome && v.Kind == want.kind && strings.Contains(v.What.String(), want.what)
			})
			if failed := b.Observed.Or(backend.Observation{}).Failed(); len(failed) > 1 || len(failed) == 1 && want.outcome != not {
				t.Errorf("%s, from %s: %+v", name, place, failed)
			}
		}
	}
	if _, err := os.Stat(removed); err == nil {
		t.Error("a look made the engine create the removed directory of the host again")
	}
	inside(ids["missing"], "mkdir", "-p", "/home/ws")
	for _, source := range []*Source{s, far} {
		until(t, source, ids["missing"], "well again", func(b *backend.Sandbox) bool { return b.Observed.Or(backend.Observation{}).Works() })
	}
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
