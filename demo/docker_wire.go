package demo

import (
	"fmt"
	"strings"
	"time"
)

// Versions the engine socket claims (API 1.43 is Docker Engine 24).
const (
	engineVersion = "24.0.7"
	engineAPI     = "1.43"
	engineMinAPI  = "1.12"
)

type dockerMount struct {
	Type, Source, Destination, Mode string
	RW                              bool
	Propagation                     string
}

type dockerNetworks struct {
	Networks map[string]dockerNetwork
}

type dockerNetwork struct {
	NetworkID string
	IPAddress string
}

type dockerPort struct {
	PrivatePort uint16
	Type        string
}

type dockerHostMode struct {
	NetworkMode string
}

// dockerVolumes is the answer of GET /volumes; there are none.
type dockerVolumes struct {
	Volumes  []struct{}
	Warnings []string
}

// dockerListed is one element of GET /containers/json.
type dockerListed struct {
	ID              string `json:"Id"`
	Names           []string
	Image, ImageID  string
	Command         string
	Created         int64
	Ports           []dockerPort
	Labels          map[string]string
	State, Status   string
	HostConfig      dockerHostMode
	NetworkSettings dockerNetworks
	Mounts          []dockerMount
}

// dockerInspected is the answer of GET /containers/{id}/json, as far as a
// console reads it.
type dockerInspected struct {
	ID              string `json:"Id"`
	Created         string
	Path            string
	Args            []string
	State           dockerState
	Image, Name     string
	RestartCount    int
	Driver          string
	Platform        string
	HostConfig      dockerHostConfig
	Mounts          []dockerMount
	Config          dockerConfig
	NetworkSettings dockerNetworks
	SizeRw          *int64 `json:",omitempty"`
}

type dockerState struct {
	Status                                       string
	Running, Paused, Restarting, OOMKilled, Dead bool
	Pid, ExitCode                                int
	Error, StartedAt, FinishedAt                 string
	Health                                       *dockerHealth `json:",omitempty"`
}

type dockerHealth struct {
	Status        string
	FailingStreak int
	Log           []dockerCheck
}

type dockerCheck struct {
	Start, End string
	ExitCode   int
	Output     string
}

type dockerHostConfig struct {
	NetworkMode   string
	Memory        int64
	NanoCpus      int64
	PidsLimit     int64
	RestartPolicy dockerRestart
	AutoRemove    bool
}

type dockerRestart struct {
	Name              string
	MaximumRetryCount int
}

type dockerConfig struct {
	Hostname   string
	Env        []string
	Cmd        []string
	Image      string
	WorkingDir string
	Labels     map[string]string

	Healthcheck *dockerHealthcheck `json:",omitempty"`
}

// dockerHealthcheck has its durations in nanoseconds.
type dockerHealthcheck struct {
	Test              []string
	Interval, Timeout time.Duration
	Retries           int
}

const memoryLimit = 512 << 20

func (w world) listed(b *box) dockerListed {
	s := w.box(b)
	return dockerListed{
		ID: b.id, Names: []string{"/" + b.name}, Image: b.image, ImageID: "sha256:" + b.id,
		Command: "sleep infinity", Created: w.when(b.created).Unix(), Ports: []dockerPort{},
		Labels: w.labels(b), State: s.status, Status: w.statusText(s),
		HostConfig: dockerHostMode{NetworkMode: "none"}, NetworkSettings: noNetworks(), Mounts: w.mounts(b),
	}
}

func noNetworks() dockerNetworks {
	return dockerNetworks{Networks: map[string]dockerNetwork{"none": {}}}
}

// statusText is the sentence that the engine's own list shows.
func (w world) statusText(s boxState) string {
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

func (w world) mounts(b *box) []dockerMount {
	if b.dir == "" {
		return []dockerMount{}
	}
	return []dockerMount{{Type: "bind", Source: b.dir, Destination: "/workspace", RW: true, Propagation: "rprivate"}}
}

func (w world) inspected(b *box) dockerInspected {
	s := w.box(b)
	env := []string{"PATH=/usr/local/bin:/usr/bin:/bin"}
	if w.acts.hostile {
		env = append(env, "OPENAI_API_KEY=sk-demo-"+b.id[:16])
	}
	labels := w.labels(b)
	return dockerInspected{
		ID: b.id, Created: w.zoned(known(b.created)), Path: "sleep", Args: []string{"infinity"},
		State: w.inspectedState(b, s), Image: "sha256:" + b.id, Name: "/" + b.name,
		RestartCount: s.restarts, Driver: "overlay2", Platform: "linux",
		HostConfig: dockerHostConfig{
			NetworkMode: "none", Memory: memoryLimit, NanoCpus: 1_000_000_000, PidsLimit: 256,
			RestartPolicy: dockerRestart{Name: restartPolicy(b), MaximumRetryCount: 0},
		},
		Mounts: w.mounts(b),
		Config: dockerConfig{
			Hostname: b.id[:12], Env: env, Cmd: []string{"sleep", "infinity"}, Image: b.image,
			WorkingDir: "/workspace", Labels: labels, Healthcheck: healthcheck(b),
		},
		NetworkSettings: noNetworks(),
	}
}

func healthcheck(b *box) *dockerHealthcheck {
	if !b.checked {
		return nil
	}
	return &dockerHealthcheck{Test: []string{"CMD-SHELL", "test -d " + workRoot}, Interval: checkGap, Timeout: 5 * time.Second, Retries: sickAfter}
}

func restartPolicy(b *box) string {
	if b.kind == boxOOMLoop || b.kind == boxLooping || b.label == "" {
		return "always"
	}
	return "no"
}

func (w world) inspectedState(b *box, s boxState) dockerState {
	out := dockerState{
		Status: s.status, Paused: s.status == "paused", Restarting: s.status == "restarting", OOMKilled: s.oom,
		ExitCode: s.exit, StartedAt: w.zoned(s.started), FinishedAt: w.zoned(s.finished),
	}
	// The engine calls a paused and a restarting container running as well.
	out.Running = s.up() || out.Restarting
	if s.up() {
		out.Pid = 1000 + int(w.dice.roll(saltBox, int(b.phase/time.Millisecond), 9)%30000)
	}
	if s.health != "" {
		out.Health = w.health(b, s)
	}
	return out
}

// checkLog is how many results of health checks the engine keeps.
const checkLog = 5

func (w world) health(b *box, s boxState) *dockerHealth {
	out := &dockerHealth{Status: s.health, FailingStreak: s.streak}
	grid := b.phase
	if b.kind == boxSick {
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
func (w world) check(b *box, at time.Duration) dockerCheck {
	c := dockerCheck{Start: w.zoned(known(at)), End: w.zoned(known(at + 40*time.Millisecond))}
	switch {
	case !w.checkFails(b, at):
	case b.root == rootFine:
		c.ExitCode, c.Output = 1, "sh: /workspace: Transport endpoint is not connected\n"
	default: // the engine cannot even begin it, so that its words stand for the output
		_, c.Output, _ = w.At(at).command(&execution{box: b, argv: []string{"sh"}})
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
