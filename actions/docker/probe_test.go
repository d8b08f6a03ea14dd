package docker

import (
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest/enginetest"
)

// A probe says of each plane what it found, of the right kind, and starts nothing where nothing can run.
func TestRealEngineProbesPlaneByPlane(t *testing.T) { onEngines(t, realEngineProbesPlaneByPlane) }

func realEngineProbesPlaneByPlane(t *testing.T, y *engineFixture) {
	image := y.full()
	p := y.place()
	for name, c := range map[string]struct {
		user string
		do   func(id string)
		want string
	}{
		"well":       {"", func(id string) { y.inside(id, "touch", "/work/a") }, "control ok, exec ok, fs-list ok, fs-read ok"},
		"empty":      {"", func(string) {}, "control ok, exec ok, fs-list ok, fs-read not-tried"},
		"directory":  {"", func(id string) { y.inside(id, "mkdir", "/work/a") }, "control ok, exec ok, fs-list ok, fs-read not-tried"},
		"fifo":       {"", func(id string) { y.inside(id, "ln", "-s", "nowhere", "/work/a") }, "control ok, exec ok, fs-list ok, fs-read not-tried"},
		"missing":    {"", func(id string) { y.inside(id, "rmdir", "/work") }, "control ok, exec failed working-directory-missing, fs-list failed working-directory-missing"},
		"dangling":   {"", func(id string) { y.inside(id, "rmdir", "/work"); y.inside(id, "ln", "-s", "/mnt/gone", "/work") }, "control ok, exec failed working-directory-dangling, fs-list failed working-directory-dangling"},
		"valid link": {"", func(id string) { y.inside(id, "mv", "/work", "/other"); y.inside(id, "ln", "-s", "/other", "/work") }, "control ok, exec ok, fs-list ok, fs-read not-tried"},
		"paused": {"", func(id string) {
			y.inside(id, "rmdir", "/work")
			if _, err := y.API.ContainerPause(t.Context(), id, client.ContainerPauseOptions{}); err != nil {
				t.Fatal(err)
			}
		}, "control ok, exec not-tried asleep, fs-list failed working-directory-missing"},
		"loop":      {"", func(id string) { y.inside(id, "rmdir", "/work"); y.inside(id, "ln", "-s", "/work", "/work") }, "control ok, exec failed working-directory-dangling, fs-list failed working-directory-dangling"},
		"shut root": {"1000", func(id string) { y.inside(id, enginetest.Busybox, "chmod", "0700", "/") }, "control ok, exec failed unauthorised, fs-list failed unauthorised"},
		"exited": {"", func(id string) {
			if _, err := y.API.ContainerKill(t.Context(), id, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
				t.Fatal(err)
			}
			for mustInspect(t, y, id).state == stateRunning {
				time.Sleep(20 * time.Millisecond)
			}
		}, "control ok, exec unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			id := y.Container("probe"+strings.ReplaceAll(name, " ", ""), container.Config{Image: image, WorkingDir: "/work", User: c.user}, container.HostConfig{})
			c.do(id)
			before := len(mustExecs(t, y, id))
			done := p.must(actions.Probe, id)
			if got := outcomes(done); got != c.want {
				t.Errorf("%s, want %s: %+v", got, c.want, done)
			}
			if ran := len(mustExecs(t, y, id)) - before; (strings.Contains(c.want, "exec unknown") || strings.Contains(c.want, "exec not-tried")) && ran != 0 {
				t.Errorf("%d commands were started in a container that is %s", ran, name)
			}
		})
	}
}

func mustExecs(t *testing.T, y *engineFixture, id string) []string {
	t.Helper()
	res, err := y.API.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Container.ExecIDs
}

// A command that never returns is a failure of its own kind, and its process is ended.
func TestRealEngineProbeThatHangs(t *testing.T) { onEngines(t, realEngineProbeThatHangs) }

func realEngineProbeThatHangs(t *testing.T, y *engineFixture) {
	image := y.full()
	id := y.Container("hang", container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{})
	p := y.placeWith(2*time.Second, func(o *Options) { o.ProbeCommand = []string{"sleep", "7777"} })
	done := p.must(actions.Probe, id)
	v, _ := seen(done).Of(backend.PlaneExec)
	if outcomes(done) != "control ok, exec failed exec-timeout" || !strings.Contains(v.What.String(), "sleep 7777 did not end within 2s; it was ended") || v.Took != 2*time.Second {
		t.Errorf("%s: %+v", outcomes(done), done)
	}
	ps := client.ContainerTopOptions{}
	if y.Kind == enginetest.Podman { // it would run another ps in the container
		ps.Arguments = []string{"pid,args"}
	}
	top, err := y.API.ContainerTop(t.Context(), id, ps)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range top.Processes {
		if strings.Contains(strings.Join(row, " "), "7777") {
			t.Errorf("it runs still: %q", row)
		}
	}
}
