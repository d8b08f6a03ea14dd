package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	adapter "sandglass/backend/docker"
	"sandglass/backend/fleet"
)

// This file acts on a real engine, on containers that it made and through the parts that the wiring gets. Where it has to
// look behind them it uses a client of its own.

const (
	testLabel = "sandglass.test"
	busybox   = "/bin/busybox"
)

// yard makes the containers of these tests.
type yard struct {
	t    *testing.T
	api  *client.Client
	host string
	run  string // part of every name
	// missing skips the test with a reason, or fails it where the tests are required.
	missing func(format string, args ...any)
}

// realEngine finds the engine, or skips with the reason; it fails instead where SANDGLASS_REQUIRE contains docker.
func realEngine(t *testing.T) *yard {
	t.Helper()
	missing := func(format string, args ...any) {
		t.Helper()
		text := "no real engine tests: " + fmt.Sprintf(format, args...)
		if slices.Contains(strings.FieldsFunc(os.Getenv("SANDGLASS_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }), "docker") {
			t.Fatal(text + " (SANDGLASS_REQUIRE asks for them)")
		}
		t.Skip(text)
	}
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = "unix:///var/run/docker.sock"
	}
	if u, err := url.Parse(host); err != nil || u.Scheme != "unix" && u.Hostname() != "127.0.0.1" && u.Hostname() != "localhost" {
		missing("DOCKER_HOST=%s is not on this machine", host)
	}
	api, err := client.New(client.WithHost(host))
	if err != nil {
		missing("%v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		missing("no Docker engine answers at %s: %v", host, err)
	}
	binary, err := elf.Open(busybox)
	if err != nil {
		missing("%s (Debian package busybox-static): %v", busybox, err)
	}
	defer func() { _ = binary.Close() }()
	for _, p := range binary.Progs {
		if p.Type == elf.PT_INTERP {
			missing("%s is not a static binary; Debian package busybox-static has one", busybox)
		}
	}
	t.Cleanup(func() { _ = api.Close() })
	return &yard{t: t, api: api, host: host, run: fmt.Sprint("sgact-", os.Getpid(), "-"), missing: missing}
}

// image imports busybox with links for the given programs.
func (y *yard) image(name string, programs ...string) string {
	y.t.Helper()
	program, err := os.ReadFile(busybox)
	if err != nil {
		y.t.Fatal(err)
	}
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	put := func(h *tar.Header, body []byte) {
		h.Size = int64(len(body))
		if err := w.WriteHeader(h); err != nil {
			y.t.Fatal(err)
		}
		if _, err := w.Write(body); err != nil {
			y.t.Fatal(err)
		}
	}
	for _, dir := range []string{"bin/", "etc/", "tmp/", "work/"} {
		put(&tar.Header{Name: dir, Typeflag: tar.TypeDir, Mode: 0o755}, nil)
	}
	put(&tar.Header{Name: "etc/passwd", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("root:x:0:0::/:/bin/sh\nagent:x:1000:1000::/:/bin/sh\n"))
	put(&tar.Header{Name: "bin/busybox", Typeflag: tar.TypeReg, Mode: 0o755}, program)
	for _, p := range programs {
		put(&tar.Header{Name: "bin/" + p, Typeflag: tar.TypeSymlink, Linkname: "busybox", Mode: 0o777}, nil)
	}
	if err := w.Close(); err != nil {
		y.t.Fatal(err)
	}
	ref := fmt.Sprint("sandglass-act-", name, ":", os.Getpid())
	out, err := y.api.ImageImport(y.t.Context(), client.ImageImportSource{Source: &tree, SourceName: "-"}, ref, client.ImageImportOptions{})
	if err != nil {
		y.t.Fatalf("import: %v", err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil {
		y.t.Fatalf("import: %v", err)
	}
	_ = out.Close()
	y.t.Cleanup(func() {
		if _, err := y.api.ImageRemove(context.Background(), ref, client.ImageRemoveOptions{Force: true}); err != nil {
			y.t.Errorf("remove the image: %v", err)
		}
	})
	return ref
}

// full is an image with everything that a test wants to do inside.
func (y *yard) full() string {
	return y.image("full", "sh", "sleep", "true", "mkdir", "rmdir", "ln", "ls", "stat", "chown", "readlink", "rm", "mv", "touch")
}

// container makes and starts one, and removes it after the test.
func (y *yard) container(name string, c container.Config, h container.HostConfig) string {
	y.t.Helper()
	c.Labels = map[string]string{testLabel: "1"}
	if len(c.Cmd) == 0 {
		c.Cmd = []string{busybox, "sleep", "1000"}
	}
	h.NetworkMode = "none"
	res, err := y.api.ContainerCreate(y.t.Context(), client.ContainerCreateOptions{Name: y.run + name, Config: &c, HostConfig: &h})
	if err != nil {
		y.t.Fatalf("create %s: %v", name, err)
	}
	y.t.Cleanup(func() {
		_, err := y.api.ContainerRemove(context.Background(), res.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !strings.Contains(err.Error(), "No such container") {
			y.t.Errorf("remove %s: %v", name, err)
		}
	})
	if _, err := y.api.ContainerStart(y.t.Context(), res.ID, client.ContainerStartOptions{}); err != nil {
		y.t.Fatalf("start %s: %v", name, err)
	}
	return res.ID
}

// inside runs a command in / of a container as root and returns what it printed.
func (y *yard) inside(id string, argv ...string) string {
	y.t.Helper()
	h := &hands{reader{y.api, &desk{deps: backend.Deps{Now: time.Now, Deadline: 20 * time.Second, Cleaner: backend.NewCleaner()}}}}
	r, err := h.run(y.t.Context(), &box{id: id}, command{argv: argv, dir: "/", user: "0"})
	if err != nil || !r.ok() {
		y.t.Fatalf("%v: %+v, %v", argv, r, err)
	}
	return r.said.String()
}

// place is a source of the program with its parts and what a console would know.
type place struct {
	t     *testing.T
	src   *adapter.Source
	parts map[actions.Verb]actions.Part
	host  host
}

func (y *yard) place() *place {
	y.t.Helper()
	d := net.Dialer{}
	deps := backend.Deps{ID: "docker-local", Interval: time.Second, Deadline: 20 * time.Second, Now: time.Now,
		Cleaner: backend.NewCleaner(), Dial: d.DialContext, Getenv: os.Getenv}
	made, err := adapter.Kind().New(decode(func(into any) {
		if o, ok := into.(*adapter.Options); ok {
			o.Host, o.Selector = y.host, testLabel+"=1"
		}
	}), deps)
	if err != nil {
		y.t.Fatal(err)
	}
	src := made.(*adapter.Source)
	y.t.Cleanup(func() { _ = src.Close() })
	site := actions.Site{Deps: deps, Source: src, Allowed: allVerbs(), Options: decode(func(into any) {
		into.(*Options).StopTimeout = backend.Duration(time.Second)
	})}
	parts, missing, err := Kind().Build(site)
	if err != nil || len(missing) > 0 || len(parts) != len(allVerbs()) {
		y.t.Fatalf("build: %v, missing %v", err, missing)
	}
	return &place{t: y.t, src: src, parts: parts, host: host{proc: "/proc"}}
}

func allVerbs() []actions.Verb {
	var out []actions.Verb
	for _, s := range specs() {
		out = append(out, s.Verb)
	}
	return out
}

func key(id string) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "docker-local", ID: backend.MustID(id)}
}

// state is what the console knows after one more poll. Every poll lists, because no watch is open.
func (p *place) state() *fleet.State {
	p.t.Helper()
	r, err := p.src.Poll(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return &fleet.State{Number: 1, Wall: r.At, Sandboxes: fleet.NewTable(r.Sandboxes...), Sources: []*fleet.SourceHealth{{
		Key: backend.Key{Kind: backend.KindSource, Source: "docker-local"}, Kind: "docker", Status: fleet.StatusOK, LastOK: r.At, Interval: time.Minute}}}
}

func (p *place) look(v actions.Verb, id string) actions.Candidate {
	p.t.Helper()
	cs := p.parts[v].Looker.Look(p.t.Context(), actions.Question{Keys: []backend.Key{key(id)}, State: p.state(), Now: time.Now()})
	if len(cs) != 1 || cs[0].Key != key(id) {
		p.t.Fatalf("%s: %+v", v, cs)
	}
	return cs[0]
}

// act looks at a container that must be eligible, and acts on it.
func (p *place) act(v actions.Verb, id string) (actions.Target, actions.Done, error) {
	p.t.Helper()
	c := p.look(v, id)
	if !c.Why.IsEmpty() {
		p.t.Fatalf("%s is not offered: %s", v, c.Why)
	}
	target := actions.Target{Key: c.Key, Label: c.Label, Name: c.Name, Identity: c.Identity}
	e, err := p.parts[v].Open(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	done, err := e.Do(p.t.Context(), target, actions.Params{})
	return target, done, err
}

// must acts and checks that the effect proved what it did and that the next reading verifies it.
func (p *place) must(v actions.Verb, id string) actions.Done {
	p.t.Helper()
	issued := time.Now()
	target, done, err := p.act(v, id)
	if err != nil || !done.Proved {
		p.t.Fatalf("%s: %+v, %v", v, done, err)
	}
	if ver := p.parts[v].Verifier; ver != nil {
		if got := ver.Verify(target, issued, p.state()); got.Result != actions.ResultVerified {
			p.t.Errorf("%s is not verified by the next reading: %+v", v, got)
		}
	}
	return done
}

func (p *place) refused(v actions.Verb, id, why string) actions.Candidate {
	p.t.Helper()
	c := p.look(v, id)
	if !strings.Contains(c.Why.String(), why) {
		p.t.Errorf("%s is left out because %q, want %q", v, c.Why, why)
	}
	return c
}

func joined(list []backend.Safe) string { return backend.Join(list, "\n").String() }

func TestRealEngineStopPauseResumeDestroy(t *testing.T) {
	y := realEngine(t)
	image := y.full()
	dir := t.TempDir()
	id := y.container("life", container.Config{Image: image, WorkingDir: "/work", Volumes: map[string]struct{}{"/cache": {}}},
		container.HostConfig{Binds: []string{dir + ":/data", y.run + "named:/named"}})
	t.Cleanup(func() { _, _ = y.api.VolumeRemove(context.Background(), y.run+"named", client.VolumeRemoveOptions{Force: true}) })
	p := y.place()
	p.refused(actions.Resume, id, "it runs already")
	p.must(actions.Pause, id)
	p.refused(actions.Pause, id, "it is paused already")
	p.refused(actions.Probe, id, "no command runs in it")
	p.must(actions.Resume, id)
	if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "commands run: true ended with exit code 0 in /work") || !done.Observed.Or(backend.Observation{}).Works {
		t.Errorf("probe: %+v", done)
	}
	p.must(actions.Pause, id)
	p.must(actions.Stop, id) // a paused one, too
	p.refused(actions.Stop, id, "it does not run: exited")
	if _, err := y.api.ContainerStart(t.Context(), id, client.ContainerStartOptions{}); err != nil {
		t.Fatal(err)
	}
	y.inside(id, "touch", "/tmp/written")
	c := p.look(actions.Destroy, id)
	var anonymous string
	for _, m := range mustInspect(t, y, id).mounts {
		if m.anonymous {
			anonymous = m.name
		}
	}
	if loses := joined(c.Loses); !strings.Contains(loses, "what runs in it, up") || !strings.Contains(loses, "written since it was made") || strings.Contains(loses, "not known") ||
		!strings.Contains(loses, "anonymous volume at /cache") || !c.Bytes.IsKnown() || anonymous == "" {
		t.Errorf("loses %s; bytes %v", loses, c.Bytes)
	}
	if notes := joined(c.Notes); !strings.Contains(notes, "named at /named stays") || !strings.Contains(notes, dir+" of the host at /data stays") {
		t.Errorf("notes %s", notes)
	}
	p.must(actions.Destroy, id)
	if _, err := y.api.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{}); err == nil {
		t.Error("the container is still there")
	}
	if _, err := y.api.VolumeInspect(t.Context(), anonymous, client.VolumeInspectOptions{}); err == nil {
		t.Error("the anonymous volume stayed")
	}
	if _, err := y.api.VolumeInspect(t.Context(), y.run+"named", client.VolumeInspectOptions{}); err != nil {
		t.Errorf("the named volume went: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
}

func mustInspect(t *testing.T, y *yard, id string) *box {
	t.Helper()
	r := reader{y.api, &desk{deps: backend.Deps{Deadline: 20 * time.Second, Cleaner: backend.NewCleaner()}}}
	b, err := r.inspect(t.Context(), backend.MustID(id), false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestRealEngineTellsWhatChanged(t *testing.T) {
	y := realEngine(t)
	image := y.full()
	id := y.container("changes", container.Config{Image: image}, container.HostConfig{})
	removed := y.container("removed", container.Config{Image: image, Cmd: []string{busybox, "sleep", "1000"}}, container.HostConfig{AutoRemove: true})
	p := y.place()
	p.refused(actions.Stop, removed, "destroy it")
	c := p.look(actions.Destroy, id)
	target := actions.Target{Key: c.Key, Identity: c.Identity}
	zero := 0
	if _, err := y.api.ContainerRestart(t.Context(), id, client.ContainerRestartOptions{Timeout: &zero}); err != nil {
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
	if _, err := y.api.ContainerRemove(t.Context(), id, client.ContainerRemoveOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Do(t.Context(), target, actions.Params{}); !errors.As(err, &changed) || !strings.Contains(err.Error(), "no such container") {
		t.Errorf("a container that is gone: %v", err)
	}
}

// A container that crashes in a loop is another run at every look, and can be stopped and destroyed all the same.
func TestRealEngineEndsACrashLoop(t *testing.T) {
	y := realEngine(t)
	image := y.full()
	config := container.Config{Image: image, Cmd: []string{busybox, "false"}}
	policy := container.HostConfig{RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyAlways}}
	stopped, destroyed := y.container("loop1", config, policy), y.container("loop2", config, policy)
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
	y := realEngine(t)
	image := y.full()
	p := y.place()
	for _, c := range []struct{ name, user, owner string }{{"plain", "", "0:0"}, {"named", "agent", "1000:0"}, {"numbers", "1000:1000", "1000:1000"}} {
		t.Run(c.name, func(t *testing.T) {
			id := y.container("missing-"+c.name, container.Config{Image: image, WorkingDir: "/work/deep", User: c.user}, container.HostConfig{})
			p.refused(actions.Repair, id, "/work/deep is there")
			y.inside(id, "rm", "-r", "/work")
			if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "the working directory /work/deep is missing") || done.Observed.Or(backend.Observation{Works: true}).Works {
				t.Errorf("probe: %+v", done)
			}
			if l := joined(p.look(actions.Repair, id).Loses); !strings.Contains(l, "is gone already") {
				t.Errorf("loses %q", l)
			}
			done := p.must(actions.Repair, id)
			if !strings.Contains(done.Text.String(), "/work/deep is there again, empty: true ended with exit code 0") {
				t.Errorf("repair: %+v", done)
			}
			if got := y.inside(id, "stat", "-c", "%u:%g %a", "/work/deep"); got != c.owner+" 755" {
				t.Errorf("owner and mode %s", got)
			}
			if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "commands run") {
				t.Errorf("probe: %+v", done)
			}
		})
	}
}

func TestRealEngineRepairOfLinks(t *testing.T) {
	y := realEngine(t)
	image := y.full()
	p := y.place()
	link := func(name, target string) string {
		t.Helper()
		id := y.container("link-"+name, container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{})
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
	id = y.container("file", container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{})
	y.inside(id, "rmdir", "/work")
	y.inside(id, "touch", "/work")
	p.refused(actions.Repair, id, "no directory stands at /work")
}

func TestRealEngineBindMountWhoseDirectoryWasRemoved(t *testing.T) {
	y := realEngine(t)
	image := y.full()
	p := y.place()
	dir := filepath.Join(t.TempDir(), "ws")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	id := y.container("unlinked", container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{Binds: []string{dir + ":/work"}})
	p.refused(actions.Repair, id, "/work is there")
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	// What the case is about: the engine's own words, and that mkdir succeeds and changes nothing.
	done := p.must(actions.Probe, id)
	if !strings.Contains(done.Text.String(), "a mkdir inside succeeds and changes nothing") || !strings.Contains(joined(done.Notes), "docker restart") {
		t.Errorf("probe: %+v", done)
	}
	y.inside(id, "mkdir", "-p", "/work")
	if done := p.must(actions.Probe, id); done.Observed.Or(backend.Observation{Works: true}).Works {
		t.Errorf("mkdir helped: %+v", done)
	}
	local := false
	if b := mustInspect(t, y, id); b != nil {
		_, local = p.host.view(b)
	}
	if !local {
		y.missing("the mount table of the engine's containers cannot be read from here")
	}
	c := p.refused(actions.Repair, id, "only a restart of the container, or a new one, helps")
	if !strings.Contains(c.Advice.String(), "docker restart "+y.run+"unlinked") {
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
	if _, err := y.api.ContainerRestart(t.Context(), id, client.ContainerRestartOptions{Timeout: &zero}); err != nil {
		t.Fatal(err)
	}
	p.refused(actions.Repair, id, "/work is there")
}

// Where nothing can be seen from outside, the repair tries a command first and leaves alone what it cannot help.
func TestRealEngineRepairUnseen(t *testing.T) {
	y := realEngine(t)
	image := y.full()
	p := y.place()
	blind := Kind()
	site := actions.Site{Deps: backend.Deps{ID: "docker-local", Deadline: 20 * time.Second, Now: time.Now}, Source: p.src,
		Allowed: []actions.Verb{actions.Repair}, Options: decode(nil)}
	parts, _, err := blind.Build(site)
	if err != nil {
		t.Fatal(err)
	}
	part := parts[actions.Repair]
	l := part.Looker.(looker)
	l.desk.host = host{proc: t.TempDir()} // no process of any container is to be seen there
	p.parts[actions.Repair] = part

	dir, other := filepath.Join(t.TempDir(), "ws"), filepath.Join(t.TempDir(), "other")
	for _, d := range []string{dir, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	unlinked := y.container("unseen1", container.Config{Image: image, WorkingDir: "/work"}, container.HostConfig{Binds: []string{dir + ":/work"}})
	missing := y.container("unseen2", container.Config{Image: image, WorkingDir: "/data/project"}, container.HostConfig{Binds: []string{other + ":/data"}})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if n := joined(p.look(actions.Repair, missing).Notes); !strings.Contains(n, "cannot be seen from outside") {
		t.Errorf("notes %q", n)
	}
	if _, _, err := p.act(actions.Repair, unlinked); err == nil || !strings.Contains(err.Error(), "nothing helps from inside") || !strings.Contains(err.Error(), "docker restart") {
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
func TestRealEngineRepairWithoutMkdir(t *testing.T) {
	y := realEngine(t)
	bare := y.image("bare", "rm", "stat")
	p := y.place()
	id := y.container("bare", container.Config{Image: bare, WorkingDir: "/work/a/b", User: "1000"}, container.HostConfig{})
	y.inside(id, "rm", "-r", "/work/a")
	done := p.must(actions.Repair, id)
	if !strings.Contains(done.Text.String(), "the engine enters it") || !strings.Contains(joined(done.Notes), "unpacked") {
		t.Errorf("repair: %+v", done)
	}
	if got := y.inside(id, "stat", "-c", "%u:%g %a", "/work", "/work/a", "/work/a/b"); got != "0:0 755␊1000:1000 755␊1000:1000 755" {
		t.Errorf("owners %s", got)
	}
	if done := p.must(actions.Probe, id); !strings.Contains(done.Text.String(), "set probe_command") || done.Observed.IsKnown() {
		t.Errorf("probe: %+v", done)
	}
}
