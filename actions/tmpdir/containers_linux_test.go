package tmpdir

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
)

func box(name, state, kind, from string) *backend.Sandbox {
	b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "docker-1", ID: backend.MustID(name)}},
		Name: backend.Clean(name, 40), Reported: backend.Clean(state, 20)}
	m := backend.Mount{Type: backend.Clean(kind, 20)}
	if from != "" {
		m.RawSource = backend.MustID(from)
	}
	b.Mounts = []backend.Mount{m}
	return b
}

func withDocker(r *rig, status fleet.SourceStatus, boxes ...*backend.Sandbox) *fleet.State {
	h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "docker-1"}, Kind: "docker", Status: status, LastOK: r.now, Interval: 5 * time.Second}
	s := &fleet.State{Wall: r.now, Sources: []*fleet.SourceHealth{h}, Sandboxes: fleet.NewTable[backend.Sandbox](boxes...)}
	return s.WithListed("docker-1", backend.KindSandbox, r.now)
}

func TestConditionOfContainers(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	r.site.Peers = []actions.Peer{{ID: "docker-1", Kind: "docker", Source: engine{}}}
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(r.root, alias); err != nil {
		t.Fatal(err)
	}
	for from, word := range map[string]string{
		r.root + "/helix-ws-a": "it is the directory", r.root + "/helix-ws-a/": "it is the directory", r.root + "/helix-ws-a/a/b": "it is above", r.root: "it is inside", "/": "it is inside",
		alias + "/helix-ws-a": "it is the directory", alias: "it is inside", alias + "/helix-ws-a/a": "it is above", r.root + "/helix-ws-a/gone": "it is above",
		r.root + "/helix-ws-ab": "", r.root + "/helix-ws": "", "/nonexistent": "", "": "",
	} {
		for _, state := range []string{"exited", "created", "paused", "running"} {
			r.state = withDocker(r, fleet.StatusOK, box("b1", state, "volume", from))
			if from != "" {
				r.state = withDocker(r, fleet.StatusOK, box("b1", state, "bind", from))
			}
			why := r.why(k)
			if (why == "") != (word == "") || word != "" && (!strings.HasPrefix(why, word) || !strings.Contains(why, "container b1 ("+state+")")) {
				t.Errorf("%s container with %s: %q, want %q", state, from, why, word)
			}
		}
	}
	r.state = withDocker(r, fleet.StatusOK, box("b1", "exited", "bind", ""))
	wantWhy(t, r.why(k), "source is not known")
	cut := box("b1", "exited", "bind", "/elsewhere")
	cut.MountsCut = true
	r.state = withDocker(r, fleet.StatusOK, cut)
	wantWhy(t, r.why(k), "more mounts than are listed")
}

// engine stands for the adapter of an engine.
type engine struct {
	backend.Source
	host    string
	volumes []backend.Volume
	err     error
}

func (e engine) Volumes(context.Context) ([]backend.Volume, error) { return e.volumes, e.err }

func (e engine) Endpoint() (host, api string, c *http.Client, err error) {
	return e.host, "1.47", &http.Client{}, nil
}

// TestConditionOfVolumes: what a volume stands for is spared though no container was ever given it.
func TestConditionOfVolumes(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	r.state = withDocker(r, fleet.StatusOK)
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(r.root, alias); err != nil {
		t.Fatal(err)
	}
	with := func(e engine) string {
		t.Helper()
		r.site.Peers = []actions.Peer{{ID: "docker-1", Kind: "docker", Source: e}}
		return r.why(k)
	}
	none := backend.Volume{Name: backend.Text("other"), RawSource: backend.MustID("/nonexistent")}
	for device, word := range map[string]string{
		r.root + "/helix-ws-a": "it is the directory", r.root + "/helix-ws-a/a/b": "it is above", r.root: "it is inside",
		alias + "/helix-ws-a": "it is the directory", alias + "/helix-ws-a/a": "it is above", alias: "it is inside",
		r.root + "/helix-ws-a/gone": "it is above", r.root + "/helix-ws-a/f": "it is above", r.root + "/helix-ws-ab": "",
	} {
		why := with(engine{volumes: []backend.Volume{none, {Name: backend.Text("agents"), RawSource: backend.MustID(device)}}})
		if want := word + " " + device + ", which volume agents of docker-1 maps to"; word == "" && why != "" || word != "" && why != want {
			t.Errorf("volume of %s: %q, want %q", device, why, word)
		}
	}
	wantWhy(t, with(engine{volumes: []backend.Volume{none, {Name: backend.Text("agents")}}}), "volume agents of docker-1 binds a directory whose path is not known")
	wantWhy(t, with(engine{err: errors.New("docker-1: no answer within the deadline")}), "volumes that may lead to it are not known: docker-1: no answer")
	r.site.Peers = []actions.Peer{{ID: "docker-1", Kind: "docker", Source: struct{ backend.Source }{}}}
	wantWhy(t, r.why(k), "volumes that may lead to it are not known: docker-1 cannot list them")
	// What waits is not removed either once a volume stands for it.
	with(engine{})
	if _, err := r.do(actions.Clean, actions.Params{}, k); err != nil {
		t.Fatal(err)
	}
	r.site.Peers[0].Source = engine{volumes: []backend.Volume{{Name: backend.Text("agents"), RawSource: backend.MustID(r.root + "/helix-ws-a")}}}
	wantWhy(t, r.look(actions.Purge, actions.Params{}, k)[0].Why.String(), "which volume agents of docker-1 maps to")
}

