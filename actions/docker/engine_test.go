package docker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/backend/workdir"
)

func TestRealEngineStopPauseResumeDestroy(t *testing.T) {
	onEngines(t, realEngineStopPauseResumeDestroy)
}

func realEngineStopPauseResumeDestroy(t *testing.T, y *engineFixture) {
	image := y.full()
	dir := t.TempDir()
	// Before the container, so that it is removed after it.
	t.Cleanup(func() {
		_, _ = y.API.VolumeRemove(context.Background(), y.Run+"named", client.VolumeRemoveOptions{Force: true})
	})
	id := y.Container("life", container.Config{Image: image, WorkingDir: "/work", Volumes: map[string]struct{}{"/cache": {}}},
		container.HostConfig{Binds: []string{dir + ":/data", y.Run + "named:/named"}})
	p := y.place()
	p.refused(actions.Resume, id, "it runs already")
	p.must(actions.Pause, id)
	p.refused(actions.Pause, id, "it is paused already")
	if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "no command runs in it") || outcomes(done) != "control ok, exec not-tried asleep" {
		t.Errorf("probe of a paused one: %s %+v", outcomes(done), done)
	}
	p.must(actions.Resume, id)
	if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "commands run: true ended with exit code 0 in /work") || !seen(done).Works() {
		t.Errorf("probe: %+v", done)
	}
	p.must(actions.Pause, id)
	if y.Kind == enginetest.Podman {
		p.refused(actions.Stop, id, "Podman does not stop a paused container: resume it first")
		p.must(actions.Resume, id)
	}
	p.must(actions.Stop, id) // a paused one, too
	p.refused(actions.Stop, id, "it does not run: exited")
	p.refused(actions.Restart, id, "start it")
	p.must(actions.Start, id)
	p.refused(actions.Start, id, "it runs already")
	run := mustInspect(t, y, id)
	// A list alone does not tell one run from the next: the verification has an event of the engine, or an inspection.
	if _, done, err := p.act(actions.Restart, id); err != nil || !done.Proved {
		t.Errorf("restart: %+v, %v", done, err)
	}
	if now := mustInspect(t, y, id); now.started == run.started || now.state != stateRunning {
		t.Errorf("after the restart: %s since %s, before since %s", now.state, now.started, run.started)
	}
	y.inside(id, "touch", "/tmp/written")
	c := p.look(actions.Destroy, id)
	var anonymous string
	for _, m := range mustInspect(t, y, id).Mounts {
		if m.Anonymous {
			anonymous = m.Name
		}
	}
	if loses := joined(c.Loses); !strings.Contains(loses, "what runs in it, up") || !strings.Contains(loses, "written since it was made") || strings.Contains(loses, "not known") ||
		!strings.Contains(loses, "anonymous volume at /cache") || anonymous == "" {
		t.Errorf("loses %s", loses)
	}
	if notes := joined(c.Notes); !strings.Contains(notes, "named at /named stays") || !strings.Contains(notes, dir+" of the host at /data stays") {
		t.Errorf("notes %s", notes)
	}
	p.must(actions.Destroy, id)
	if _, err := y.API.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{}); err == nil {
		t.Error("the container is still there")
	}
	if _, err := y.API.VolumeInspect(t.Context(), anonymous, client.VolumeInspectOptions{}); err == nil {
		t.Error("the anonymous volume stayed")
	}
	if _, err := y.API.VolumeInspect(t.Context(), y.Run+"named", client.VolumeInspectOptions{}); err != nil {
		t.Errorf("the named volume went: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

// A container that was made with a long time to end has it, although stop_timeout is 1 s here.
func TestRealEngineLetsAContainerEnd(t *testing.T) { onEngines(t, realEngineLetsAContainerEnd) }

func realEngineLetsAContainerEnd(t *testing.T, y *engineFixture) {
	long := 30
	id := y.Container("ends", container.Config{Image: y.full(), StopTimeout: &long, Cmd: []string{"sh", "-c", `trap "sleep 3; exit 7" TERM; touch /ready; while :; do sleep 0.1; done`}}, container.HostConfig{})
	y.inside(id, "sh", "-c", "until [ -e /ready ]; do sleep 0.1; done")
	p := y.place()
	if notes := joined(p.look(actions.Stop, id).Notes); !strings.Contains(notes, "it has the 30s to end that it was made with, and is killed then") {
		t.Errorf("notes %s", notes)
	}
	p.must(actions.Stop, id)
	res, err := y.API.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
	if err != nil || res.Container.State.ExitCode != 7 {
		t.Errorf("it did not end by itself: %+v, %v", res.Container.State, err)
	}
}

func TestHowLongAContainerMayTakeToEnd(t *testing.T) {
	o := defaults()
	for _, x := range []struct {
		made time.Duration
		want time.Duration
		text string
	}{
		{0, 10 * time.Second, ""},
		{time.Second, 10 * time.Second, ""},
		{time.Minute, time.Minute, "it has the 1m to end that it was made with, and is killed then"},
		{5 * time.Minute, 90 * time.Second, "it was made with 5m to end, and is killed after 90 s all the same"},
		{-time.Second, 90 * time.Second, "it was made to be waited for without an end, and is killed after 90 s all the same"},
	} {
		b := &containerInfo{stopAfter: x.made}
		if got, text := b.grace(o), b.killedAfter(o).String(); got != x.want || text != x.text {
			t.Errorf("made with %s: %s, %q", x.made, got, text)
		}
	}
}

func TestRealEngineTellsWhatChanged(t *testing.T) { onEngines(t, realEngineTellsWhatChanged) }

func realEngineTellsWhatChanged(t *testing.T, y *engineFixture) {
	image := y.full()
	id := y.Container("changes", container.Config{Image: image}, container.HostConfig{})
	removed := y.Container("removed", container.Config{Image: image, Cmd: []string{enginetest.Busybox, "sleep", "1000"}}, container.HostConfig{AutoRemove: true})
	p := y.place()
	p.refused(actions.Stop, removed, "destroy it")
	c := p.look(actions.Destroy, id)
	target := actions.Target{Key: c.Key, Identity: c.Identity}
	zero := 0
	if _, err := y.API.ContainerRestart(t.Context(), id, client.ContainerRestartOptions{Timeout: &zero}); err != nil {
		t.Fatal(err)
	}
	e, err := p.parts[actions.Destroy].Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	var changed *actions.ChangedError
	if _, err := e.Do(t.Context(), target, actions.Params{}); !errors.As(err, &changed) {
		t.Errorf("another run of the container: %v", err)
	}
	mustInspect(t, y, id)
	if _, err := y.API.ContainerRemove(t.Context(), id, client.ContainerRemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Do(t.Context(), target, actions.Params{}); !errors.As(err, &changed) || !strings.Contains(err.Error(), "no such container") {
		t.Errorf("a container that is gone: %v", err)
	}
}

// A container that crashes in a loop is another run at every look, and can be stopped and destroyed all the same.
func TestRealEngineEndsACrashLoop(t *testing.T) { onEngines(t, realEngineEndsACrashLoop) }

func realEngineEndsACrashLoop(t *testing.T, y *engineFixture) {
	image := y.full()
	config := container.Config{Image: image, Cmd: []string{enginetest.Busybox, "false"}}
	policy := container.HostConfig{RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyAlways}}
	stopped, destroyed := y.Container("loop1", config, policy), y.Container("loop2", config, policy)
	p := y.place()
	for _, id := range []string{stopped, destroyed} {
		for mustInspect(t, y, id).restarts < 2 {
			p.state()
		}
	}
	p.must(actions.Stop, stopped)
	p.must(actions.Destroy, destroyed)
}

func TestRealEngineRepairsAMissingDirectory(t *testing.T) {
	onEngines(t, realEngineRepairsAMissingDirectory)
}

func realEngineRepairsAMissingDirectory(t *testing.T, y *engineFixture) {
	image := y.full()
	p := y.place()
	for _, c := range []struct{ name, user, owner string }{{"plain", "", "0:0"}, {"named", "agent", "1000:1000"}, {"numbers", "1000:1000", "1000:1000"}} {
		t.Run(c.name, func(t *testing.T) {
			id := y.Container("missing-"+c.name, container.Config{Image: image, WorkingDir: "/home/ws/deep", User: c.user}, container.HostConfig{})
			p.refused(actions.Repair, id, "/home/ws/deep is there")
			y.inside(id, "rm", "-r", "/home/ws")
			if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "the working directory /home/ws/deep is missing") || !failed(done, backend.PlaneExec, backend.FailWorkDirMissing) {
				t.Errorf("probe: %+v", done)
			}
			if l := joined(p.look(actions.Repair, id).Loses); !strings.Contains(l, "is gone already") {
				t.Errorf("loses %q", l)
			}
			done := p.must(actions.Repair, id)
			if !strings.Contains(done.Text.String(), "/home/ws/deep is there again, empty: true ended with exit code 0") {
				t.Errorf("repair: %+v", done)
			}
			if got := y.inside(id, "stat", "-c", "%u:%g %a", "/home/ws/deep"); got != c.owner+" 755" {
				t.Errorf("owner and mode %s", got)
			}
			if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "commands run") {
				t.Errorf("probe: %+v", done)
			}
		})
	}
}

