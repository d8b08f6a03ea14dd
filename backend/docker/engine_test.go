package docker

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/internal/skip"
)

// This file runs the adapter against a real engine. It is the only place of the package that changes one, through
// workshop and through nothing else; it removes only what carries its label.

// workshop makes and removes the containers of these tests.
type workshop struct {
	*enginetest.Engine
	image string
}

// onEngines runs a test on each engine.
func onEngines(t *testing.T, test func(*testing.T, *workshop)) {
	t.Helper()
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		t.Parallel()
		test(t, &workshop{e, e.Image("adapter", "sh", "sleep", "false", "tail", "true", "ls")})
	})
}

func (w *workshop) container(name string, c container.Config, h container.HostConfig) string {
	w.T.Helper()
	c.Image = w.image
	return w.Container(name, c, h)
}

func (w *workshop) do(what string, err error) {
	w.T.Helper()
	if err != nil {
		w.T.Fatalf("%s: %v", what, err)
	}
}

// memoryLimits reports whether the engine can limit memory; without that no container runs out of it.
func (w *workshop) memoryLimits() bool {
	w.T.Helper()
	info, err := w.API.Info(w.T.Context(), client.InfoOptions{})
	w.do("info", err)
	return info.Info.MemoryLimit
}

func realSource(t *testing.T, host string) *Source {
	t.Helper()
	d := net.Dialer{}
	src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.Host, o.Selector = host, enginetest.Label+"=1" }), backend.Deps{
		ID: "docker-local", Interval: time.Second, Deadline: time.Minute, Now: time.Now,
		Cleaner: backend.NewCleaner(), Dial: d.DialContext, Getenv: os.Getenv})
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*Source)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// until polls until the container is shown as wanted.
func until(t *testing.T, s *Source, id, what string, ok func(*backend.Sandbox) bool) *backend.Sandbox {
	t.Helper()
	var last *backend.Sandbox
	end := time.NewTimer(2 * time.Minute)
	defer end.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r := mustPoll(t, s)
		for _, b := range r.Sandboxes {
			if b.Key.ID.Raw() == id {
				last = b
			}
		}
		if last != nil && ok(last) {
			return last
		}
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("never shown as %s; last %+v", what, last)
		}
	}
}

func TestRealEngineShowsContainersForWhatTheyAre(t *testing.T) {
	onEngines(t, realEngineShowsContainersForWhatTheyAre)
}

func realEngineShowsContainersForWhatTheyAre(t *testing.T, w *workshop) {
	scratch := t.TempDir()
	sleep := []string{"sleep", "1000"}
	running := w.container("running", container.Config{Cmd: sleep, WorkingDir: "/work", Env: []string{"API_TOKEN=never-shown", "X=envonly"},
		Labels: map[string]string{"sandglass.session": "s-1", "sandglass.workspace": "main"}},
		container.HostConfig{Binds: []string{scratch + ":/work"}})
	paused := w.container("paused", container.Config{Cmd: sleep}, container.HostConfig{})
	_, err := w.API.ContainerPause(t.Context(), paused, client.ContainerPauseOptions{})
	w.do("pause", err)
	stopped := w.container("stopped", container.Config{Cmd: []string{"sh", "-c", "exit 3"}}, container.HostConfig{})
	restarting := w.container("restarting", container.Config{Cmd: []string{"sh", "-c", "sleep 0.5; exit 1"}}, // Podman starts it again at once
		container.HostConfig{RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyAlways}})
	unhealthy := w.container("unhealthy", container.Config{Cmd: sleep, Healthcheck: &container.HealthConfig{
		Test: []string{"CMD", "ls", "/not-well"}, Interval: 200 * time.Millisecond, Timeout: time.Minute, Retries: 1}}, container.HostConfig{})

	s := realSource(t, w.Host)
	b := until(t, s, running, "running", func(b *backend.Sandbox) bool { return b.Class == backend.SandboxRunning })
	if b.Session.Raw() != "s-1" || b.Workspace.Raw() != "main" || !b.IsSandbox || b.WorkDir.String() != "/work" || len(b.Mounts) != 1 ||
		b.Mounts[0].RawSource.Raw() != scratch || !b.StartedAt.IsKnown() || !b.FinishedAt.IsNotApplicable() || !strings.HasSuffix(b.Image.String(), w.image) {
		t.Errorf("running: %+v", b)
	}
	if raw := b.Raw.String(); strings.Contains(raw, "never-shown") || strings.Contains(raw, "envonly") {
		t.Errorf("the environment is in the raw reading: %s", raw)
	}
	until(t, s, paused, "paused", func(b *backend.Sandbox) bool {
		return b.Class == backend.SandboxPaused && b.Reported.String() == "paused"
	})
	until(t, s, stopped, "stopped with exit code 3", func(b *backend.Sandbox) bool {
		return b.Class == backend.SandboxExited && b.ExitCode.Or(0) == 3 && !b.OOMKilled.Or(true) && b.FinishedAt.IsKnown()
	})
	until(t, s, restarting, "restarting", func(b *backend.Sandbox) bool {
		return b.Class == backend.SandboxRestarting && b.RestartCount.Or(0) > 0 && b.ExitCode.Or(0) == 1
	})
	until(t, s, unhealthy, "unhealthy, with what the check printed", func(b *backend.Sandbox) bool {
		return b.Class == backend.SandboxRunning && b.Health.Or(backend.Safe{}).String() == "unhealthy" && strings.Contains(b.HealthOutput.String(), "not-well")
	})
	// Figures: two samples of a row that is looked at.
	s.Attend(backend.Attention{Visible: []backend.Key{s.key(backend.MustID(running))}})
	b = until(t, s, running, "measured", func(b *backend.Sandbox) bool { return b.Usage.IsKnown() })
	if u, _ := b.Usage.Get(); u.Mem.Or(0) <= 0 || u.PIDs.Or(0) != 1 || !u.MemLimit.IsNotApplicable() || time.Since(u.At) > time.Minute {
		t.Errorf("usage %+v", u)
	}
}

