package docker

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/backendtest/enginetest"
	adapter "sandglass/backend/docker"
	"sandglass/backend/fleet"
	"sandglass/backend/workdir"
)

// The tests on a real engine act on containers that they made, through the parts that the wiring gets. Where they have to
// look behind them they use a client of their own.

// engineFixture makes the containers of these tests.
type engineFixture struct {
	*enginetest.Engine
	// selector is the label of the containers that are sandboxes.
	selector string
}

// onEngines runs a test on each engine.
func onEngines(t *testing.T, test func(*testing.T, *engineFixture)) {
	t.Helper()
	t.Parallel()
	enginetest.Each(t, func(t *testing.T, e *enginetest.Engine) {
		t.Parallel()
		test(t, &engineFixture{e, enginetest.Label + "=1"})
	})
}

// client is the command that reaches the engine from a shell.
func (y *engineFixture) client() string {
	switch {
	case y.Kind == enginetest.Podman && y.Host != "unix:///run/podman/podman.sock":
		return "podman --url " + y.Host
	case y.Kind == enginetest.Podman:
		return "podman"
	}
	return "docker"
}

// full is an image with everything that a test wants to do inside.
func (y *engineFixture) full() string {
	return y.Image("full", "sh", "sleep", "true", "mkdir", "rmdir", "ln", "ls", "stat", "chown", "readlink", "rm", "mv", "touch", "head")
}

// inside runs a command in / of a container as root and returns what it printed.
func (y *engineFixture) inside(id string, argv ...string) string {
	y.T.Helper()
	made, err := y.API.ExecCreate(y.T.Context(), id, client.ExecCreateOptions{Cmd: argv, WorkingDir: "/", User: "0", AttachStdout: true, AttachStderr: true})
	if err != nil {
		y.T.Fatalf("%v: %v", argv, err)
	}
	h := &mutatingClient{reader: reader{y.API, &clientFactory{deps: backend.Deps{Deadline: time.Minute, Cleaner: backend.NewCleaner()}}}}
	text, err := h.output(y.T.Context(), made.ID)
	if err != nil {
		y.T.Fatalf("%v: %v", argv, err)
	}
	if code, err := h.exitCode(y.T.Context(), made.ID); err != nil || code != 0 {
		y.T.Fatalf("%v: %d %q, %v", argv, code, text, err)
	}
	return strings.TrimSpace(text)
}

// sourceFixture is a source of the program with its parts and what a console would know.
type sourceFixture struct {
	t     *testing.T
	src   *adapter.Source
	parts map[actions.Verb]actions.Part
	host  workdir.Host
}

func (y *engineFixture) place() *sourceFixture { return y.placeWith(time.Minute, func(*Options) {}) }

// placeWith is a place whose requests end after the deadline, with other options.
func (y *engineFixture) placeWith(deadline time.Duration, set func(*Options)) *sourceFixture {
	y.T.Helper()
	d := net.Dialer{}
	deps := backend.Deps{ID: "docker-local", Interval: time.Second, Deadline: deadline, Now: time.Now,
		Cleaner: backend.NewCleaner(), Dial: d.DialContext, Getenv: os.Getenv}
	made, err := adapter.Kind().New(backendtest.Options[adapter.Options](func(o *adapter.Options) { o.Host, o.Selector = y.Host, y.selector }), deps)
	if err != nil {
		y.T.Fatal(err)
	}
	src := made.(*adapter.Source)
	y.T.Cleanup(func() { _ = src.Close() })
	site := actions.Site{Deps: deps, Source: src, Allowed: allVerbs(), Options: backendtest.Options[Options](func(o *Options) { o.StopTimeout = backend.Duration(time.Second); set(o) })}
	parts, missing, err := Kind().Build(site)
	if err != nil || len(missing) > 0 || len(parts) != len(allVerbs()) {
		y.T.Fatalf("build: %v, missing %v", err, missing)
	}
	return &sourceFixture{t: y.T, src: src, parts: parts, host: workdir.Host{Proc: "/proc"}}
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
func (p *sourceFixture) state() *fleet.State {
	p.t.Helper()
	r, err := p.src.Poll(p.t.Context())
	if err != nil {
		p.t.Fatal(err)
	}
	return &fleet.State{Number: 1, Wall: r.At, Sandboxes: fleet.NewTable(r.Sandboxes...), Sources: []*fleet.SourceHealth{{
		Key: backend.Key{Kind: backend.KindSource, Source: "docker-local"}, Kind: "docker", Status: fleet.StatusOK, LastOK: r.At, Interval: time.Minute}}}
}

func (p *sourceFixture) look(v actions.Verb, id string) actions.Candidate {
	p.t.Helper()
	cs := p.parts[v].Targets.Look(p.t.Context(), actions.Question{Keys: []backend.Key{key(id)}, State: p.state(), Now: time.Now()})
	if len(cs) != 1 || cs[0].Key != key(id) {
		p.t.Fatalf("%s: %+v", v, cs)
	}
	return cs[0]
}

// act looks at a container that must be eligible, and acts on it.
func (p *sourceFixture) act(v actions.Verb, id string) (actions.Target, actions.Done, error) {
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
func (p *sourceFixture) must(v actions.Verb, id string) actions.Done {
	p.t.Helper()
	issued := time.Now()
	target, done, err := p.act(v, id)
	if err != nil && strings.Contains(err.Error(), "failed to start io pipe copy") {
		// An engine under load could not open the pipes of the process within its own limit: it started nothing.
		p.t.Logf("the engine did not start %s, asked once more: %v", v, err)
		issued = time.Now()
		target, done, err = p.act(v, id)
	}
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

func (p *sourceFixture) refused(v actions.Verb, id, why string) actions.Candidate {
	p.t.Helper()
	c := p.look(v, id)
	if !strings.Contains(c.Why.String(), why) {
		p.t.Errorf("%s is left out because %q, want %q", v, c.Why, why)
	}
	return c
}

func joined(list []backend.Safe) string { return backend.Join(list, "\n").String() }

func mustInspect(t *testing.T, y *engineFixture, id string) *containerInfo {
	t.Helper()
	r := reader{y.API, &clientFactory{deps: backend.Deps{Deadline: time.Minute, Cleaner: backend.NewCleaner()}}}
	b, err := r.inspect(t.Context(), backend.MustID(id), false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// kill ends a container from outside.
func (y *engineFixture) kill(id string) {
	_, _ = y.API.ContainerKill(context.Background(), id, client.ContainerKillOptions{Signal: "KILL"}) // the test sees whether it ended
}
