package test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
)

// The files, the host and the engine of a world.

func (s *worldSite) logFile() string  { return filepath.Join(s.dir, "agent.log") }
func (s *worldSite) refsFile() string { return filepath.Join(s.dir, "refs.json") }
func (s *worldSite) scratch() string  { return filepath.Join(s.dir, "tmp") }

func (s *worldSite) openLog() {
	f, err := os.OpenFile(s.logFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		s.t.Fatal(err)
	}
	s.log = f
}

// rotate begins another log file under the same name.
func (s *worldSite) rotate() {
	s.flush()
	_ = s.log.Close()
	if err := os.Rename(s.logFile(), s.logFile()+".1"); err != nil {
		s.t.Error(err)
	}
	s.openLog()
}

// compress rotates as logrotate does without a delay: what was written until now is in a compressed file.
func (s *worldSite) compress() {
	s.rotate()
	old := s.logFile() + ".1"
	text, err := os.ReadFile(old)
	if err != nil {
		s.t.Error(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(text)
	if err := cmp.Or(z.Close(), os.WriteFile(old+".gz", packed.Bytes(), 0o600), os.Remove(old)); err != nil {
		s.t.Error(err)
	}
}

// truncate empties the log file where it is.
func (s *worldSite) truncate() {
	s.flush()
	if err := s.log.Truncate(0); err != nil {
		s.t.Error(err)
	}
}

// write adds a line to the agents' log as it is.
func (s *worldSite) write(line string) { s.lines = append(s.lines, line) }

// writes adds a line as pino writes it; more are pairs of names and JSON values.
func (s *worldSite) writes(level int, session, msg string, more ...string) {
	line := fmt.Sprintf(`{"level":%d,"time":%d,"msg":%q`, level, s.ms(0), msg)
	if session != "" {
		line += fmt.Sprintf(`,"sessionId":%q`, session)
	}
	for i := 0; i+1 < len(more); i += 2 {
		line += fmt.Sprintf(`,%q:%s`, more[i], more[i+1])
	}
	s.write(line + "}")
}

// flush writes what a step left to be written.
func (s *worldSite) flush() {
	if len(s.lines) > 0 {
		if _, err := s.log.WriteString(strings.Join(s.lines, "\n") + "\n"); err != nil {
			s.t.Error(err)
		}
		s.lines = s.lines[:0]
		s.dated(s.logFile(), 0)
	}
	sessions := []map[string]any{}
	for _, r := range s.refs {
		sessions = append(sessions, map[string]any{"sessionId": r.Session, "status": r.Status, "savedAt": r.Saved.UnixMilli(), "workspaceRefs": []map[string]any{
			{"name": r.Name, "providerId": "docker", "schemaVersion": r.Schema, "ref": map[string]string{"containerId": r.Sandbox}}}})
	}
	b, err := json.Marshal(map[string]any{"sessions": sessions})
	if err != nil {
		s.t.Error(err)
	}
	if string(b) != s.saved {
		s.save(string(b))
	}
}

func (s *worldSite) save(text string) {
	if err := os.WriteFile(s.refsFile(), []byte(text), 0o600); err != nil {
		s.t.Error(err)
	}
	s.saved = text
	s.dated(s.refsFile(), 0)
}

// dated gives a file the time of the world.
func (s *worldSite) dated(file string, ago time.Duration) {
	at := s.clock.Add(-ago)
	if err := os.Chtimes(file, at, at); err != nil {
		s.t.Error(err)
	}
}

// scratches makes scratch directories that were changed so long ago.
func (s *worldSite) scratches(from, n int, ago time.Duration) {
	for i := from; i < from+n; i++ {
		dir := filepath.Join(s.scratch(), fmt.Sprintf("helix-ws-%06d", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			s.t.Error(err)
		}
		s.dated(dir, ago)
	}
	s.dated(s.scratch(), 0)
}

func (s *worldSite) unscratch(from, n int) {
	for i := from; i < from+n; i++ {
		if err := os.RemoveAll(filepath.Join(s.scratch(), fmt.Sprintf("helix-ws-%06d", i))); err != nil {
			s.t.Error(err)
		}
	}
}

// worldHost is what the world's machine tells of itself.
type worldHost struct {
	booted    time.Time
	total     int64
	available float64 // share of the memory
	kills     int64   // by the kernel, since boot
	first     bool    // its control groups are of the first version
	size      int64   // bytes of the file system of the scratch directories
	free      float64 // share of it
	out       bool    // /proc cannot be read
}

// writeMachine writes the proc tree of the world's machine: its one process uses no scratch directory. To read those of ours
// in each poll costs more than the worlds themselves.
func (s *worldSite) writeMachine() {
	files := map[string]string{
		"meminfo": "MemTotal: 65806472 kB\nMemAvailable: 41230156 kB\n", "vmstat": "oom_kill 0\n", "locks": "",
		"stat": fmt.Sprintf("btime %d\n", s.host.booted.Unix()), "swaps": "Filename Type Size Used Priority\n",
		"sys/kernel/hostname": "world\n", "sys/kernel/random/boot_id": "5f0c2c52-8a1d-4e0b-9f4e-3a1d7c6b2e90\n",
		"1/cmdline": "init\x00", "1/stat": "1 (init) S 0 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 1 0", "1/maps": "", "1/fd/.keep": "",
		"self/.keep": "", "self/ns/.keep": "", "1/ns/.keep": "",
	}
	links := map[string]string{"self/mountinfo": "/proc/self/mountinfo", "self/ns/mnt": "mnt:[4026531841]", "self/ns/pid": "pid:[4026531836]",
		"1/ns/mnt": "mnt:[4026531841]", "1/cwd": "/", "1/root": "/"}
	for name, body := range files {
		at := filepath.Join(s.dir, "proc", name)
		err := os.MkdirAll(filepath.Dir(at), 0o700)
		if err == nil && filepath.Base(name) != ".keep" {
			err = os.WriteFile(at, []byte(body), 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(s.dir, "proc", name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// worldMachine is the tmpdir source with the world's machine in the place of ours: it reads real directories.
type worldMachine struct {
	backend.Source
	site *worldSite
}

func (m *worldMachine) Poll(ctx context.Context) (backend.Reading, error) {
	r, err := m.Source.Poll(ctx)
	m.site.mu.Lock()
	defer m.site.mu.Unlock()
	h := m.site.host
	if h.out {
		return backend.Reading{}, &backend.Error{Kind: backend.ErrTimeout, Err: context.DeadlineExceeded}
	}
	for _, x := range r.Hosts {
		x.BootedAt, x.MemTotal, x.MemAvailable = backend.Known(h.booted), backend.Known(h.total), backend.Known(int64(float64(h.total)*h.available))
		x.OOMKills, x.LimitKills, x.MemPressure = backend.Known(h.kills), backend.Known[int64](0), backend.Known(0.0)
		x.LimitKillsCut = h.first
		for i := range x.Roots {
			x.Roots[i].Bytes, x.Roots[i].BytesFree = backend.Known(h.size), backend.Known(int64(float64(h.size)*h.free))
			x.Roots[i].Inodes, x.Roots[i].InodesFree = backend.Known[int64](1e7), backend.Known[int64](9e6)
		}
	}
	return r, err
}

func (m *worldMachine) Attend(a backend.Attention) {
	if x, ok := m.Source.(backend.Attentive); ok {
		x.Attend(a)
	}
}

func (m *worldMachine) Close() error {
	if x, ok := m.Source.(backend.Closer); ok {
		return x.Close()
	}
	return nil
}

// worldContainer is one container of the engine.
type worldContainer struct {
	id, name, session   string
	labels              map[string]string
	state               string // the engine's word
	failure             string // State.Error
	exit                int
	oom                 bool
	restarts            int
	policy              string // of restarts
	created, start, end time.Time
	health              string
	healthFails         int
	healthLog           []worldProbe
	startPeriod         time.Duration
	memory, usage       int64
	output              []string
}

type worldProbe struct {
	at   time.Time
	exit int
}

// container adds a running container that belongs to a session.
func (s *worldSite) container(id, session string) *worldContainer {
	c := &worldContainer{id: strings.Repeat(id, 64/len(id)+1)[:64], name: session + "-box-" + id, session: session, state: "running", usage: 300 << 20,
		created: s.clock.Add(-3 * time.Hour), start: s.clock.Add(-3 * time.Hour), labels: map[string]string{}}
	if session != "" {
		c.labels["sandglass.session"], c.labels["sandglass.workspace"] = session, "box"
	}
	s.boxes = append(s.boxes, c)
	return c
}

// stops ends a container now.
func (c *worldContainer) stops(s *worldSite, exit int) {
	c.state, c.exit, c.end = "exited", exit, s.clock
}

// starts runs it from now on.
func (c *worldContainer) starts(s *worldSite) {
	c.state, c.start = "running", s.clock
}

func (s *worldSite) remove(c *worldContainer) {
	for i, x := range s.boxes {
		if x == c {
			s.boxes = append(s.boxes[:i:i], s.boxes[i+1:]...)
			return
		}
	}
}

// worldKill is the end of a container that was removed with it. A container without a session is no sandbox.
type worldKill struct {
	at      time.Time
	session string
}

// kills ends containers of sessions at their memory limit, as those started with --rm end.
func (s *worldSite) kills(sessions ...string) {
	for _, id := range sessions {
		s.killed = append(s.killed, worldKill{s.clock, id})
	}
	s.host.kills += int64(len(sessions))
}

// engine speaks the part of the Docker Engine API that reads.
func (s *worldSite) engine(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Api-Version", "1.41")
	w.Header().Set("Ostype", "linux")
	if r.URL.Path == "/_ping" {
		return
	}
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	if path == "containers/json" {
		rows := []map[string]any{}
		for _, c := range s.boxes {
			rows = append(rows, map[string]any{"Id": c.id, "Names": []string{"/" + c.name}, "Image": "agent:1", "ImageID": "sha256:1d3a", "Labels": c.labels,
				"Created": c.created.Unix(), "State": c.state, "Status": c.status(), "Mounts": []string{}})
		}
		s.answer(w, rows)
		return
	}
	if q := r.URL.Query(); path == "events" && q.Has("until") {
		for i, k := range s.killed {
			at, attributes := k.at, map[string]string{"name": fmt.Sprintf("job-%d", i), "image": "agent:1"}
			if k.session != "" {
				attributes["sandglass.session"] = k.session
			}
			stamp := func(name string) float64 { x, _ := strconv.ParseFloat(q.Get(name), 64); return x }
			if t := float64(at.UnixMilli()) / 1000; t >= stamp("since") && t <= stamp("until") {
				s.answer(w, map[string]any{"Type": "container", "Action": "oom", "Actor": map[string]any{"ID": fmt.Sprintf("%064x", i+9), "Attributes": attributes},
					"time": at.Unix(), "timeNano": at.UnixNano()})
			}
		}
		return
	}
	part := strings.Split(path, "/")
	for _, c := range s.boxes {
		if len(part) < 3 || c.id != part[1] {
			continue
		}
		switch part[2] {
		case "json":
			s.answer(w, c.inspect())
		case "stats":
			s.answer(w, map[string]any{"read": s.clock, "id": c.id, "name": "/" + c.name, "memory_stats": map[string]any{"usage": c.usage, "limit": max(c.memory, 1)},
				"cpu_stats": map[string]any{"cpu_usage": map[string]any{"total_usage": s.clock.UnixMilli()}, "system_cpu_usage": s.clock.UnixNano(), "online_cpus": 2}})
		case "logs":
			for _, line := range c.output {
				_, _ = w.Write(append([]byte{2, 0, 0, 0, 0, 0, byte((len(line) + 1) >> 8), byte(len(line) + 1)}, line+"\n"...))
			}
		}
		return
	}
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprint(w, `{"message":"No such container"}`)
}

// status is the engine's sentence about a container.
func (c *worldContainer) status() string {
	text := map[string]string{"running": "Up 3 hours", "created": "Created", "paused": "Up 3 hours (Paused)", "exited": fmt.Sprintf("Exited (%d) 2 minutes ago", c.exit),
		"restarting": fmt.Sprintf("Restarting (%d) 5 seconds ago", c.exit)}[c.state]
	if c.health != "" && c.state == "running" {
		text += map[string]string{"healthy": " (healthy)", "unhealthy": " (unhealthy)", "starting": " (health: starting)"}[c.health]
	}
	return text
}

func (c *worldContainer) inspect() map[string]any {
	state := map[string]any{"Status": c.state, "Running": c.state == "running" || c.state == "paused" || c.state == "restarting", "Paused": c.state == "paused",
		"Restarting": c.state == "restarting", "OOMKilled": c.oom, "ExitCode": c.exit, "Error": c.failure, "StartedAt": c.start, "FinishedAt": c.end, "Pid": 4711}
	config := map[string]any{"Hostname": "h", "Image": "agent:1", "Labels": c.labels, "WorkingDir": "/work", "Cmd": []string{"agent"}, "Env": []string{}}
	if c.health != "" {
		log := []map[string]any{}
		for _, p := range c.healthLog {
			log = append(log, map[string]any{"Start": p.at, "End": p.at.Add(time.Second), "ExitCode": p.exit, "Output": "connection refused"})
		}
		state["Health"] = map[string]any{"Status": c.health, "FailingStreak": c.healthFails, "Log": log}
		config["Healthcheck"] = map[string]any{"Test": []string{"CMD", "check"}, "Interval": int64(10 * time.Second), "Timeout": int64(5 * time.Second), "Retries": 3,
			"StartPeriod": int64(c.startPeriod)}
	}
	policy := c.policy
	if policy == "" {
		policy = "no"
	}
	return map[string]any{"Id": c.id, "Created": c.created, "Path": "agent", "Args": []string{}, "State": state, "Image": "sha256:1d3a", "Name": "/" + c.name,
		"RestartCount": c.restarts, "Driver": "overlay2", "Platform": "linux", "Mounts": []string{}, "Config": config,
		"HostConfig":      map[string]any{"NetworkMode": "none", "Memory": c.memory, "RestartPolicy": map[string]any{"Name": policy, "MaximumRetryCount": 0}},
		"NetworkSettings": map[string]any{"Networks": map[string]any{}}}
}