// What the container's user may not make, nobody makes for it: the path is that user's to bend.
func TestRealEngineRepairHasNoMoreRightsThanTheUser(t *testing.T) {
	onEngines(t, realEngineRepairHasNoMoreRightsThanTheUser)
}

func realEngineRepairHasNoMoreRightsThanTheUser(t *testing.T, y *engineFixture) {
	p := y.place()
	for name, image := range map[string]string{"mkdir": y.full(), "bare": y.Image("bare", "rm", "rmdir", "ln", "ls")} {
		id := y.Container("rights-"+name, container.Config{Image: image, WorkingDir: "/home/ws/deep", User: "agent"}, container.HostConfig{})
		y.inside(id, "rm", "-r", "/home/ws")
		y.inside(id, "ln", "-s", "/etc", "/home/ws")
		_, done, err := p.act(actions.Repair, id)
		want := map[string]string{"mkdir": " exec -u 0 -w / ", "bare": "/home/ws above /home/ws/deep is a link or a file"}[name]
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		if got := y.inside(id, "ls", "/etc"); strings.Contains(got, "deep") {
			t.Errorf("%s: /etc holds %s", name, got)
		}
	}
}

func TestRealEngineRepairOfLinks(t *testing.T) { onEngines(t, realEngineRepairOfLinks) }

