package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Options choose the fleet.
type Options struct {
	Workspaces int       // registry entries, 1 to 100,000; zero means 1,284
	Seed       uint64    // equal seeds give equal fleets
	Scenario   string    // one of Scenarios; empty means all
	Start      time.Time // wall time of the fleet's second zero; zero means now
	Dir        string    // root of all files, empty or not there yet; empty means a new temporary directory
	// Clock is the time since the fleet's second zero; nil means real time. It serves pictures and tests.
	Clock func() time.Duration
}

// Demo is a running fleet.
type Demo struct {
	fleet   *fleet
	now     now
	resets  resetRequests
	group   *taskGroup
	every   time.Duration // between steps
	config  string
	dir     string
	claimed *os.File
	gates   []*gate
	us      *gate
	logs    []*logWriter
	scratch scratchKeeper
	cloud   *cloud // nil: this world has no Agentuity
	edge    *edge  // nil: this world has no Cloudflare
	blaxel  *blaxelCloud
	once    sync.Once
	closed  error
	// stepping keeps two steps from writing at once.
	stepping sync.Mutex
}

// maxSocketPath is below the limit of every system for a unix socket's path.
const maxSocketPath = 99

// Start sweeps up after killed demos, writes the files and returns when every
// server answers. The servers end with ctx; Close removes the files as well.
func Start(ctx context.Context, o Options) (*Demo, error) {
	begin := time.Now()
	if o.Start.IsZero() {
		o.Start = begin
	}
	clock := o.Clock
	if clock == nil {
		clock = func() time.Duration { return time.Since(o.Start) }
	}
	return start(ctx, o, clock)
}

