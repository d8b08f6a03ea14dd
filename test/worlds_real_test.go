package test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/backend/backendtest/enginetest"
)

// realBox is one container of a real engine, and what has to be said of it: a line that matches, or nothing where it is empty.
type realBox struct {
	name   string
	config container.Config
	host   container.HostConfig
	other  bool // it belongs to no session
	after  func(*worldDocker, string)
	ready  func(container.InspectResponse) bool // what it has come to before time goes on; nil: nothing
	find   string
}

// worldDocker is a real engine behind a front that gives the world's time.
type worldDocker struct {
	*enginetest.Engine
	site *worldSite
}

func (d *worldDocker) do(err error) {
	d.T.Helper()
	if err != nil {
		d.T.Fatal(err)
	}
}

// front hands requests on to the engine; its answers carry the world's time.
func (d *worldDocker) front(w http.ResponseWriter, r *http.Request) {
	u, err := url.Parse(d.Host)
	d.do(err)
	network, address := u.Scheme, u.Path
	if network == "tcp" {
		address = u.Host
	}
	p := httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = "http", "docker" },
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}},
		ErrorLog: log.New(io.Discard, "", 0), // of requests that end with the console
		ModifyResponse: func(r *http.Response) error {
			r.Header.Set("Date", d.site.now().UTC().Format(http.TimeFormat))
			return nil
		}}
	p.ServeHTTP(w, r)
}

// sh runs a script in a container.
func sh(script string) container.Config {
	return container.Config{Cmd: []string{enginetest.Busybox, "sh", "-c", script}}
}

func (d *worldDocker) stop(id string) {
	seconds := 1
	_, err := d.API.ContainerStop(d.T.Context(), id, client.ContainerStopOptions{Timeout: &seconds})
	d.do(err)
}

func realBoxes() []realBox {
	always := container.HostConfig{RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyAlways}}
	checked := func(startPeriod time.Duration, argv ...string) container.Config { // Podman takes each word for an argument
		c := sh("sleep 1000")
		c.Healthcheck = &container.HealthConfig{Test: append([]string{"CMD", enginetest.Busybox}, argv...), Interval: 300 * time.Millisecond, Timeout: time.Minute,
			Retries: 2, StartPeriod: startPeriod}
		return c
	}
	ended := func(c container.InspectResponse) bool { return c.State.Status == container.StateExited }
	return []realBox{
		{name: "at-work", config: sh("sleep 1000")},
		{name: "job", config: sh("exit 0"), ready: ended},
		{name: "stopped", config: sh("trap 'exit 0' TERM; sleep 1000 & wait"), after: (*worldDocker).stop},
		{name: "stopped-hard", config: sh("sleep 1000"), after: (*worldDocker).stop},
		{name: "paused", config: sh("sleep 1000"), after: func(d *worldDocker, id string) {
			_, err := d.API.ContainerPause(d.T.Context(), id, client.ContainerPauseOptions{})
			d.do(err)
		}},
		{name: "restarted", config: sh("trap 'exit 0' TERM; sleep 1000 & wait"), after: func(d *worldDocker, id string) {
			_, err := d.API.ContainerRestart(d.T.Context(), id, client.ContainerRestartOptions{})
			d.do(err)
		}},
		{name: "healthy", config: checked(0, "true")},
		{name: "starting", config: checked(2*time.Hour, "false")},
		{name: "database", config: sh("sleep 0.5; exit 1"), host: always, other: true},
		{name: "no-program", config: container.Config{Cmd: []string{"agentd"}}, find: "agentd"},
		{name: "crash-loop", config: sh("sleep 0.2; echo cannot reach the model; exit 1"), host: always, find: "(?i)restart", ready: func(c container.InspectResponse) bool { return c.RestartCount >= 5 }},
		{name: "unhealthy", config: checked(0, "wget", "http://127.0.0.1:1"), find: "(?i)unhealthy", ready: func(c container.InspectResponse) bool {
			return c.State.Health != nil && c.State.Health.Status == container.Unhealthy
		}},
		{name: "exits", config: sh("echo out of ideas; exit 3"), find: `\b3\b`, ready: ended},
		{name: "limit", config: sh("tail /dev/zero"), host: container.HostConfig{Resources: container.Resources{Memory: 8 << 20, MemorySwap: 8 << 20}}, find: "(?i)(limit|memory)", ready: func(c container.InspectResponse) bool {
			return ended(c) && (c.State.OOMKilled || c.HostConfig.Runtime == "oci") // Podman does not say it
		}},
	}
}

// TestWorldOnRealDocker watches containers of a real engine whose sessions run: those that are in order, that ended well or that
// somebody stopped raise nothing, and each that is broken is named. The engine's containers live for seconds; the world's clock
// goes on by a minute a poll, so that for the console they have been so for a quarter of an hour.
func TestWorldOnRealDocker(t *testing.T) {
	t.Parallel()
	enginetest.Each(t, worldOnRealDocker)
}

