package test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/backend/backendtest/enginetest"
	"sandglass/demo"
	"sandglass/internal/skip"
)

// engineProxy stands before a real engine and may answer a request in its place.
type engineProxy struct {
	url     string
	instead atomic.Pointer[func(http.ResponseWriter, *http.Request) bool] // reports whether it answered
}

func newEngineProxy(t *testing.T, host string) *engineProxy {
	t.Helper()
	at, err := url.Parse(host)
	if err != nil || at.Scheme != "unix" {
		skip.Without(t, "docker", host+" is no socket of this machine, before which the proxy of this test could stand")
	}
	p := &engineProxy{}
	forward := &httputil.ReverseProxy{FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", at.Path)
		}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if f := p.instead.Load(); f != nil && (*f)(w, q) {
			return
		}
		forward.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	p.url = "tcp://" + server.Listener.Addr().String()
	return p
}

// on answers requests whose path ends so.
func (p *engineProxy) on(suffix string, answer http.HandlerFunc) {
	f := func(w http.ResponseWriter, q *http.Request) bool {
		if strings.HasSuffix(q.URL.Path, suffix) && q.Method != http.MethodGet {
			answer(w, q)
			return true
		}
		return false
	}
	p.instead.Store(&f)
}

// proveWorld is a configuration that may prove the engine behind a proxy, and one container of an agent.
type proveWorld struct {
	*commandLines
	proxy  *engineProxy
	engine *enginetest.Engine
	box    string
	name   string
}

func newProveWorld(t *testing.T, e *enginetest.Engine, tag string) *proveWorld {
	t.Helper()
	image := e.Image(tag, "sh", "sleep", "true")
	w := &proveWorld{engine: e, proxy: newEngineProxy(t, e.Host), name: fmt.Sprint("sandglass-", tag, "-", os.Getpid())}
	w.commandLines = newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "calm"}, func(string) string {
		return fmt.Sprintf("environment = \"real\"\n[[source]]\nid = \"engine\"\nkind = \"docker\"\nhost = %q\ndeadline = \"20s\"\nactions = [\"prove\", \"probe\"]\n", w.proxy.url)
	})
	id, err := w.engine.Docker("run", "-d", "--name", w.name, "--network", "none", "-w", "/workspace", "--label", "sandglass.session=s-prove", image, "sleep", "600")
	if err != nil {
		t.Fatal("docker run failed")
	}
	t.Cleanup(func() { _, _ = w.engine.Docker("rm", "-f", "-v", id) })
	w.box = id
	return w
}

// left are the containers of this state directory that a plan made.
func (w *proveWorld) left() string {
	w.t.Helper()
	state, err := os.ReadFile(filepath.Join(w.dir, "identity"))
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := w.engine.Docker("ps", "-aq", "--filter", "label=sandglass.state="+strings.TrimSpace(string(state)))
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *proveWorld) planned(args ...string) (digest string) {
	w.t.Helper()
	return planLine.FindStringSubmatch(w.run(0, `(?m)^plan [0-9a-f]{16}$`, append([]string{"prove"}, args...)...))[1]
}

// TestProveOnARealEngine proves an engine beside a suspect, names the step at which it fails, and leaves nothing.
func TestProveOnARealEngine(t *testing.T) { enginetest.Each(t, proveOnARealEngine) }

