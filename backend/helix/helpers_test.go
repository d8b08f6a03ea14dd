package helix

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/wire"
)

// noon is when every test begins: 2026-01-01T00:00:00Z is 1767225600000 in milliseconds.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// rig is a source, the server it reads and the clock both go by.
type rig struct {
	t      *testing.T
	clock  *backendtest.Clock
	url    string
	source *Source
	skew   time.Duration // the server's clock minus ours

	deadline time.Duration // of one request

	mu   sync.Mutex
	hits map[string]int // by path and query
}

func newRig(t *testing.T, handler http.HandlerFunc, set func(o *Options, url string)) *rig {
	t.Helper()
	return newRigWithin(t, 30*time.Second, handler, set)
}

func newRigWithin(t *testing.T, deadline time.Duration, handler http.HandlerFunc, set func(o *Options, url string)) *rig {
	t.Helper()
	r := &rig{t: t, clock: backendtest.NewClock(noon), hits: map[string]int{}, deadline: deadline}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		r.mu.Lock()
		r.hits[q.URL.RequestURI()]++
		r.mu.Unlock()
		if w.Header()["Date"] == nil {
			w.Header().Set("Date", r.clock.Now().Add(r.skew).UTC().Format(http.TimeFormat))
		}
		handler(w, q)
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	r.source = build(t, r.deps(), func(o *Options) {
		o.URL = server.URL + "/healthz/{session}"
		set(o, server.URL)
	})
	return r
}

func (r *rig) deps() backend.Deps {
	return backend.Deps{ID: "helix", Interval: 5 * time.Second, Deadline: r.deadline, Now: r.clock.Now,
		Cleaner: backend.NewCleaner(), Dial: (&net.Dialer{}).DialContext, Getenv: func(string) string { return "" },
		Command: backendtest.Command}
}

func build(t *testing.T, deps backend.Deps, set func(*Options)) *Source {
	t.Helper()
	src, err := Kind().New(backendtest.Options[Options](set), deps)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.(*Source).Close() })
	return src.(*Source)
}

// poll polls once, 5 seconds after the poll before.
func (r *rig) poll() backend.Reading {
	r.t.Helper()
	reading, err := r.pollErr()
	if err != nil {
		r.t.Fatalf("poll: %v", err)
	}
	return reading
}

func (r *rig) pollErr() (backend.Reading, error) {
	r.clock.Add(5 * time.Second)
	return r.source.Poll(r.t.Context())
}

// asked counts the requests for one path and query, or all of them when path is empty.
func (r *rig) asked(path string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if path != "" {
		return r.hits[path]
	}
	n := 0
	for _, hits := range r.hits {
		n += hits
	}
	return n
}

func workspace(r backend.Reading, path string) *backend.Workspace {
	i := slices.IndexFunc(r.Workspaces, func(w *backend.Workspace) bool { return w.Key.Path().Raw() == path })
	if i < 0 {
		return nil
	}
	return r.Workspaces[i]
}

func sessionOf(r backend.Reading, id string) *backend.Session {
	i := slices.IndexFunc(r.Sessions, func(s *backend.Session) bool { return s.Key.ID.Raw() == id })
	if i < 0 {
		return nil
	}
	return r.Sessions[i]
}

func staleWhy(r backend.Reading, id string) string {
	for _, m := range r.Stale {
		if m.Key.ID.Raw() == id || m.Key.Parent.Raw() == id {
			return m.Why.String()
		}
	}
	return ""
}

func problemsText(r backend.Reading) string {
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s %v %v\n", p.Kind, p.Where, p.What)
	}
	return b.String()
}

func testDecoder() *decoder {
	return &decoder{source: "helix", clean: backend.NewCleaner(), classes: classes(map[string]string{"zorp": "healthy"}),
		clock: clockCorrection{known: true}, now: noon, newest: &newest{}, words: map[string]backend.Safe{}}
}

func decodeAll(d *decoder, body string) ([]backend.Workspace, error) {
	s := &Source{opt: defaults()}
	return s.read(d, backend.MustID("s"), &wire.Response{Body: []byte(body), At: noon})
}

func noDial(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