func worldOnRealDocker(t *testing.T, e *enginetest.Engine) {
	t.Parallel()
	image := e.Image("world")
	s := newWorldSite(t)
	s.clock, s.began, s.runs = time.Now(), time.Now(), time.Now()
	d := &worldDocker{e, s}
	s.docker = d.front
	names, waits := map[string]string{}, map[string]func(container.InspectResponse) bool{}
	for _, b := range realBoxes() {
		id := d.make(b, image)
		if names[id] = b.name; b.ready != nil {
			waits[id] = b.ready
		}
	}
	w := world{reads: "helix docker"}
	config := strings.Replace(s.configuration(w), "kind = \"docker\"\n", fmt.Sprintf("kind = \"docker\"\nselector = \"sandglass.world=%s\"\n", e.Run), 1)
	x := s.console(config, t.TempDir())
	defer x.Close()
	pace := time.NewTicker(200 * time.Millisecond)
	defer pace.Stop()
	said := map[string]bool{}
	until := time.Now().Add(time.Minute)
	for later := 0; later < 11; {
		st := x.Poll(t.Context())
		_, board := x.Alerts.Latest()
		for _, line := range worldLines(st, board, true) {
			for id, name := range names {
				line = strings.ReplaceAll(line, id, name)
			}
			said[line] = true
		}
		<-pace.C
		d.await(waits)
		switch {
		case len(waits) == 0:
			s.advance(time.Minute)
			later++
		case time.Now().After(until):
			t.Fatalf("%d containers have not come to what they should be", len(waits))
		}
	}
	d.judge(said)
}

// await lets go of those that have come to what they should be.
func (d *worldDocker) await(waits map[string]func(container.InspectResponse) bool) {
	for id, ready := range waits {
		c, err := d.API.ContainerInspect(d.T.Context(), id, client.ContainerInspectOptions{})
		d.do(err)
		if ready(c.Container) {
			delete(waits, id)
		} else if d.Kind == enginetest.Docker && c.Container.State.ExitCode == 137 && !c.Container.State.OOMKilled && c.Container.State.Status == container.StateExited {
			// The engine missed the kernel's word about the kill, as it does on a busy machine: once more.
			_, err := d.API.ContainerStart(d.T.Context(), id, client.ContainerStartOptions{})
			d.do(err)
		}
	}
}

// make makes the container, starts it and does to it what is to be done.
func (d *worldDocker) make(b realBox, image string) (id string) {
	d.T.Helper()
	b.config.Image, b.host.NetworkMode = image, "none"
	d.Limits(&b.host)
	b.config.Labels = map[string]string{enginetest.Label: "1"}
	if !b.other {
		b.config.Labels["sandglass.world"], b.config.Labels["sandglass.session"], b.config.Labels["sandglass.workspace"] = d.Run, b.name, "box"
		d.site.session(b.name, d.site.box())
	}
	made, err := d.API.ContainerCreate(d.T.Context(), client.ContainerCreateOptions{Name: d.Run + "world-" + b.name, Config: &b.config, HostConfig: &b.host})
	d.do(err)
	d.T.Cleanup(func() {
		if err := d.Remove(made.ID); err != nil {
			d.T.Error(err)
		}
	})
	if _, err = d.API.ContainerStart(d.T.Context(), made.ID, client.ContainerStartOptions{}); (err != nil) != (b.name == "no-program") {
		d.T.Fatalf("%s: %v", b.name, err)
	}
	if h := b.config.Healthcheck; h != nil {
		d.CheckHealth(made.ID, h.Interval)
	}
	if b.after != nil {
		b.after(d, made.ID)
	}
	return made.ID
}

// judge holds what was said against what had to be.
func (d *worldDocker) judge(said map[string]bool) {
	var lines []string
	for line := range said {
		if alarm.MatchString(line) && !strings.HasPrefix(line, "exit ") {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	for _, b := range realBoxes() {
		named := regexp.MustCompile(`\b` + regexp.QuoteMeta(d.Run) + `world-` + b.name + `(\b[^-]|$)`)
		about := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return !named.MatchString(line) })
		if b.name == "no-program" && d.Kind == enginetest.Podman {
			b.find = "was never started" // it keeps no error of a start
		}
		good := b.find == "" && len(about) == 0 || b.find != "" && slices.ContainsFunc(about, regexp.MustCompile(b.find).MatchString)
		switch why, waits := pendingWorlds()["real "+b.name]; {
		case waits && good:
			d.T.Errorf("real %s: it passes: take it off the pending ones (%s)", b.name, why)
		case waits:
			d.T.Logf("real %s: pending, %s: it is said %q", b.name, why, about)
		case !good:
			d.T.Errorf("of %s is said %q, want %q", b.name, about, b.find)
		}
	}
	if d.T.Failed() {
		d.T.Logf("all:\n%s", strings.Join(lines, "\n"))
	}
}
