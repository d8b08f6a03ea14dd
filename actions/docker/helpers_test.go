package docker

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/backend/workdir"
)

const boxID = "7c02186f12ffaa0142f1fd3d5d1f3f7d1a1b0b1c2d3e4f5061728394a5b6c7d8"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fake is an engine on a Unix socket that answers as a test says. Its bodies have the shape that an Engine 20.10.24 gave
// on a test machine.
type fake struct {
	t    *testing.T
	path string
	stop func()
	sent *backend.SentLog // nil: none is kept

	mu     sync.Mutex
	state  string
	mounts string
	asked  []string // "DELETE /containers/7c…?force=1&v=1"
	answer func(w http.ResponseWriter, r *http.Request, path string) bool
}

func newFake(t *testing.T) *fake {
	t.Helper()
	f := &fake{t: t, state: stateRunning, mounts: "[]"}
	f.path, f.stop = backendtest.OnSocket(t, f.serve)
	return f
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
	f.mu.Lock()
	query := ""
	if r.URL.RawQuery != "" {
		query = "?" + r.URL.RawQuery
	}
	f.asked = append(f.asked, r.Method+" /"+path+query)
	answer, state, mounts := f.answer, f.state, f.mounts
	f.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case answer != nil && answer(w, r, path):
	case path == "containers/"+boxID+"/json":
		_, _ = fmt.Fprintf(w, `{"Id":%q,"Created":"2026-11-21T10:00:34.6Z","Image":"sha256:1d3a","Name":"/web-eval-12","RestartCount":0,"SizeRw":118000000,
			"State":{"Status":%q,"Pid":12725,"StartedAt":"2026-11-21T11:19:00Z","FinishedAt":"0001-01-01T00:00:00Z"},
			"HostConfig":{"RestartPolicy":{"Name":"no"}},"Mounts":%s,"Config":{"WorkingDir":"/work","User":"","Labels":{}}}`, boxID, state, mounts)
	case strings.HasPrefix(path, "containers/") && r.Method == http.MethodGet:
		f.fail(w, http.StatusNotFound, "No such container: x")
	default:
		f.fail(w, http.StatusNotFound, "page not found")
	}
}

func (f *fake) fail(w http.ResponseWriter, status int, text string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"message":%q}`, text)
}

// answerLink says that what was asked about is a symbolic link called work, and where it leads.
func answerLink(w http.ResponseWriter, target string) {
	stat := fmt.Sprintf(`{"name":"work","size":6,"mode":%d,"mtime":"2026-11-21T11:00:00Z","linkTarget":%q}`, fs.ModeSymlink|0o777, target)
	w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString([]byte(stat)))
}

func (f *fake) set(state string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = state
}

func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.asked)
}

// ClientCommand stands for the adapter's.
func (f *fake) ClientCommand() string { return "docker" }

// Endpoint stands for the adapter's.
func (f *fake) Marks() backend.Safe { return backend.Text("label sandglass.session") }

func (f *fake) Endpoint() (string, string, *http.Client, error) {
	d := net.Dialer{}
	return "unix://" + f.path, "1.41", &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return d.DialContext(ctx, "unix", f.path)
	}}}, nil
}

func (f *fake) ID() string { return "docker-local" }

func (f *fake) Poll(context.Context) (backend.Reading, error) {
	return backend.Reading{}, errors.New("nobody polls here")
}

// parts builds all verbs. Requests end after the deadline.
func (f *fake) parts(deadline time.Duration) map[actions.Verb]actions.Part {
	f.t.Helper()
	parts, missing, err := Kind().Build(actions.Site{Source: f, Allowed: allVerbs(), Options: backendtest.Options[Options](nil),
		Deps: backend.Deps{ID: "docker-local", Deadline: deadline, Now: func() time.Time { return noon }, Cleaner: backend.NewCleaner("our-own-secret"), Sent: f.sent}})
	if err != nil || len(missing) > 0 {
		f.t.Fatal(err, missing)
	}
	return parts
}

// sandbox is the fake's container as the console knows it.
func sandbox() *backend.Sandbox {
	return &backend.Sandbox{Meta: backend.Meta{Key: key(boxID), ReadAt: noon}, Name: backend.Text("web-eval-12"), IsSandbox: true,
		Class: backend.SandboxRunning, Reported: backend.Text("running"), Session: backend.MustID("c4f1"),
		StartedAt: backend.Known(noon.Add(-41 * time.Minute))}
}

// known is a State with the docker source and what is given.
func known(boxes ...*backend.Sandbox) *fleet.State {
	return &fleet.State{Number: 1, Wall: noon, Sandboxes: fleet.NewTable(boxes...), Sources: []*fleet.SourceHealth{healthy("docker-local", "docker")}}
}

func healthy(id, kind string, inputs ...backend.Input) *fleet.SourceHealth {
	return &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: id}, Kind: kind, Status: fleet.StatusOK, LastOK: noon,
		Interval: 5 * time.Second, Deadline: 10 * time.Second, Inputs: inputs}
}

func lookAt(t *testing.T, p actions.Part, s *fleet.State) actions.Candidate {
	t.Helper()
	cs := p.Targets.Look(t.Context(), actions.Question{Keys: []backend.Key{key(boxID)}, State: s, Now: noon})
	if len(cs) != 1 || cs[0].Key != key(boxID) {
		t.Fatalf("%+v", cs)
	}
	return cs[0]
}

// do acts on the fake's container as a plan that was just made would.
func (f *fake) do(v actions.Verb, deadline time.Duration) (actions.Done, error) {
	f.t.Helper()
	p := f.parts(deadline)[v]
	c := lookAt(f.t, p, known(sandbox()))
	if !c.Why.IsEmpty() {
		f.t.Fatalf("%s is not offered: %s", v, c.Why)
	}
	e, err := p.Open(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	return e.Do(f.t.Context(), actions.Target{Key: c.Key, Identity: c.Identity}, actions.Params{})
}

func box() *containerInfo { return &containerInfo{Container: workdir.Container{ID: boxID}} }

func seen(d actions.Done) backend.Observation { return backend.Observation{Verdicts: d.Observed} }

// failed reports whether an effect found that a plane failed, and of what kind.
func failed(d actions.Done, p backend.Plane, k backend.FailureKind) bool {
	v, ok := seen(d).Of(p)
	return ok && v.Outcome == backend.OutcomeFailed && v.Kind == k
}

// outcomes are the verdicts in short: "control ok, exec failed exec-timeout".
func outcomes(d actions.Done) string {
	var out []string
	for _, v := range backend.MergeVerdicts(d.Observed) {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", string(v.Plane), v.Outcome, string(v.Kind))))
	}
	return strings.Join(out, ", ")
}
