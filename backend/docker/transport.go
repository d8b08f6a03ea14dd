package docker

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Bounds on what an engine may answer. A list of 10,000 containers is about 15 MB; a real event is under 10 kB.
const (
	maxBody  = 64 << 20
	maxEvent = 1 << 20
)

// maxLatencies bounds backend.Load.Latencies, as that field documents.
const maxLatencies = 64

var (
	errReadOnly = errors.New("only GET and HEAD are allowed: this program reads the engine and changes nothing")
	errTooLarge = errors.New("the answer is too large")
)

// readOnlyTransport is the transport below the client library. It refuses everything that could change something, bounds every
// answer, and measures what was asked.
type readOnlyTransport struct {
	base  http.RoundTripper
	now   func() time.Time
	limit int // bytes of one answer

	mu     sync.Mutex
	load   backend.Load
	offset wire.Clock
	told   time.Time // the newest Date
	podman bool
}

// RoundTrip performs one request.
func (m *readOnlyTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		return nil, errReadOnly
	}
	logs := strings.HasSuffix(req.URL.Path, "/logs") && (req.URL.Query().Get("follow") == "1" || req.URL.Query().Get("timestamps") == "1")
	stream := strings.HasSuffix(req.URL.Path, "/events") || logs
	sent := m.now()
	resp, err := m.base.RoundTrip(req)
	received := m.now()
	m.mu.Lock()
	m.load.Requests++
	if !stream && len(m.load.Latencies) < maxLatencies {
		m.load.Latencies = append(m.load.Latencies, received.Sub(sent))
	}
	if err == nil && !stream {
		m.podman = m.podman || resp.Header.Get("Libpod-Api-Version") != ""
		m.offset.Observe(resp.Header, sent, received)
		if date, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			m.told = date
		}
	}
	m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusNotFound && resp.Header.Get("X-Docker-Container-Path-Stat") != "" {
		resp.StatusCode = http.StatusOK // Podman tells of a link to nothing, and calls it missing
	}
	if resp.StatusCode == http.StatusTooManyRequests {
		_ = resp.Body.Close()
		return nil, throttled(resp)
	}
	body := &boundedBody{meter: m, body: resp.Body, left: m.limit, limit: m.limit, stream: stream}
	if stream {
		body.left, body.limit = maxEvent, maxEvent
	}
	if logs { // whoever reads it bounds its lines
		body.left, body.limit, body.stream = math.MaxInt, math.MaxInt, false
	}
	resp.Body = body
	return resp, nil
}

// throttled is the error for a 429, which comes from a proxy before the engine.
func throttled(resp *http.Response) error {
	wait, err := strconv.Atoi(resp.Header.Get("Retry-After"))
	if err != nil || wait < 0 {
		wait = 0
	}
	return &backend.Error{Kind: backend.ErrThrottled, RetryAfter: time.Duration(wait) * time.Second,
		Err: fmt.Errorf("answered %s", resp.Status)}
}

func (m *readOnlyTransport) takeLoad() backend.Load {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.load
	m.load = backend.Load{}
	return l
}

func (m *readOnlyTransport) clock() (backend.Value[time.Duration], time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.offset.Offset(), m.told
}

func (m *readOnlyTransport) isPodman() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.podman
}

// boundedBody is a body that ends with an error beyond its limit; on a stream the limit is that of one line.
type boundedBody struct {
	meter  *readOnlyTransport
	body   io.ReadCloser
	left   int
	limit  int
	stream bool
}

// Read reads and counts.
func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("%w: more than %d MB", errTooLarge, b.limit>>20)
	}
	if len(p) > b.left {
		p = p[:b.left]
	}
	n, err := b.body.Read(p)
	b.left -= n
	if b.stream {
		if i := bytes.LastIndexByte(p[:n], '\n'); i >= 0 {
			b.left = b.limit - (n - 1 - i)
		}
	}
	b.meter.mu.Lock()
	b.meter.load.Bytes += int64(n)
	b.meter.mu.Unlock()
	return n, err
}

// Close closes the body.
func (b *boundedBody) Close() error { return b.body.Close() }
