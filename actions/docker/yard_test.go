package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	adapter "sandglass/backend/docker"
	"sandglass/backend/fleet"
	"sandglass/internal/skip"
)

// The tests on a real engine act on containers that they made, through the parts that the wiring gets. Where they have to
// look behind them they use a client of their own.

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
	// selector is the label of the containers that are sandboxes.
	selector string
	// missing skips the test with a reason, or fails it where the tests are required.
	missing func(format string, args ...any)
}

// realEngine finds the engine, or skips with the reason; it fails instead where SANDGLASS_REQUIRE contains docker.
func realEngine(t *testing.T) *yard {
	t.Helper()
	missing := func(format string, args ...any) {
		t.Helper()
		skip.Without(t, "docker", fmt.Sprintf(format, args...))
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
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
	return &yard{t: t, api: api, host: host, run: fmt.Sprint("sgact-", os.Getpid(), "-"), missing: missing, selector: testLabel + "=1"}
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
	put(&tar.Header{Name: "home/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: 1000, Gid: 1000}, nil)
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
	made, err := y.api.ExecCreate(y.t.Context(), id, client.ExecCreateOptions{Cmd: argv, WorkingDir: "/", User: "0", AttachStdout: true, AttachStderr: true})
	if err != nil {
		y.t.Fatalf("%v: %v", argv, err)
	}
	h := &hands{reader{y.api, &desk{deps: backend.Deps{Deadline: time.Minute, Cleaner: backend.NewCleaner()}}}}
	text, err := h.output(y.t.Context(), made.ID)
	if err != nil {
		y.t.Fatalf("%v: %v", argv, err)
	}
	if code, err := h.exitCode(y.t.Context(), made.ID); err != nil || code != 0 {
		y.t.Fatalf("%v: %d %q, %v", argv, code, text, err)
	}
	return strings.TrimSpace(text)
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
	deps := backend.Deps{ID: "docker-local", Interval: time.Second, Deadline: time.Minute, Now: time.Now,
		Cleaner: backend.NewCleaner(), Dial: d.DialContext, Getenv: os.Getenv}
	made, err := adapter.Kind().New(decode(func(into any) {
		if o, ok := into.(*adapter.Options); ok {
			o.Host, o.Selector = y.host, y.selector
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

func mustInspect(t *testing.T, y *yard, id string) *box {
	t.Helper()
	r := reader{y.api, &desk{deps: backend.Deps{Deadline: time.Minute, Cleaner: backend.NewCleaner()}}}
	b, err := r.inspect(t.Context(), backend.MustID(id), false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
