package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/wire"
)

func deps() backend.Deps {
	return backend.Deps{
		ID: "src", Deadline: time.Minute, Now: time.Now, Cleaner: backend.NewCleaner(),
		Dial:    (&net.Dialer{}).DialContext,
		Command: backendtest.Command,
		Getenv:  func(k string) string { return map[string]string{"TOKEN": "tok-123456789"}[k] },
	}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, cfg wire.Config, d backend.Deps) *wire.Client {
	t.Helper()
	c, err := wire.New(cfg, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestStatusesAndKinds(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/json":
			w.Header().Set("ETag", `"v1"`)
			if r.Header.Get("If-None-Match") == `"v1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = io.WriteString(w, `{"a":1}`)
		case "/404":
			w.WriteHeader(404)
			_, _ = io.WriteString(w, `{"error":"no active session"}`)
		case "/401":
			w.WriteHeader(401)
		case "/429":
			w.Header().Set("Retry-After", "17")
			w.WriteHeader(429)
		case "/503":
			w.Header().Set("Retry-After", time.Now().Add(90*time.Second).UTC().Format(http.TimeFormat))
			w.WriteHeader(503)
		case "/503-down":
			w.WriteHeader(503)
		case "/year":
			w.Header().Set("Retry-After", "99999999999")
			w.WriteHeader(429)
		case "/500":
			w.WriteHeader(500)
			_, _ = io.WriteString(w, "boom \x1b[31m token=abcdefghijkl")
		case "/302":
			http.Redirect(w, r, "http://evil.example/x?session=1", http.StatusFound)
		case "/br":
			w.Header().Set("Content-Encoding", "br")
			_, _ = io.WriteString(w, "??")
		case "/badgzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = io.WriteString(w, "this is no gzip stream")
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "short")
		case "/headers":
			w.Header().Set("X-Large", strings.Repeat("x", 200<<10))
		}
	})
	c := client(t, wire.Config{Origins: []string{url}}, deps())
	for _, tc := range []struct {
		path, etag string
		kind       backend.ErrorKind
		text       string
		retry      time.Duration
	}{
		{path: "/json"},
		{path: "/json", etag: `"v1"`},
		{path: "/404"},
		{path: "/401", kind: backend.ErrUnauthorised, text: "answered 401"},
		{path: "/429", kind: backend.ErrThrottled, text: "429", retry: 17 * time.Second},
		{path: "/503", kind: backend.ErrThrottled, text: "503", retry: 90 * time.Second},
		{path: "/503-down", kind: backend.ErrUnreachable, text: "503"},
		{path: "/year", kind: backend.ErrThrottled, text: "429", retry: time.Hour},
		{path: "/500", kind: backend.ErrUnreachable, text: "boom"},
		{path: "/302", kind: backend.ErrInvalid, text: "redirects to evil.example; not followed"},
		{path: "/br", kind: backend.ErrInvalid, text: "br"},
		{path: "/badgzip", kind: backend.ErrInvalid, text: "gzip"},
		{path: "/cut", kind: backend.ErrUnreachable, text: "lost after 5 bytes"},
		{path: "/headers", kind: backend.ErrInvalid, text: "headers larger"},
	} {
		t.Run(tc.path+tc.etag, func(t *testing.T) {
			resp, err := c.Get(t.Context(), wire.Request{URL: url + tc.path + "?key=sEcReTvalue", ETag: tc.etag})
			if tc.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				if resp.NotModified != (tc.etag != "") {
					t.Errorf("NotModified = %v with ETag %q", resp.NotModified, tc.etag)
				}
				return
			}
			if err == nil {
				t.Fatalf("got %+v, want an error of kind %s", resp, tc.kind)
			}
			if k := backend.KindOf(err); k != tc.kind || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("got %s %q, want %s with %q", k, err, tc.kind, tc.text)
			}
			if strings.Contains(err.Error(), "sEcReT") || strings.Contains(err.Error(), "abcdefghijkl") {
				t.Errorf("the error text shows a secret: %q", err)
			}
			var e *backend.Error
			if !errors.As(err, &e) || e.Source != "src" || (e.RetryAfter-tc.retry).Abs() > 2*time.Second {
				t.Errorf("got %+v, want retry after %v", e, tc.retry)
			}
		})
	}
	if l := c.TakeLoad(); l.Requests != 14 || len(l.Latencies) != 14 {
		t.Errorf("load %+v", l)
	}
	if l := c.TakeLoad(); l.Requests != 0 {
		t.Errorf("load was not taken: %+v", l)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	var sent atomic.Int64
	block := make([]byte, 1<<20)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var out io.Writer = w
		blocks := 2 << 10
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			defer z.Close()
			out, blocks = z, 256
		case "/announced":
			w.Header().Set("Content-Length", fmt.Sprint(2<<30))
		case "/members": // endless empty gzip members: nothing decoded, yet the stream never ends
			w.Header().Set("Content-Encoding", "gzip")
			var empty bytes.Buffer
			_ = gzip.NewWriter(&empty).Close()
			block := bytes.Repeat(empty.Bytes(), 10_000)
			for range 10_000 {
				if n, err := w.Write(block); sent.Add(int64(n)) < 0 || err != nil {
					return
				}
			}
		}
		for range blocks {
			n, err := out.Write(block)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	for _, path := range []string{"/plain", "/bomb", "/announced", "/members"} {
		t.Run(path, func(t *testing.T) {
			sent.Store(0)
			c := client(t, wire.Config{Origins: []string{url}, MaxBody: 4_000_000}, deps())
			_, err := c.Get(t.Context(), wire.Request{URL: url + path})
			if backend.KindOf(err) != backend.ErrInvalid || !strings.Contains(fmt.Sprint(err), "larger than 4MB") {
				t.Fatalf("got %v", err)
			}
			if got := c.TakeLoad().Bytes; got > 4_000_000 {
				t.Errorf("kept %d bytes", got)
			}
			if n := sent.Load(); n > 1<<30 {
				t.Errorf("the server could send %d bytes", n)
			}
		})
	}
}

// TestSlowBodyEndsAtTheDeadline reads one byte a second over a pipe in a bubble: no real time passes.
func TestSlowBodyEndsAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deps()
		d.Deadline = 4500 * time.Millisecond
		d.Dial = func(context.Context, string, string) (net.Conn, error) {
			near, far := net.Pipe()
			go func() {
				defer far.Close()
				buf := make([]byte, 4096)
				_, _ = far.Read(buf)
				_, _ = io.WriteString(far, "HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n")
				for {
					time.Sleep(time.Second)
					if _, err := far.Write([]byte("x")); err != nil {
						return
					}
				}
			}()
			return near, nil
		}
		c := client(t, wire.Config{Origins: []string{"http://x"}}, d)
		start := time.Now()
		_, err := c.Get(t.Context(), wire.Request{URL: "http://x/y"})
		if backend.KindOf(err) != backend.ErrTimeout || !strings.Contains(err.Error(), "within 4.5s (4 bytes came)") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != d.Deadline {
			t.Errorf("took %v", took)
		}
		time.Sleep(2 * time.Second) // the server notices
	})
}

func TestURLsAreRefused(t *testing.T) {
	for _, url := range []string{"", "x", "/relative", "ftp://h/", "http://user:pass@h/", "http://h/#f", "http://%zz/"} {
		if _, err := wire.New(wire.Config{Origins: []string{url}}, deps()); err == nil || strings.Contains(err.Error(), "pass") && strings.Contains(err.Error(), "user:") {
			t.Errorf("%q: got %v", url, err)
		}
	}
}

func TestClock(t *testing.T) {
	at := time.Date(2026, 11, 1, 12, 0, 0, 300e6, time.UTC)
	date := func(t time.Time) http.Header { return http.Header{"Date": {t.UTC().Format(http.TimeFormat)}} }
	var c wire.Clock
	if _, ok := c.Offset().Get(); ok {
		t.Fatal("an unmeasured clock is known")
	}
	steps := []struct {
		header http.Header
		took   time.Duration
		want   time.Duration
	}{
		{date(at), 100 * time.Millisecond, 0},
		{date(at.Add(3 * time.Second)), 100 * time.Millisecond, 0},
		{date(at.Add(24 * time.Hour)), 100 * time.Millisecond, 24 * time.Hour},
		{date(at.Add(24*time.Hour + 2*time.Second)), 100 * time.Millisecond, 24 * time.Hour}, // sticky
		{http.Header{"Date": {at.Format(http.TimeFormat)}, "Age": {"30"}}, time.Second, 24 * time.Hour},
		{date(at), 9 * time.Second, 24 * time.Hour},
		{http.Header{}, time.Second, 24 * time.Hour},
		{date(at), time.Second, 0},
	}
	for i, s := range steps {
		c.Observe(s.header, at, at.Add(s.took))
		if got, ok := c.Offset().Get(); !ok || (got-s.want).Abs() > time.Second {
			t.Errorf("step %d: got %v, want %v", i, got, s.want)
		}
	}
}

func TestBudget(t *testing.T) {
	now := time.Unix(1000, 0)
	b := wire.NewBudget(10, func() time.Time { return now })
	take := func() (n int) {
		for b.Take() {
			n++
		}
		return n
	}
	if n := take(); n != 10 {
		t.Errorf("a full bucket gave %d", n)
	}
	now = now.Add(500 * time.Millisecond)
	if n := take(); n != 5 {
		t.Errorf("half a second gave %d", n)
	}
	for range 8 { // requests in flight together: one complaint
		b.Observe(429, time.Millisecond, 4*time.Second)
	}
	if s := b.State(); s.Current != 5 || s.Silence != 4*time.Second || s.Why.IsEmpty() {
		t.Errorf("after 429: %+v", s)
	}
	now = now.Add(3 * time.Second)
	if take() != 0 {
		t.Error("asked during Retry-After")
	}
	now = now.Add(2 * time.Second)
	if n := take(); n != 5 {
		t.Errorf("a cut bucket gave %d", n)
	}
	for range 20 {
		now = now.Add(31 * time.Second)
		b.State()
	}
	if s := b.State(); s.Current != 10 || !s.Why.IsEmpty() {
		t.Errorf("not restored: %+v", s)
	}
	for range 80 {
		b.Observe(200, 100*time.Millisecond, 0)
	}
	if s := b.State(); s.Current != 10 {
		t.Errorf("cut by ordinary answers: %+v", s)
	}
	for range 40 {
		b.Observe(200, 300*time.Millisecond, 0)
	}
	if s := b.State(); s.Current != 5 || !strings.Contains(s.Why.String(), "300ms, usually 100ms") {
		t.Errorf("a tripled p95: %+v", s)
	}
}

func TestBudgetWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := wire.NewBudget(2, time.Now)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		start, n := time.Now(), 0
		for b.Wait(ctx) {
			n++
		}
		if n != 8 || time.Since(start) > 3*time.Second { // 2 in the bucket, 2 a second for three seconds
			t.Errorf("%d requests in %v", n, time.Since(start))
		}
	})
}

// TestFetchIsBounded: a file is copied up to its limit, and the answer of another status is told and not copied.
func TestFetchIsBounded(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/missing" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, "0123456789")
	})
	a, err := wire.NewActor(wire.Config{Origins: []string{url}}, deps())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	for path, want := range map[string]struct {
		limit  int64
		copied string
		fails  bool
	}{"/file": {10, "0123456789", false}, "/large": {4, "0123", true}, "/missing": {10, "", false}} {
		var to bytes.Buffer
		r, size, err := a.Fetch(context.Background(), wire.Order{Method: http.MethodGet, URL: url + path}, &to, want.limit)
		if (err != nil) != want.fails || to.String() != want.copied || int(size) != len(want.copied) || path == "/missing" && string(r.Body) != "0123456789" {
			t.Errorf("%s: %q, %d bytes, %v", path, to.String(), size, err)
		}
	}
}