func TestRealEngineShowsOOMKill(t *testing.T) { onEngines(t, realEngineShowsOOMKill) }

func realEngineShowsOOMKill(t *testing.T, w *workshop) {
	eat := container.Config{Cmd: []string{"sh", "-c", "sleep 1; exec tail /dev/zero"}}
	if !w.memoryLimits() {
		// Such an engine ignores the limit, so nothing can be killed for it. What is possible: the limit is not invented.
		id := w.container("nolimit", container.Config{Cmd: []string{"sleep", "1000"}}, container.HostConfig{})
		b := until(t, realSource(t, w.Host), id, "running", func(b *backend.Sandbox) bool { return b.Class == backend.SandboxRunning })
		if b.OOMKilled.Or(true) {
			t.Errorf("killed for memory where memory cannot be limited: %+v", b)
		}
		t.Log("this engine cannot limit memory (info says MemoryLimit false): no OOM kill could be provoked")
		return
	}
	// The engine learns of the kill and of the exit on two ways; when the exit wins, the engine itself says that it was
	// no OOM kill. Such a container proves nothing about us, and another one is made.
	for attempt := range 6 {
		id := w.container(fmt.Sprint("oom", attempt), eat, container.HostConfig{Resources: container.Resources{Memory: 8 << 20, MemorySwap: 8 << 20}})
		b := until(t, realSource(t, w.Host), id, "exited", func(b *backend.Sandbox) bool { return b.Class == backend.SandboxExited })
		if b.ExitCode.Or(0) != 137 {
			t.Errorf("exit code %v", b.ExitCode)
		}
		if b.OOMKilled.Or(false) {
			return
		}
	}
	t.Error("the engine never reported an OOM kill in 6 attempts")
}

func TestRealEngineEvents(t *testing.T) { onEngines(t, realEngineEvents) }

func realEngineEvents(t *testing.T, w *workshop) {
	s := realSource(t, w.Host)
	mustPoll(t, s)
	changed, _ := watching(t, s)
	id := w.container("brief", container.Config{Cmd: []string{"true"}}, container.HostConfig{AutoRemove: true})
	var names []string
	ended := false
	deadline := time.After(2 * time.Minute)
	for !ended {
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("no destroy event; saw %v", names)
		}
		r := mustPoll(t, s)
		for _, e := range r.Events {
			if e.Subject.ID.Raw() == id {
				names = append(names, e.Name)
			}
		}
		// The inspection may find the container gone before its last event comes.
		ended = slices.Contains(r.Ended, s.key(backend.MustID(id))) && slices.Contains(names, "die")
	}
	if !slices.Contains(names, "create") || !slices.Contains(names, "start") {
		t.Errorf("events %v", names)
	}
}

// A container whose working directory goes: the engine's log shows between which moments that was, while it still reaches
// back so far, and since when at least afterwards. A restart begins anew, though the log keeps the old results.
func TestRealEngineTellsWhenHealthChecksBeganToFail(t *testing.T) {
	onEngines(t, realEngineTellsWhenHealthChecksBeganToFail)
}

