package demo

import (
	"fmt"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
)

// Versions the engine socket claims (API 1.43 is Docker Engine 24).
const (
	engineVersion = "24.0.7"
	engineAPI     = "1.43"
	engineMinAPI  = "1.12"
)

const memoryLimit = 512 << 20

func (w world) listed(b *fakeContainer) container.Summary {
	s := w.containerState(b)
	out := container.Summary{
		ID: b.id, Names: []string{"/" + b.name}, Image: b.image, ImageID: imageID(b.image),
		Command: "sleep infinity", Created: w.when(b.created).Unix(), Ports: []container.PortSummary{},
		Labels: w.labels(b), State: container.ContainerState(s.status), Status: w.statusText(s),
		NetworkSettings: &container.NetworkSettingsSummary{Networks: noNetworks()}, Mounts: w.mounts(b),
	}
	out.HostConfig.NetworkMode = "none"
	return out
}

func noNetworks() map[string]*network.EndpointSettings {
	return map[string]*network.EndpointSettings{"none": {}}
}

// statusText is the sentence that the engine's own list shows.
func (w world) statusText(s containerState) string {
	switch s.status {
	case "created":
		return "Created"
	case "exited":
		return fmt.Sprintf("Exited (%d) %s ago", s.exit, roughly(w.t-s.finished.at))
	case "restarting":
		return fmt.Sprintf("Restarting (%d) %s ago", s.exit, roughly(w.t-s.finished.at))
	}
	text := "Up " + roughly(w.t-s.started.at)
	switch {
	case s.status == "paused":
		return text + " (Paused)"
	case s.health == "starting":
		return text + " (health: starting)"
	case s.health != "":
		return text + " (" + s.health + ")"
	}
	return text
}

func roughly(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

func (w world) mounts(b *fakeContainer) []container.MountPoint {
	if b.dir == "" {
		return []container.MountPoint{}
	}
	return []container.MountPoint{{Type: "bind", Source: b.dir, Destination: "/workspace", RW: true, Propagation: "rprivate"}}
}

func (w world) inspected(b *fakeContainer) container.InspectResponse {
	s := w.containerState(b)
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	if w.incidents.hostile {
		env = append(env, "OPENAI_API_KEY=sk-demo-"+b.id[:16])
	}
	labels, pidsLimit := w.labels(b), int64(256)
	out := container.InspectResponse{
		ID: b.id, Created: w.zoned(known(b.created)), Path: "sleep", Args: []string{"infinity"},
		State: w.inspectedState(b, s), Image: imageID(b.image), Name: "/" + b.name,
		RestartCount: s.restarts, Driver: "overlay2", Platform: "linux",
		HostConfig: &container.HostConfig{
			NetworkMode: "none", Resources: container.Resources{Memory: memoryLimit, NanoCPUs: 1_000_000_000, PidsLimit: &pidsLimit},
			RestartPolicy: container.RestartPolicy{Name: restartPolicy(b)},
		},
		Mounts: w.mounts(b),
		Config: &container.Config{
			Hostname: b.id[:12], Env: env, Cmd: []string{"sleep", "infinity"}, Image: b.image,
			WorkingDir: "/workspace", Labels: labels, Healthcheck: healthcheck(b),
		},
		NetworkSettings: &container.NetworkSettings{Networks: noNetworks()},
	}
	if b.made != nil {
		out.Path, out.Args, out.Config, out.HostConfig = "", b.made.config.Cmd, b.made.config, b.made.host
	}
	return out
}

func healthcheck(b *fakeContainer) *container.HealthConfig {
	if !b.checked {
		return nil
	}
	return &container.HealthConfig{Test: []string{"CMD-SHELL", "test -d " + workRoot}, Interval: checkGap, Timeout: 5 * time.Second, Retries: sickAfter}
}

func restartPolicy(b *fakeContainer) container.RestartPolicyMode {
	if b.kind == containerOOMLoop || b.kind == containerLooping || b.label == "" {
		return container.RestartPolicyAlways
	}
	return container.RestartPolicyDisabled
}

func (w world) inspectedState(b *fakeContainer, s containerState) *container.State {
	out := &container.State{
		Status: container.ContainerState(s.status), Paused: s.status == "paused", Restarting: s.status == "restarting", OOMKilled: s.oom,
		ExitCode: s.exit, Error: s.failure, StartedAt: w.zoned(s.started), FinishedAt: w.zoned(s.finished),
	}
	// The engine calls a paused and a restarting container running as well.
	out.Running = s.up() || out.Restarting
	if s.up() {
		out.Pid = 1000 + int(w.random.value(saltBox, int(b.phase/time.Millisecond), 9)%30000)
	}
	if s.health != "" {
		out.Health = w.health(b, s)
	}
	return out
}

// checkLog is how many results of health checks the engine keeps.
const checkLog = 5

func (w world) health(b *fakeContainer, s containerState) *container.Health {
	out := &container.Health{Status: container.HealthStatus(s.health), FailingStreak: s.streak}
	grid := b.phase
	if b.kind == containerUnhealthy {
		grid = b.since
	}
	begin := grid + time.Duration(floorDiv(w.t-grid, checkGap))*checkGap
	for at := begin - (checkLog-1)*checkGap; at <= begin; at += checkGap {
		if at >= s.started.at || at == begin {
			out.Log = append(out.Log, w.check(b, max(at, s.started.at)))
		}
	}
	return out
}

// check is the result of the health check that began at a time.
func (w world) check(b *fakeContainer, at time.Duration) *container.HealthcheckResult {
	c := &container.HealthcheckResult{Start: w.when(at), End: w.when(at + 40*time.Millisecond)}
	switch {
	case !w.checkFails(b, at):
	case b.root == rootFine:
		c.ExitCode, c.Output = 1, "sh: /workspace: Transport endpoint is not connected\n"
	default: // the engine cannot start the command: its error replaces the output
		_, c.Output, _ = w.At(at).command(&execution{container: b, argv: []string{"sh"}})
		c.ExitCode, c.Output = -1, strings.TrimSpace(c.Output)
	}
	return c
}

// zoned writes a time as the engine does; an unknown one is the zero time.
func (w world) zoned(m moment) string {
	if !m.known {
		return "0001-01-01T00:00:00Z"
	}
	return w.when(m.at).Format(time.RFC3339Nano)
}
