package demo

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/events"
	"github.com/moby/moby/client"
)

// engine serves a fleet to the real Docker client; its clock is moved by hand.
type engine struct {
	*fleet
	t      atomic.Int64
	client *client.Client
}

func newEngine(t *testing.T, scenario string) *engine {
	t.Helper()
	e := &engine{fleet: testFleet(t, scenario, defaultWorkspaces, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(dockerServer{e.now, ctx.Done()}.handler())
	c, err := client.New(client.WithHost("tcp://" + strings.TrimPrefix(server.URL, "http://")))
	if err != nil {
		t.Fatal(err)
	}
	e.client = c
	t.Cleanup(func() {
		cancel()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		server.Close()
	})
	return e
}

func (e *engine) now() world { return e.At(time.Duration(e.t.Load())) }

func (e *engine) byKind(t *testing.T, k containerKind) *fakeContainer {
	t.Helper()
	i := slices.IndexFunc(e.containers, func(b fakeContainer) bool { return b.kind == k })
	if i < 0 {
		t.Fatalf("no container of kind %d", k)
	}
	return &e.containers[i]
}

func TestDockerClientNegotiatesAndLists(t *testing.T) {
	e := newEngine(t, "all")
	e.t.Store(int64(time.Minute))
	list, err := e.client.ContainerList(t.Context(), client.ContainerListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := e.client.ClientVersion(); got != engineAPI {
		t.Errorf("negotiated %s", got)
	}
	states, labelled, mounted := map[container.ContainerState]int{}, 0, 0
	for _, c := range list.Items {
		states[c.State]++
		if c.Labels["sandglass.session"] != "" && c.Labels["sandglass.workspace"] != "" {
			labelled++
		}
		mounted += len(c.Mounts)
	}
	for _, s := range []container.ContainerState{"running", "paused", "exited", "restarting", "created"} {
		if states[s] == 0 {
			t.Errorf("no container is %s: %v", s, states)
		}
	}
	if len(list.Items) != len(e.containers) || labelled != len(e.containers)-6 || mounted == 0 {
		t.Errorf("%d containers, %d sandboxes, %d mounts", len(list.Items), labelled, mounted)
	}
	some, err := e.client.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", "sandglass.session").Add("status", "paused")})
	if err != nil || len(some.Items) != states["paused"] {
		t.Errorf("%d paused sandboxes, %v", len(some.Items), err)
	}
	if _, err := e.client.ContainerList(t.Context(), client.ContainerListOptions{Filters: make(client.Filters).Add("zorp", "x")}); err == nil {
		t.Error("an unknown filter is accepted")
	}
	info, err := e.client.Info(t.Context(), client.InfoOptions{})
	if err != nil || info.Info.Containers != len(e.containers) {
		t.Errorf("info: %d containers, %v", info.Info.Containers, err)
	}
	version, err := e.client.ServerVersion(t.Context(), client.ServerVersionOptions{})
	if err != nil || version.APIVersion != engineAPI {
		t.Errorf("version %+v, %v", version, err)
	}
}

// Cleaning scratch directories asks for volumes, and cleans nothing without an answer.
func TestDockerClientListsVolumes(t *testing.T) {
	e := newEngine(t, "all")
	res, err := e.client.VolumeList(t.Context(), client.VolumeListOptions{Filters: make(client.Filters).Add("driver", "local")})
	if err != nil || res.Items == nil || len(res.Items)+len(res.Warnings) > 0 {
		t.Errorf("volumes %+v, %v", res, err)
	}
}

func TestDockerClientInspects(t *testing.T) {
	e := newEngine(t, "all")
	e.t.Store(int64(2 * time.Minute))
	inspect := func(id string) container.InspectResponse {
		t.Helper()
		got, err := e.client.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Container
	}
	if c := inspect(e.byKind(t, containerKilled).id); c.State.Status != "exited" || c.State.ExitCode != 137 || !c.State.OOMKilled || c.State.Running {
		t.Errorf("killed container: %+v", c.State)
	}
	if c := inspect(e.byKind(t, containerPaused).name); !c.State.Paused || !c.State.Running {
		t.Errorf("paused container: %+v", c.State)
	}
	if c := inspect(e.byKind(t, containerLooping).id[:12]); c.RestartCount < 10 {
		t.Errorf("looping container restarted %d times", c.RestartCount)
	}
	if c := inspect(e.byKind(t, containerUnhealthy).id); c.State.Health == nil || c.State.Health.Status != "unhealthy" || c.State.Health.FailingStreak < 3 {
		t.Errorf("sick container: %+v", c.State.Health)
	} else if log := c.State.Health.Log; len(log) != checkLog || log[0].ExitCode == 0 || log[checkLog-1].Start.Sub(log[0].Start) != (checkLog-1)*checkGap || c.Config.Healthcheck.Interval != checkGap {
		t.Errorf("its checks: %+v, every %+v", log, c.Config.Healthcheck)
	}
	if c := inspect(e.byKind(t, containerCreated).id); c.State.Status != "created" || !strings.HasPrefix(c.State.StartedAt, "0001") {
		t.Errorf("created container: %+v", c.State)
	}
	if _, err := e.client.ContainerInspect(t.Context(), "nosuch", client.ContainerInspectOptions{}); err == nil || !strings.Contains(err.Error(), "No such container") {
		t.Errorf("unknown container: %v", err)
	}
}

func TestDockerClientSamples(t *testing.T) {
	e := newEngine(t, "all")
	e.t.Store(int64(time.Minute))
	sample := func(b *fakeContainer, previous bool) container.StatsResponse {
		t.Helper()
		got, err := e.client.ContainerStats(t.Context(), b.id, client.ContainerStatsOptions{IncludePreviousSample: previous})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := got.Body.Close(); err != nil {
				t.Error(err)
			}
		}()
		var s container.StatsResponse
		if err := json.NewDecoder(got.Body).Decode(&s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	b := e.byKind(t, containerSteady)
	one := sample(b, false)
	e.t.Store(int64(time.Minute + 5*time.Second))
	two := sample(b, true)
	used := two.CPUStats.CPUUsage.TotalUsage - one.CPUStats.CPUUsage.TotalUsage
	if used == 0 || used > uint64(5*time.Second) || one.PreCPUStats.CPUUsage.TotalUsage != 0 || two.PreCPUStats.CPUUsage.TotalUsage == 0 {
		t.Errorf("cpu: %+v then %+v", one.CPUStats, two.CPUStats)
	}
	if one.MemoryStats.Usage == 0 || one.MemoryStats.Limit != memoryLimit || !one.Read.Equal(testStart.Add(time.Minute)) {
		t.Errorf("sample %+v", one)
	}
	if off := sample(e.byKind(t, containerKilled), false); off.CPUStats.CPUUsage.TotalUsage != 0 || !off.Read.IsZero() {
		t.Errorf("a stopped container samples %+v", off)
	}
	oom := e.byKind(t, containerOOMLoop)
	e.t.Store(int64(oom.since - time.Second))
	if full := sample(oom, false); full.MemoryStats.Usage < memoryLimit*9/10 {
		t.Errorf("a second before it is killed a container uses %d bytes", full.MemoryStats.Usage)
	}
}

func TestDockerClientHearsEvents(t *testing.T) {
	e := newEngine(t, "all")
	begin := 60 * time.Second
	e.t.Store(int64(begin))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream := e.client.Events(ctx, client.EventsListOptions{
		Filters: make(client.Filters).Add("type", "container").Add("event", "oom", "die", "start", "health_status"),
	})
	e.t.Store(int64(80 * time.Second))
	var got []string
	for !slices.Contains(got, "health_status: unhealthy") {
		select {
		case m := <-stream.Messages:
			if m.Type != events.ContainerEventType || m.Actor.Attributes["name"] == "" {
				t.Fatalf("event %+v", m)
			}
			if m.Action == "die" && m.Actor.Attributes["exitCode"] == "" {
				t.Errorf("no exit code in %+v", m)
			}
			got = append(got, string(m.Action))
		case err := <-stream.Err:
			t.Fatalf("stream ended after %v: %v", got, err)
		}
	}
	oom := slices.Index(got, "oom")
	if oom < 0 || got[oom+1] != "die" || !slices.Contains(got, "start") {
		t.Errorf("events %v", got)
	}
}

func TestDockerClientHearsThePast(t *testing.T) {
	e := newEngine(t, "all")
	e.t.Store(int64(5 * time.Minute))
	stream := e.client.Events(t.Context(), client.EventsListOptions{
		Since: testStart.Add(time.Minute).Format(time.RFC3339Nano), Until: testStart.Add(4 * time.Minute).Format(time.RFC3339Nano),
	})
	n, noise, last := 0, 0, int64(0)
	for {
		select {
		case m := <-stream.Messages:
			if m.TimeNano < last || m.TimeNano > testStart.Add(4*time.Minute).UnixNano() {
				t.Errorf("event out of place: %+v", m)
			}
			last = m.TimeNano
			n++
			if strings.HasPrefix(string(m.Action), "exec_") {
				noise++
			}
		case err := <-stream.Err:
			if err != io.EOF || n == 0 || n > eventMemory || noise < n/2 {
				t.Errorf("%d events of the past, %d of them noise: %v", n, noise, err)
			}
			return
		}
	}
}

func TestDockerClientReadsLogs(t *testing.T) {
	e := newEngine(t, "all")
	e.t.Store(int64(time.Minute))
	logs, err := e.client.ContainerLogs(t.Context(), agentContainer, client.ContainerLogsOptions{ShowStdout: true, ShowStderr: true, Tail: "50"})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(logs)
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for len(raw) > 8 {
		n := int(raw[4])<<24 | int(raw[5])<<16 | int(raw[6])<<8 | int(raw[7])
		if raw[0] != 1 && raw[0] != 2 || raw[8+n-1] != '\n' {
			t.Fatalf("frame % x", raw[:8])
		}
		raw = raw[8+n:]
		lines++
	}
	if lines != 50 || len(raw) != 0 {
		t.Errorf("%d lines, %d bytes left", lines, len(raw))
	}
}

func TestDockerEngineRefusesWhatItDoesNotPlay(t *testing.T) {
	e := newEngine(t, "all")
	b := e.byKind(t, containerSteady)
	_, rename := e.client.ContainerRename(t.Context(), b.id, client.ContainerRenameOptions{NewName: "other"})
	_, kill := e.client.ContainerKill(t.Context(), b.id, client.ContainerKillOptions{Signal: "KILL"})
	for _, err := range []error{rename, kill} {
		// A client shows a raw body when the answer is not typed as the engine types it.
		if err == nil || !strings.Contains(err.Error(), "does not do that") || strings.Contains(err.Error(), "{") {
			t.Errorf("a change is answered by %v", err)
		}
	}
	h := dockerServer{e.now, nil}.handler()
	if got := ask(t, h, "/v1.43/images/json"); got.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown question is answered by %d", got.StatusCode)
	}
}

// TestEventsTellEveryChange replays the events of half an hour and compares
// with what the list says.
func TestEventsTellEveryChange(t *testing.T) {
	for _, scenario := range []string{"all", "calm", "workspace-gone", "orphan-containers", "frozen"} {
		f := testFleet(t, scenario, 700, 1)
		state := map[string]string{}
		for i := range f.containers {
			state[f.containers[i].id] = f.At(0).containerState(&f.containers[i]).status
		}
		changes := 0
		for at := time.Duration(0); at < 30*time.Minute; at += time.Second {
			w := f.At(at + time.Second)
			for _, e := range w.events(at) {
				if next, ok := statusAfter(e); ok {
					state[e.container.id] = next
					changes++
				}
			}
			for i := range f.containers {
				b := &f.containers[i]
				if got := w.containerState(b).status; got != state[b.id] {
					t.Fatalf("%s: container kind %d at %s: the list says %s, the events say %s", scenario, b.kind, w.t, got, state[b.id])
				}
			}
		}
		if changes < 10 {
			t.Errorf("%s: only %d changes", scenario, changes)
		}
	}
}

func statusAfter(e containerEvent) (string, bool) {
	switch e.action {
	case "start", "unpause":
		return "running", true
	case "pause":
		return "paused", true
	case "die":
		if e.container.kind == containerLooping || e.container.kind == containerOOMLoop {
			return "restarting", true
		}
		return "exited", true
	}
	return "", false
}
