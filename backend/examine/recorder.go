package examine

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxKept bounds what is kept of one body, in bytes; maxExchanges bounds the requests that are kept.
const (
	maxKept      = 2 << 20
	maxExchanges = 2000
)

// exchange is one request of the adapter and what it came to.
type exchange struct {
	method, path, query string
	sent                int // headers of the request, its condition apart: a credential is one more
	status              int // 0: no answer
	header              http.Header
	err                 error
	began, ended        time.Time
	body                []byte
	cut                 bool // the body is longer than what was kept
	late                bool // its body did not end
}

// Recorder notes what an adapter asks and what it is answered. Its Tap goes into the adapter's Deps.
type Recorder struct {
	now func() time.Time

	mu    sync.Mutex
	all   []*exchange
	extra int // requests that were not kept
}

// NewRecorder makes a Recorder.
func NewRecorder(now func() time.Time) *Recorder { return &Recorder{now: now} }

// Tap puts the Recorder before a transport.
func (r *Recorder) Tap(base http.RoundTripper) http.RoundTripper { return tap{r, base} }

type tap struct {
	r    *Recorder
	base http.RoundTripper
}

// RoundTrip passes the request on.
func (t tap) RoundTrip(req *http.Request) (*http.Response, error) {
	x := &exchange{method: req.Method, path: req.URL.Path, query: req.URL.RawQuery, sent: len(req.Header), began: t.r.now(), late: true}
	if req.Header.Get("If-None-Match") != "" {
		x.sent--
	}
	resp, err := t.base.RoundTrip(req)
	t.r.mu.Lock()
	defer t.r.mu.Unlock()
	x.ended, x.err = t.r.now(), err
	if len(t.r.all) < maxExchanges {
		t.r.all = append(t.r.all, x)
	} else {
		t.r.extra++
	}
	if err != nil {
		x.late = false
		return resp, err
	}
	x.status, x.header = resp.StatusCode, resp.Header
	if resp.StatusCode == http.StatusSwitchingProtocols || resp.Body == nil || resp.Body == http.NoBody || req.Method == http.MethodHead {
		x.late = false
		return resp, nil
	}
	resp.Body = &copied{ReadCloser: resp.Body, r: t.r, x: x}
	return resp, nil
}

// CloseIdleConnections closes those of the transport below.
func (t tap) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// copied is a body of which the beginning is kept.
type copied struct {
	io.ReadCloser
	r      *Recorder
	x      *exchange
	failed bool
}

// Close ends the body: who has what it wants does not read on.
func (c *copied) Close() error {
	c.r.mu.Lock()
	if !c.failed {
		c.x.late = false
	}
	c.r.mu.Unlock()
	return c.ReadCloser.Close()
}

// Read reads and keeps.
func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	room := max(maxKept-len(c.x.body), 0)
	c.x.body = append(c.x.body, p[:min(n, room)]...)
	c.x.cut = c.x.cut || n > room
	if err == io.EOF || err == nil {
		c.x.ended = c.r.now()
	}
	switch err {
	case io.EOF:
		c.x.late = false
	case nil:
	default:
		c.failed = true
	}
	return n, err
}

// exchanges are those so far.
func (r *Recorder) exchanges() (all []exchange, extra int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, x := range r.all {
		y := *x
		y.body = bytes.Clone(x.body)
		all = append(all, y)
	}
	return all, r.extra
}

// contentType is the type of an answer without its parameters.
func (x *exchange) contentType() string {
	kind, _, _ := strings.Cut(x.header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}

// isHTML reports whether an answer is a web page, whatever it is called.
func (x *exchange) isHTML() bool {
	start := strings.ToLower(string(bytes.TrimSpace(x.body[:min(len(x.body), 200)])))
	return x.contentType() == "text/html" || strings.HasPrefix(start, "<!doctype html") || strings.HasPrefix(start, "<html")
}
