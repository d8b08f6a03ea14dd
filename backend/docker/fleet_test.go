package docker

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/demo"
)

// callLog is a proxy before an engine that writes down each request, with the time of a test's clock.
type callLog struct {
	mu    sync.Mutex
	calls []call
}

type call struct {
	at     time.Time
	method string
	url    *url.URL
}

func (l *callLog) before(t *testing.T, socket string, clock *backendtest.Clock) string {
	t.Helper()
	dialer := net.Dialer{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport: &http.Transport{MaxIdleConnsPerHost: 20, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		}},
		FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // an event stream ends with its reader
	}
	path, _ := backendtest.OnSocket(t, func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.calls = append(l.calls, call{clock.Now(), r.Method, r.URL})
		l.mu.Unlock()
		proxy.ServeHTTP(w, r)
	})
	return path
}

// TestAFleetOf2000IsCheckedWithinTheBudget: the call log of 10 minutes proves the rate, the gap, and that nothing is ever
// executed.
func TestAFleetOf2000IsCheckedWithinTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: 12,000 requests")
	}
	d, err := demo.Start(t.Context(), demo.Options{Seed: 1, Workspaces: fleetWorkspaces})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	_, rest, _ := strings.Cut(d.Config(), `host = "unix://`)
	socket, _, _ := strings.Cut(rest, `"`)
	clock, seen := backendtest.NewClock(time.Now()), &callLog{}
	src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.Host, o.StatsSweep = "unix://"+seen.before(t, socket, clock), 0 }), testDeps(t, clock))
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*Source)
	t.Cleanup(func() { _ = s.Close() })
	s.check.host.Proc = t.TempDir()
	s.check.roots.Unpaced()
	s.check.tops.Unpaced()
	s.check.first = time.Minute // however busy this machine is
	began := clock.Now()
	r := mustPoll(t, s)
	watching(t, s)
	subjects := 0
	for _, b := range r.Sandboxes {
		if b.Judged() && (b.Class == backend.SandboxRunning || b.Class == backend.SandboxPaused) {
			subjects++
		}
	}
	if subjects < 1900 || len(r.Sandboxes) < 2000 {
		t.Fatalf("the demo has %d containers, %d of them to be looked at", len(r.Sandboxes), subjects)
	}
	failed := map[string]bool{} // looks that the engine did not answer, as on a machine that stalls: the next comes later
	for range 10 * 12 {
		clock.Add(5 * time.Second)
		mustPoll(t, s)
		for id, e := range s.entries {
			failed[id] = failed[id] || e.rootFails > 0
		}
		eventually(t, "the looks of this poll have ended", func() bool { // however busy this machine is
			s.mu.Lock()
			defer s.mu.Unlock()
			return !s.check.running
		})
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	steps, last := map[time.Time]int{}, map[string]time.Time{}
	tops, shortest, longest := 0, time.Hour, time.Duration(0)
	for _, c := range seen.calls {
		part := strings.Split(c.url.Path, "/")
		switch {
		case c.method != http.MethodGet && c.method != http.MethodHead, strings.Contains(c.url.Path, "/exec"):
			t.Errorf("%s %s by itself", c.method, c.url.Path)
		case strings.HasSuffix(c.url.Path, "/top"):
			tops++
		case c.method == http.MethodHead && strings.HasSuffix(c.url.Path, "/archive") && c.url.Query().Get("path") == "/workspace":
			steps[c.at]++
			id := part[len(part)-2]
			if at, again := last[id]; again && !failed[id] {
				shortest, longest = min(shortest, c.at.Sub(at)), max(longest, c.at.Sub(at))
			}
			last[id] = c.at
		}
	}
	for at, n := range steps {
		if at.Equal(began) && n > checksPerSecond*int(firstChecks/time.Second) || !at.Equal(began) && n > checksPerSecond*5 {
			t.Errorf("%d looks within 5s, %v after the start", n, at.Sub(began))
		}
	}
	unanswered := 0
	for _, is := range failed {
		if is {
			unanswered++
		}
	}
	// 2,000 of them at 20 a second: once in 100 seconds.
	if unanswered > 50 || shortest < 10*time.Second || longest > 110*time.Second || len(last) < subjects-50 || tops > (10+5)*60/5 {
		t.Errorf("%d of %d are looked at, %d once without an answer, the others with gaps from %v to %v; %d looks at processes", len(last), subjects, unanswered, shortest, longest, tops)
	}
	t.Logf("%d containers to look at: %d looked at, gaps from %v to %v, %d looks at processes, %d requests", subjects, len(last), shortest, longest, tops, len(seen.calls))
}

// fleetWorkspaces is the size of a demo that has 2,000 containers.
const fleetWorkspaces = 13500