func realEngineRepairOfLinks(t *testing.T, y *engineFixture) {
	image := y.full()
	p := y.place()
	link := func(name, target string) string {
		t.Helper()
		id := y.Container("link-"+name, container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{})
		y.inside(id, "rmdir", "/work")
		y.inside(id, "ln", "-s", target, "/work")
		return id
	}
	id := link("dangling", "/srv/project")
	c := p.look(actions.Repair, id)
	if n := joined(c.Notes); !strings.Contains(n, "/work is a link to /srv/project, which is missing") {
		t.Errorf("notes %q", n)
	}
	p.must(actions.Repair, id)
	if got := y.inside(id, "readlink", "/work"); got != "/srv/project" {
		t.Errorf("the link is %q now", got)
	}
	if got := y.inside(id, "ls", "/srv"); got != "project" {
		t.Errorf("/srv holds %q", got)
	}
	// It works now, and what works is not touched.
	p.refused(actions.Repair, id, "a working link is never replaced")
	p.refused(actions.Repair, link("kernel", "/proc/nowhere"), "belongs to the kernel")
	id = y.Container("file", container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{})
	y.inside(id, "rmdir", "/work")
	y.inside(id, "touch", "/work")
	p.refused(actions.Repair, id, "/work exists and is not a directory; the repair removes nothing")
}