func proveOnARealEngine(t *testing.T, e *enginetest.Engine) {
	w := newProveWorld(t, e, "prove")
	w.carryOut(0, `(?s)create +ok.*exec after resume +ok.*destroy +ok.*the platform works(; in .* nothing was tried yet|, and so did .*): probe it|the platform works, and so did .*; probe it`, "prove", "engine", "--beside", w.name)
	if left := w.left(); left != "" {
		t.Errorf("left: %s", left)
	}
	digest := w.planned("--beside", w.name)
	var document struct {
		Run struct {
			Lines []struct {
				Steps []struct {
					Name, Result string
					Took         *float64 `json:"took_seconds"`
				}
			}
			Beside struct{ Name string }
		}
		ExitCode int `json:"exit_code"`
	}
	if err := json.Unmarshal([]byte(w.run(0, "", "prove", "--yes-plan", digest, "--reason", "is it the engine", "-o", "json")), &document); err != nil {
		t.Fatal(err)
	}
	if len(document.Run.Lines) != 1 || len(document.Run.Lines[0].Steps) != 12 || document.Run.Beside.Name != w.name || document.Run.Lines[0].Steps[0].Took == nil {
		t.Errorf("%+v", document)
	}

	w.proxy.on("/pause", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusInternalServerError)
		_, _ = rw.Write([]byte(`{"message":"cgroup: freezer is not here"}`))
	})
	w.carryOut(1, `(?s)failed, the platform fails at pause: the engine refuses: cgroup: freezer is not here.*read +ok.*pause +failed.*resume +not tried.*destroy +ok.*the platform itself fails`, "prove", "engine")
	if left := w.left(); left != "" {
		t.Errorf("left after a failure: %s", left)
	}
	w.proxy.on("/pause", func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-q.Context().Done():
		case <-time.After(40 * time.Second):
		}
	})
	w.carryOut(1, `pause: no answer within 20s`, "prove", "engine")
	if left := w.left(); left != "" {
		t.Errorf("left after a hang: %s", left)
	}
	w.proxy.instead.Store(nil)
	w.run(3, `the engine has no image no-such-image:1, and prove pulls none`, "prove", "--image", "no-such-image:1")
	for _, r := range w.journal() {
		if r.Verb == string(actions.Prove) && r.Phase == audit.PhaseTargetIntent && !strings.Contains(fmt.Sprint(r.Facts), "sandglass-prove-"+r.Digest) {
			t.Errorf("the journal does not name what is made: %+v", r)
		}
	}
}

// TestProveKilledLeavesNothing kills the program while its container is being paused. A living process's container is left
// alone, and the next command removes that of the dead one, and nothing else.
func TestProveKilledLeavesNothing(t *testing.T) { enginetest.Each(t, proveKilledLeavesNothing) }

func proveKilledLeavesNothing(t *testing.T, e *enginetest.Engine) {
	w := newProveWorld(t, e, "proofkill")
	digest := w.planned()
	arrived := make(chan struct{}, 1)
	w.proxy.on("/pause", func(_ http.ResponseWriter, q *http.Request) {
		select {
		case arrived <- struct{}{}:
		default:
		}
		<-q.Context().Done()
	})
	acting := exec.Command(os.Args[0], "prove", "--yes-plan", digest, "--reason", "is it the engine", "--config", w.config, "--state-dir", w.dir)
	acting.Env = append(os.Environ(), "SANDGLASS_TEST_RUN_MAIN=1", "SANDGLASS_USER=tester")
	if err := acting.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = acting.Process.Kill() }) // which ended long before
	select {
	case <-arrived:
	case <-time.After(patience):
		t.Fatal("pause was not asked for")
	}
	if _, errs, _ := w.process("check"); strings.Contains(errs, "removed the sandbox") || w.left() == "" {
		t.Errorf("the container of a living process is gone: %s", errs)
	}
	if err := acting.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = acting.Wait() // killed
	if w.left() == "" {
		t.Fatal("there is nothing to remove: this test looks at the wrong thing")
	}
	other, err := w.engine.Docker("run", "-d", "--name", "sandglass-prove-"+fmt.Sprint(os.Getpid()), "--network", "none", "--label", "sandglass.plan=0123456789abcdef",
		"--label", "sandglass.state=fedcba9876543210", w.image(), "sleep", "600")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = w.engine.Docker("rm", "-f", other) })
	if _, errs, _ := w.process("check"); !strings.Contains(errs, "removed the sandbox sandglass-prove-"+digest) {
		t.Errorf("the next command says %q", errs)
	}
	if left := w.left(); left != "" {
		t.Errorf("left: %s", left)
	}
	if out, err := w.engine.Docker("inspect", "-f", "{{.State.Status}}", other, w.box); err != nil || strings.Count(out, "running") != 2 {
		t.Errorf("others are %q", out)
	}
	if _, errs, _ := w.process("check"); strings.Contains(errs, "sandglass-prove-") {
		t.Errorf("it is told again: %q", errs)
	}
	recs := records(t, w.dir)
	if last := recs[len(recs)-1]; last.Verb != string(actions.Remove) || last.Phase != audit.PhaseDone || last.Result != audit.ResultVerified {
		t.Errorf("the journal ends with %+v", last)
	}
}

// image is what the agent's container is made of.
func (w *proveWorld) image() string {
	w.t.Helper()
	out, err := w.engine.Docker("inspect", "-f", "{{.Image}}", w.box)
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}
