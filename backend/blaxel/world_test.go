package blaxel

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

const apiKey = "bl-key-of-the-tests-1234"

var zero = time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)

type reply struct {
	status int
	body   string
	header map[string]string
}

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

func refused(status int, body string) reply { return reply{status: status, body: body} }

const notFound = `{"code":404,"error":"not found"}`

// page is a list in pages; next is the cursor of the next one.
func page(next string, rows ...string) reply {
	return ok(fmt.Sprintf(`{"data":[%s],"meta":{"hasMore":%v,"nextCursor":%q,"total":%d}}`, strings.Join(rows, ","), next != "", next, len(rows)))
}

// one is a sandbox; more are further members of it, each with a comma before it.
func one(name, status, created, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"workspace":"acme","createdAt":%q,"url":"https://sbx-%s-acme.us-pdx-1.bl.run"},"spec":{"enabled":true,"region":"us-pdx-1","runtime":{"image":"i","memory":2048}},"status":%q%s}`,
		name, created, name, status, more)
}

// world is a control plane that answers by path, and a source that polls it.
type world struct {
	t      testing.TB
	clock  *backendtest.Clock
	url    string
	mu     sync.Mutex
	routes map[string]func(url.Values) reply
	asked  []string
	heads  []http.Header
	src    *Source
}

func newWorld(t testing.TB, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, clock: backendtest.NewClock(zero), routes: map[string]func(url.Values) reply{}}
	srv := httptest.NewServer(http.HandlerFunc(w.handle))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	w.set("/snapshots", page(""))
	w.src = w.source(change)
	return w
}

func (w *world) source(change func(*Options)) *Source {
	w.t.Helper()
	o := func(o *Options) {
		o.URL, o.Workspace, o.RequestsPerSec = w.url, "acme", 1000
		if change != nil {
			change(o)
		}
	}
	src, err := Kind().New(backendtest.Options[Options](o), w.deps(map[string]string{envKey: apiKey}))
	if err != nil {
		w.t.Fatal(err)
	}
	s := src.(*Source)
	w.t.Cleanup(func() { _ = s.Close() })
	return s
}

func (w *world) deps(env map[string]string) backend.Deps {
	return backend.Deps{ID: "bl", Interval: 5 * time.Second, Deadline: 10 * time.Second, Now: w.clock.Now, Cleaner: backend.NewCleaner(), Spawn: backend.NewSpawner(nil),
		Dial: (&net.Dialer{}).DialContext, Command: backendtest.Command, Getenv: func(k string) string { return env[k] }}
}

func (w *world) set(route string, r reply) { w.setFunc(route, func(url.Values) reply { return r }) }

func (w *world) setFunc(route string, f func(url.Values) reply) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.routes[route] = f
}

// handle answers 404 of the control plane where nothing is set, and an empty list of previews for every sandbox.
func (w *world) handle(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.asked = append(w.asked, r.Method+" "+r.URL.RequestURI())
	w.heads = append(w.heads, r.Header.Clone())
	f := w.routes[r.URL.Path]
	w.mu.Unlock()
	out.Header().Set("Date", w.clock.Now().UTC().Format(http.TimeFormat))
	if f == nil {
		f = func(url.Values) reply {
			if strings.HasSuffix(r.URL.Path, "/previews") {
				return ok(`[]`)
			}
			return refused(http.StatusNotFound, notFound)
		}
	}
	a := f(r.URL.Query())
	for k, v := range a.header {
		out.Header().Set(k, v)
	}
	out.WriteHeader(a.status)
	_, _ = out.Write([]byte(a.body))
}

func (w *world) requests(part string) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.asked {
		if strings.Contains(r, part) {
			n++
		}
	}
	return n
}

// poll moves the clock by 12 s, which is longer than the list waits, and polls.
func (w *world) poll() backend.Reading {
	w.t.Helper()
	w.clock.Add(12 * time.Second)
	r, err := w.src.Poll(context.Background())
	if err != nil {
		w.t.Fatalf("poll: %v", err)
	}
	return r
}

func (w *world) fails() error {
	w.t.Helper()
	w.clock.Add(12 * time.Second)
	_, err := w.src.Poll(context.Background())
	if err == nil {
		w.t.Fatal("the poll did not fail")
	}
	return err
}

func sandboxOf(t testing.TB, r backend.Reading, name string) *backend.Sandbox {
	t.Helper()
	for _, b := range r.Sandboxes {
		if b.Key.ID.Raw() == name {
			return b
		}
	}
	t.Fatalf("the reading holds no sandbox %s", name)
	return nil
}

// sample is one file of testdata.
type sample struct {
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"response"`
}

func readSample(t testing.TB, name string) reply {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	return reply{s.Response.Status, string(s.Response.Body), s.Response.Headers}
}

func problems(r backend.Reading) string {
	var all []string
	for _, p := range r.Problems {
		all = append(all, string(p.Kind)+" "+p.Where.String()+": "+p.What.String())
	}
	return strings.Join(all, "\n")
}