func TestRealEngineBindMountWhoseDirectoryWasRemoved(t *testing.T) {
	onEngines(t, realEngineBindMountWhoseDirectoryWasRemoved)
}

func realEngineBindMountWhoseDirectoryWasRemoved(t *testing.T, y *engineFixture) {
	image := y.full()
	p := y.place()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	id := y.Container("unlinked", container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{Binds: []string{dir + ":/work"}})
	p.refused(actions.Repair, id, "/work is there")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	// What the case is about: the engine's own words, and that mkdir succeeds and changes nothing.
	done := p.must(actions.Probe, id)
	if !strings.Contains(done.Text.String(), "a mkdir inside succeeds and changes nothing") || !strings.Contains(joined(done.Notes), y.client()+" restart") {
		t.Errorf("probe: %+v", done)
	}
	y.inside(id, "mkdir", "-p", "/work")
	if done := p.must(actions.Probe, id); !failed(done, backend.PlaneExec, backend.FailMountUnlinked) {
		t.Errorf("mkdir helped: %+v", done)
	}
	local := false
	if b := mustInspect(t, y, id); b != nil {
		local = p.host.Local(&b.Container)
	}
	if !local {
		y.Missing("the mount table of the engine's containers cannot be read from here")
	}
	if l := p.look(actions.Destroy, id); !strings.Contains(joined(l.Loses), "the files of /work: nothing else holds them") || strings.Contains(joined(l.Notes), "stays") {
		t.Errorf("a destroy loses %s; notes %s", joined(l.Loses), joined(l.Notes))
	}
	c := p.refused(actions.Repair, id, "only a restart of the container, or a new one, helps")
	if !strings.Contains(c.Advice.String(), y.client()+" restart "+y.Run+"unlinked") {
		t.Errorf("advice %q", c.Advice)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made the directory on the host: %v", err)
	}
	// Someone makes the directory again: the container still has the old one, and the plan says so.
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p.refused(actions.Repair, id, "only a restart of the container, or a new one, helps")
	zero := 0
	if _, err := y.API.ContainerRestart(t.Context(), id, client.ContainerRestartOptions{Timeout: &zero}); err != nil {
		t.Fatal(err)
	}
	p.refused(actions.Repair, id, "/work is there")
}

// What nothing in the container can make is made on the host.
func TestRealEngineRepairLeavesReadOnlyMountsAlone(t *testing.T) {
	onEngines(t, func(t *testing.T, y *engineFixture) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "ws"), 0o755); err != nil {
			t.Fatal(err)
		}
		id := y.Container("readonly", container.Config{Image: y.full(), WorkingDir: "/data/ws"}, container.HostConfig{Binds: []string{dir + ":/data:ro"}})
		if err := os.Remove(filepath.Join(dir, "ws")); err != nil {
			t.Fatal(err)
		}
		c := y.place().refused(actions.Repair, id, "which is mounted read-only: nothing in the container can make it")
		if !strings.Contains(c.Advice.String(), "mkdir -p "+filepath.Join(dir, "ws")) {
			t.Errorf("advice %q", c.Advice)
		}
	})
}

// Where nothing can be seen from outside, the repair tries a command first and leaves alone what it cannot help.
func TestRealEngineRepairUnseen(t *testing.T) { onEngines(t, realEngineRepairUnseen) }