func realEngineTellsWhenHealthChecksBeganToFail(t *testing.T, w *workshop) {
	id := w.container("health", container.Config{Cmd: []string{"sleep", "1000"}, WorkingDir: "/work/ws", Healthcheck: &container.HealthConfig{
		Test: []string{"CMD", "true"}, Interval: 400 * time.Millisecond, Timeout: 5 * time.Second, Retries: 2}}, container.HostConfig{})
	s := realSource(t, w.Host)
	b := until(t, s, id, "healthy", func(b *backend.Sandbox) bool { return b.Health.Or(backend.Safe{}).String() == "healthy" })
	if _, _, failing := b.Failing(); failing || b.WorkDirGone() {
		t.Errorf("healthy: %+v", b.HealthChecks)
	}
	made, err := w.API.ExecCreate(t.Context(), id, client.ExecCreateOptions{Cmd: []string{"busybox", "rm", "-r", "/work/ws"}, WorkingDir: "/", AttachStdout: true})
	w.do("exec", err)
	before := time.Now()
	_, err = w.API.ExecStart(t.Context(), made.ID, client.ExecStartOptions{})
	w.do("exec", err)

	b = until(t, s, id, "unhealthy", func(b *backend.Sandbox) bool { return b.Health.Or(backend.Safe{}).String() == "unhealthy" })
	first, late, failing := b.Failing()
	c, _ := b.HealthChecks.Get()
	told := w.Kind == enginetest.Docker // Podman does not say why a check did not begin
	// On a busy machine the log, which holds five results, reaches back no more.
	if !failing || b.WorkDirGone() != told || c.Passed.IsZero() && c.Failed < 5 || c.ExitCode < 0 != told || c.Failed < 2 || late.Before(before) || !first.Before(late) {
		t.Fatalf("just unhealthy: %+v, output %q", c, b.HealthOutput)
	}
	bound := late
	for streak, tick := 0, time.NewTicker(100*time.Millisecond); streak < 7; <-tick.C {
		now, err := w.API.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
		w.do("inspect", err)
		streak = now.Container.State.Health.FailingStreak
	}
	b = until(t, realSource(t, w.Host), id, "failing for longer than the log", func(b *backend.Sandbox) bool { return b.HealthChecks.IsKnown() })
	early, late, failing := b.Failing()
	c, _ = b.HealthChecks.Get()
	if !failing || !c.Passed.IsZero() || !early.Equal(b.StartedAt.Or(time.Time{})) {
		t.Errorf("a console that starts later: %+v, since %v", c, early)
	}
	// It may not say more than was so: the first failed check ended at bound, or the engine's log was read a check late.
	if late.Before(bound) || late.After(c.Checked.Add(-time.Duration(c.Failed-1)*400*time.Millisecond)) {
		t.Errorf("failing by %v; the first failed check ended at %v, the newest of %d at %v", late, bound, c.Failed, c.Checked)
	}
	none := 0
	_, err = w.API.ContainerRestart(t.Context(), id, client.ContainerRestartOptions{Timeout: &none})
	w.do("restart", err)
	b = until(t, s, id, "a new run", func(b *backend.Sandbox) bool { return b.StartedAt.Or(time.Time{}).After(late) })
	if c, known := b.HealthChecks.Get(); known && (!c.Passed.IsZero() && c.Passed.Before(b.StartedAt.Or(time.Time{})) || c.FailingBy.Before(b.StartedAt.Or(time.Time{})) && c.Failed > 0) {
		// Podman makes a missing working directory again at a start, and a check may have passed by now.
		t.Errorf("the checks of the run before are shown: %+v", c)
	}
}

// The client library's transport is replaced by ours; that it still greets a real engine over TCP shows on loopback.
func TestRealEngineOverTCP(t *testing.T) { onEngines(t, realEngineOverTCP) }

func realEngineOverTCP(t *testing.T, w *workshop) {
	path, ok := strings.CutPrefix(w.Host, "unix://")
	if !ok {
		skip.Without(t, "docker", "the engine is reached over TCP already: "+w.Host)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}}
		defer tr.CloseIdleConnections()
		out := r.Clone(r.Context())
		out.RequestURI, out.URL.Scheme, out.URL.Host = "", "http", "engine"
		resp, err := tr.RoundTrip(out)
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for k, v := range resp.Header {
			rw.Header()[k] = v
		}
		rw.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(rw, resp.Body)
	})}
	go func() { _ = proxy.Serve(l) }()
	t.Cleanup(func() { _ = proxy.Close() })
	r := mustPoll(t, realSource(t, "tcp://"+l.Addr().String()))
	if len(r.Scopes) != 1 || !r.Scopes[0].Complete {
		t.Errorf("scopes %v", r.Scopes)
	}
}
