package agentuity

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// The ids of the samples.
const (
	healthyID   = "sbx_47d4c7877004896984b270ba02711e0fa26d4f86c3a2566a89d4e457a821"
	zombieID    = "sbx_50445cf9266fbb2f74d00156ac64409324c3953a4360c19debdc4b5a4d8d"
	suspendedID = "sbx_5dfb59f6651b031074344ccd5ed8ad9c836e56a36d902c4dc8efa9344810"
	orgID       = "org_2xSampleOrg0000000000000001"
	zombieHub   = "codesess_4cf3926c7813"
	healthyHub  = "codesess_50bb6db69651"
	testKey     = "key-of-the-tests-1234"
)

// sample is one exchange of testdata.
type sample struct {
	Sample  string
	Request struct {
		Method, URL string
	}
	Response struct {
		Status  int
		Headers map[string]string
		Body    json.RawMessage
		RawBody string `json:"raw_body"`
	}
}

func readSample(t testing.TB, name string) sample {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sample) answer() reply {
	body := s.Response.RawBody
	if body == "" {
		body = string(s.Response.Body)
	}
	return reply{status: s.Response.Status, body: body, header: s.Response.Headers}
}

// reply is one answer of the test server.
type reply struct {
	status int
	body   string
	header map[string]string
}

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

// world is a server that answers by path, and a source that polls it.
type world struct {
	t      testing.TB
	clock  *backendtest.Clock
	url    string
	mu     sync.Mutex
	routes map[string]func(url.Values) reply // by method and path
	asked  []string
	heads  []http.Header
	src    *Source
}

// newWorld serves the samples of the healthy, the zombie and the suspended sandbox at the paths of their requests.
func newWorld(t testing.TB, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, clock: backendtest.NewClock(time.Date(2026, 4, 4, 1, 2, 0, 0, time.UTC)), routes: map[string]func(url.Values) reply{}}
	for _, name := range []string{"sandbox_list", "healthy_sandbox_status", "zombie_sandbox_status", "healthy_sandbox_get", "zombie_sandbox_get", "suspended_sandbox_get",
		"healthy_executions", "zombie_executions", "healthy_jobs", "zombie_jobs", "healthy_events", "zombie_events", "healthy_fs_list", "zombie_fs_list_404",
		"hub_sessions_list", "hub_session_error", "hub_participants_lead", "hub_participants_no_lead", "cli_sandbox_resolve"} {
		w.serve(readSample(t, name))
	}
	w.set("GET /sandbox/sandboxes/"+suspendedID+"/events", ok(`{"success":true,"data":{"events":[{"eventId":"evt_s","type":"suspend","event":{},"createdAt":"2026-04-04T00:30:00Z"}]}}`))
	srv := httptest.NewServer(http.HandlerFunc(w.handle))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.src = w.source(change)
	return w
}

func (w *world) source(change func(*Options)) *Source {
	w.t.Helper()
	o := func(o *Options) {
		o.URL, o.APIURL, o.HubURL, o.Org, o.RequestsPerSec = w.url, w.url, w.url, orgID, 1000
		o.Read.Env = "KEY"
		if change != nil {
			change(o)
		}
	}
	src, err := Kind().New(backendtest.Options[Options](o), w.deps())
	if err != nil {
		w.t.Fatal(err)
	}
	s := src.(*Source)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (w *world) deps() backend.Deps {
	return backend.Deps{ID: "agentuity", Interval: 5 * time.Second, Deadline: 10 * time.Second, Now: w.clock.Now, Cleaner: backend.NewCleaner(),
		Dial: (&net.Dialer{}).DialContext, Command: backendtest.Command, Getenv: func(k string) string { return map[string]string{"KEY": testKey}[k] }}
}

func (w *world) serve(s sample) {
	w.t.Helper()
	u, err := url.Parse(s.Request.URL)
	if err != nil {
		w.t.Fatal(err)
	}
	w.set(s.Request.Method+" "+u.Path, s.answer())
}

func (w *world) set(route string, r reply) { w.setFunc(route, func(url.Values) reply { return r }) }

func (w *world) setFunc(route string, f func(url.Values) reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.routes[route] = f
}

func (w *world) handle(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery)
	w.heads = append(w.heads, r.Header.Clone())
	f := w.routes[r.Method+" "+r.URL.Path]
	w.mu.Unlock()
	out.Header().Set("Date", w.clock.Now().UTC().Format(http.TimeFormat))
	if f == nil {
		f = func(url.Values) reply {
			return reply{status: http.StatusNotFound, body: `{"success":false,"message":"sandbox not found","code":"SANDBOX_NOT_FOUND"}`}
		}
	}
	a := f(r.URL.Query())
	for k, v := range a.header {
		out.Header().Set(k, v)
	}
	out.WriteHeader(a.status)
	_, _ = out.Write([]byte(a.body))
}

// requests are those since the last call whose path holds a text.
func (w *world) requests(part string) (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.asked {
		if strings.Contains(r, part) {
			out = append(out, r)
		}
	}
	return out
}

func (w *world) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = nil
}

// poll moves the clock by an interval and polls.
func (w *world) poll() backend.Reading {
	w.t.Helper()
	w.clock.Add(5 * time.Second)
	r, err := w.src.Poll(context.Background())
	if err != nil {
		w.t.Fatalf("poll: %v", err)
	}
	return r
}

func (w *world) fails() error {
	w.t.Helper()
	w.clock.Add(5 * time.Second)
	_, err := w.src.Poll(context.Background())
	if err == nil {
		w.t.Fatal("the poll did not fail")
	}
	return err
}

func sandboxOf(t testing.TB, r backend.Reading, id string) *backend.Sandbox {
	t.Helper()
	for _, b := range r.Sandboxes {
		if b.Key.ID.Raw() == id {
			return b
		}
	}
	t.Fatalf("the reading holds no sandbox %s", id)
	return nil
}

func sessionOf(t testing.TB, r backend.Reading, id string) *backend.Session {
	t.Helper()
	for _, s := range r.Sessions {
		if s.Key.ID.Raw() == id {
			return s
		}
	}
	t.Fatalf("the reading holds no session %s", id)
	return nil
}

func verdictOf(t testing.TB, b *backend.Sandbox, plane backend.Plane) backend.Verdict {
	t.Helper()
	o, _ := b.Observed.Get()
	v, found := o.Of(plane)
	if !found {
		t.Fatalf("%s has no verdict on %s: %v", b.Name, plane, o.Verdicts)
	}
	return v
}

func problems(r backend.Reading) string {
	var all []string
	for _, p := range r.Problems {
		all = append(all, p.Where.String()+": "+p.What.String())
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}