func realEngineRepairUnseen(t *testing.T, y *engineFixture) {
	image := y.full()
	p := y.place()
	blind := Kind()
	site := actions.Site{Deps: backend.Deps{ID: "docker-local", Deadline: time.Minute, Now: time.Now}, Source: p.src,
		Allowed: []actions.Verb{actions.Repair}, Options: backendtest.Options[Options](nil)}
	parts, _, err := blind.Build(site)
	if err != nil {
		t.Fatal(err)
	}
	part := parts[actions.Repair]
	l := part.Targets.(targetReader)
	l.factory.host = workdir.Host{Proc: t.TempDir()} // no process of any container is to be seen there
	p.parts[actions.Repair] = part

	dir, other := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "other")
	for _, d := range []string{dir, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	unlinked := y.Container("unseen1", container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{Binds: []string{dir + ":/work"}})
	missing := y.Container("unseen2", container.Config{Image: image, WorkingDir: "/data/project"}, container.HostConfig{Binds: []string{other + ":/data"}})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if n := joined(p.look(actions.Repair, missing).Notes); !strings.Contains(n, "cannot be seen from outside") {
		t.Errorf("notes %q", n)
	}
	if _, _, err := p.act(actions.Repair, unlinked); err == nil || !strings.Contains(err.Error(), "nothing helps from inside") || !strings.Contains(err.Error(), y.client()+" restart") {
		t.Errorf("repair of what only a restart cures: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory was made on the host: %v", err)
	}
	var changed *actions.ChangedError
	if _, _, err := p.act(actions.Repair, missing); !errors.As(err, &changed) {
		t.Errorf("repair of what works: %v", err)
	}
	y.inside(missing, "rmdir", "/data/project")
	p.must(actions.Repair, missing)
	if _, err := os.Stat(filepath.Join(other, "project")); err != nil {
		t.Error(err)
	}
}

// An image without programs: the directory is unpacked, and the engine's own words prove it.
func TestRealEngineRepairWithoutMkdir(t *testing.T) { onEngines(t, realEngineRepairWithoutMkdir) }

func realEngineRepairWithoutMkdir(t *testing.T, y *engineFixture) {
	bare := y.Image("bare", "rm", "stat")
	p := y.place()
	open := t.TempDir() // where its user may make directories
	if err := os.Chmod(open, 0o777); err != nil {
		t.Fatal(err)
	}
	id := y.Container("bare", container.Config{Image: bare, WorkingDir: "/work/a/b", User: "1000"}, container.HostConfig{Binds: []string{open + ":/work"}})
	y.inside(id, "rm", "-r", "/work/a")
	done := p.must(actions.Repair, id)
	if !strings.Contains(done.Text.String(), "the engine enters it") || !strings.Contains(joined(done.Notes), "unpacked") {
		t.Errorf("repair: %+v", done)
	}
	if got := y.inside(id, "stat", "-c", "%u:%g %a", "/work", "/work/a", "/work/a/b"); got != "0:0 777\n1000:1000 755\n1000:1000 755" {
		t.Errorf("owners %s", got)
	}
	if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "set probe_command") || seen(done).Works() || len(seen(done).Failed()) > 0 {
		t.Errorf("probe: %+v", done)
	}
}

// A mount that is gone keeps nothing: what was written there since is lost with the container.
func TestRealEngineDestroysWhatAMountNoLongerHolds(t *testing.T) {
	onEngines(t, realEngineDestroysWhatAMountNoLongerHolds)
}

func realEngineDestroysWhatAMountNoLongerHolds(t *testing.T, y *engineFixture) {
	id := y.Container("unmounted", container.Config{Image: y.full(), WorkingDir: "/work"}, container.HostConfig{Binds: []string{t.TempDir() + ":/work"}})
	p := y.place()
	pid := strconv.Itoa(mustInspect(t, y, id).PID)
	if out, err := exec.Command("nsenter", "-t", pid, "-m", enginetest.Busybox, "umount", "-l", "/work").CombinedOutput(); err != nil {
		y.Missing("the mount of a container cannot be removed: %v: %s", err, out)
	}
	c := p.look(actions.Destroy, id)
	if l := joined(c.Loses); !strings.Contains(l, "the files of /work: nothing else holds them") || !strings.Contains(l, "what was written below /work since its bind was unmounted") ||
		strings.Contains(joined(c.Notes), "at /work stays") {
		t.Errorf("loses %s; notes %s", l, joined(c.Notes))
	}
}