// start takes the time since the fleet's second zero as an argument.
func start(ctx context.Context, o Options, clock func() time.Duration) (*Demo, error) {
	s, err := findScript(o.Scenario)
	if err != nil {
		return nil, err
	}
	if o.Workspaces == 0 {
		o.Workspaces = defaultWorkspaces
	}
	if err := checkSize(o.Workspaces); err != nil {
		return nil, err
	}
	_ = Sweep() // a demo starts even if the files of killed demos remain
	dir, err := makeRoot(o.Dir)
	if err != nil {
		return nil, err
	}
	d := &Demo{dir: dir, group: newTaskGroup(ctx), every: logStep}
	if o.Clock != nil {
		d.every = logStep / 25 // that clock may go faster than real time
	}
	if err := d.build(o, s, clock); err != nil {
		// The director, who shuts the servers otherwise, does not run yet.
		d.shutGates()
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// makeRoot returns an empty directory of ours whose path is short enough for a
// socket.
func makeRoot(wanted string) (string, error) {
	if wanted != "" {
		return makeWanted(wanted)
	}
	for _, base := range tempBases() {
		longest := filepath.Join(base, dirPrefix+"1234567890")
		if len(socketPath(longest)) > maxSocketPath {
			continue
		}
		dir, err := os.MkdirTemp(base, dirPrefix)
		for err == nil && len(dir) < len(longest) { // of one length, so that screens which name it wrap alike each time
			if err = os.Remove(dir); err == nil {
				dir, err = os.MkdirTemp(base, dirPrefix)
			}
		}
		if err != nil {
			return "", fmt.Errorf("demo: make directory: %w", err)
		}
		return dir, nil
	}
	return "", errors.New("demo: the temporary directory's path is too long for a socket; set TMPDIR to a shorter one")
}

func makeWanted(wanted string) (string, error) {
	dir, err := filepath.Abs(wanted)
	if err != nil {
		return "", fmt.Errorf("demo: directory %s: %w", wanted, err)
	}
	if n := len(socketPath(dir)); n > maxSocketPath {
		return "", fmt.Errorf("demo: a socket's path in %s would have %d bytes, more than %d; choose a shorter directory", dir, n, maxSocketPath)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("demo: make directory: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("demo: directory: %w", err)
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("demo: %s is not empty, and the demo removes its directory when it ends; choose another one", dir)
	}
	return dir, nil
}

func socketPath(dir string) string { return filepath.Join(dir, "docker.sock") }

func (d *Demo) build(o Options, s script, clock func() time.Duration) error {
	var err error
	if d.claimed, err = claim(d.dir); err != nil {
		return err
	}
	f, err := newFleet(fleetOptions{size: o.Workspaces, seed: o.Seed, incidents: s.incidents, start: o.Start, root: d.dir})
	if err != nil {
		return err
	}
	d.fleet, d.logs = f, f.logWriters()
	d.now = func() world { return d.resets.on(f.At(clock())) }
	for _, sub := range []string{"logs", "tmp", "state"} {
		if err := os.Mkdir(filepath.Join(d.dir, sub), 0o700); err != nil {
			return fmt.Errorf("demo: make directory: %w", err)
		}
	}
	if err := f.writeHost(); err != nil {
		return err
	}
	if d.cloud, err = f.newCloud(o, clock); err != nil {
		return err
	}
	if d.edge, err = f.newEdge(o, clock); err != nil {
		return err
	}
	if d.blaxel, err = f.newBlaxel(clock); err != nil {
		return err
	}
	if err := d.openGates(); err != nil {
		return err
	}
	if err := d.blaxel.save(); err != nil {
		return err
	}
	d.config = f.config(s.Name, o.Seed, addresses{
		helix: [instances]string{d.gates[0].addr, d.us.addr}, metrics: d.gates[2].addr, docker: d.gates[3].addr,
	}) + d.cloud.config() + d.edge.config() + d.blaxel.config()
	if err := d.Step(); err != nil {
		return err
	}
	d.group.start("director", d.direct)
	return nil
}

// openGates starts the servers and asks each for an answer.
func (d *Demo) openGates() error {
	const anyPort = "127.0.0.1:0"
	acting := actingRoutes{resets: &d.resets, token: rand.Text()}
	if err := os.WriteFile(d.fleet.tokenPath(), []byte(acting.token+"\n"), 0o600); err != nil {
		return fmt.Errorf("demo: write the acting token: %w", err)
	}
	d.us = &gate{name: us.String(), network: "tcp", addr: anyPort, handler: helixServer{d.now, us, acting}.handler(), group: d.group, now: d.now}
	d.gates = []*gate{
		{name: eu.String(), network: "tcp", addr: anyPort, handler: helixServer{d.now, eu, acting}.handler(), group: d.group, now: d.now},
		d.us,
		{name: "metrics", network: "tcp", addr: anyPort, handler: metricsServer{d.now}.handler(), group: d.group, now: d.now},
		{name: "docker-demo", network: "unix", addr: socketPath(d.dir), handler: dockerServer{d.now, d.group.ctx.Done()}.handler(), group: d.group, now: d.now},
	}
	paths := []string{"/healthz", "/healthz", "/metrics", "/_ping"}
	if d.cloud != nil {
		d.cloud.gate = &gate{name: "agentuity", network: "tcp", addr: anyPort, handler: d.cloud.world.Handler(), group: d.group, now: d.now}
		d.gates, paths = append(d.gates, d.cloud.gate), append(paths, "/api/cli/region")
	}
	if d.edge != nil {
		d.edge.gate = &gate{name: "cloudflare", network: "tcp", addr: anyPort, handler: d.edge.account.Handler(), group: d.group, now: d.now}
		d.gates, paths = append(d.gates, d.edge.gate), append(paths, "/client/v4/")
		if w := d.edge.worker; w != nil {
			w.gate = &gate{name: "bridge", network: "tcp", addr: anyPort, handler: w.bridge, group: d.group, now: d.now}
			d.gates, paths = append(d.gates, w.gate), append(paths, "/health")
		}
	}
	if d.blaxel != nil {
		d.blaxel.gate = &gate{name: "blaxel", network: "tcp", addr: anyPort, handler: d.blaxel.platform, group: d.group, now: d.now}
		d.gates, paths = append(d.gates, d.blaxel.gate), append(paths, "/v0/sandboxes")
	}
	for i, g := range d.gates {
		if err := g.open(); err != nil {
			return err
		}
		if err := g.answers(d.group.ctx, paths[i]); err != nil {
			return err
		}
	}
	return nil
}

// direct lets the world go on until the demo ends, then shuts the servers.
func (d *Demo) direct(ctx context.Context) error {
	tick := time.NewTicker(d.every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			d.shutGates()
			return nil
		case <-tick.C:
			if err := d.Step(); err != nil {
				d.shutGates()
				return err
			}
		}
	}
}

// Step does at once what is due by the demo's clock: log lines, scratch directories, outages. A demo does it by itself
// several times a second; a caller whose Clock stands still between its own steps asks for it after each of them.
func (d *Demo) Step() error {
	d.stepping.Lock()
	defer d.stepping.Unlock()
	w := d.now()
	for _, l := range d.logs {
		if err := l.step(w); err != nil {
			return err
		}
	}
	if err := d.scratch.step(w); err != nil {
		return err
	}
	if err := d.cloud.step(); err != nil {
		return err
	}
	if err := d.blaxel.step(); err != nil {
		return err
	}
	if d.edge != nil {
		if err := d.edge.worker.step(); err != nil {
			return err
		}
	}
	switch down := w.refused(us); {
	case down && d.us.isOpen():
		d.us.shut()
	case !down && !d.us.isOpen():
		// When another process took the port meanwhile the source stays down, and
		// the next step tries again.
		_ = d.us.open()
	}
	return nil
}

func (d *Demo) shutGates() {
	for _, g := range d.gates {
		g.shut()
	}
}

// Config is the TOML configuration that reads this fleet.
func (d *Demo) Config() string { return d.config }

// Wait returns the first failure of a server or writer. It returns nil when the
// demo is closed or its context ends.
func (d *Demo) Wait() error { return d.group.wait() }

// Close ends the servers and removes the directory. Later calls return the
// result of the first one.
func (d *Demo) Close() error {
	d.once.Do(func() {
		d.group.end()
		var errs []error
		for _, l := range d.logs {
			errs = append(errs, l.close())
		}
		errs = append(errs, d.cloud.close(), d.blaxel.close())
		if d.edge != nil {
			errs = append(errs, d.edge.worker.close())
		}
		errs = append(errs, os.RemoveAll(d.dir))
		if d.claimed != nil {
			errs = append(errs, d.claimed.Close())
		}
		if err := errors.Join(errs...); err != nil {
			d.closed = fmt.Errorf("demo: close: %w", err)
		}
	})
	return d.closed
}