func TestConditionOfEngines(t *testing.T) {
	r := newRig(t)
	k := r.dir("helix-ws-a")
	sock := filepath.Join(t.TempDir(), "docker.sock")
	peer := actions.Peer{ID: "docker-1", Kind: "docker", Source: engine{host: "unix://" + sock}}
	r.site.Peers = []actions.Peer{peer, {ID: "helix", Kind: "helix"}}
	for _, status := range []fleet.SourceStatus{fleet.StatusDown, fleet.StatusDegraded, fleet.StatusStarting} {
		r.state = withDocker(r, status)
		wantWhy(t, r.why(k), "not known: docker-1 is "+string(status))
	}
	r.state = &fleet.State{}
	wantWhy(t, r.why(k), "docker-1 is not read")
	// A source that somebody configured, or an engine that the environment names, is meant to be there.
	r.state = withDocker(r, fleet.StatusAbsent)
	wantWhy(t, r.why(k), "docker-1 finds no engine")
	r.site.Config = ""
	if why := r.why(k); why != "" {
		t.Errorf("nobody ever spoke of an engine, and there is no socket: %s", why)
	}
	for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT"} {
		r.site.Deps.Getenv = func(asked string) string { return map[string]string{name: "elsewhere"}[asked] }
		wantWhy(t, r.why(k), "docker-1 finds no engine")
	}
	r.state = withDocker(r, fleet.StatusOK)
	if why := r.why(k); why != "" {
		t.Errorf("an engine without containers: %s", why)
	}
	r.state = withDocker(r, fleet.StatusOK).WithListed("docker-1", backend.KindSandbox, r.now.Add(-time.Hour))
	wantWhy(t, r.why(k), "no complete list that is fresh")
	r.state.Sources[0].LastOK = r.now.Add(-time.Hour)
	wantWhy(t, r.why(k), "no complete list that is fresh")
	// A socket that no source reads.
	r.set = func(o *Options) { o.EngineSockets = []string{filepath.Dir(sock) + "/*.sock"} }
	r.state = withDocker(r, fleet.StatusOK)
	if why := r.why(k); why != "" {
		t.Errorf("there is no socket yet: %s", why)
	}
	backendtest.Write(t, sock, "")
	if why := r.why(k); why != "" {
		t.Errorf("its own socket: %s", why)
	}
	backendtest.Write(t, filepath.Dir(sock)+"/other.sock", "")
	wantWhy(t, r.why(k), "other.sock is there, and no source of kind docker reads it")
	r.site.Peers = nil
	wantWhy(t, r.why(k), "docker.sock is there")
}

// TestABindIsKnownByWhatItIs: the engine may know a directory by a path that leads nowhere here.
func TestABindIsKnownByWhatItIs(t *testing.T) {
	s := newRig(t).fine(false)
	none := hostfs.FileID{Dev: 9, Ino: 9}
	for word, b := range map[string]containerMount{
		"the directory": {id: s.stat.ID},
		"above":         {id: none, above: []hostfs.FileID{none, s.stat.ID}},
		"inside":        {id: s.root.above[len(s.root.above)-1]},
		"":              {id: none, above: []hostfs.FileID{none}},
	} {
		b.paths = []string{"/elsewhere"}
		if got := b.touches(s).String(); got != word {
			t.Errorf("%q, want %q", got, word)
		}
	}
}
