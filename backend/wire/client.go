package wire

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
)

// DefaultMaxBody bounds a decoded body where the configuration does not.
const DefaultMaxBody = 64_000_000

const (
	maxHeaderBytes  = 64 << 10
	maxErrorBody    = 64 << 10 // of an answer that is not 2xx
	maxLatencies    = 64       // what backend.Load carries
	maxConnsPerHost = 16
)

// Config is what a source says about its HTTP side.
type Config struct {
	// Origins are the configured URLs (any path) of the source; the credential is sent to their origins and to no other.
	Origins    []string
	Credential Credential
	// Key reads the credential from a place that a Credential cannot name, such as a vendor's own file; nil: there is none.
	Key     func() (string, error)
	MaxBody int64   // bytes, decoded; 0 means DefaultMaxBody
	Budget  *Budget // told about every answer; nil for sources that send one request a poll
}

// Client sends the requests of one source. It is safe for concurrent use.
type Client struct {
	cfg     Config
	deps    backend.Deps
	http    *http.Client
	base    *http.Transport // below what watches it
	origins []string
	secret  *secretStore

	mu    sync.Mutex
	load  backend.Load
	clock Clock
	dates map[string]*routeDates // by route
}

// Request is one GET.
type Request struct {
	URL    string      // absolute, http or https, without user information
	Header http.Header // sent as they are
	Accept string      // the Accept header; empty means application/json
	ETag   string      // sent as If-None-Match
	// Route names what is asked for when many URLs are one route; empty means the URL without its query.
	Route string
	// MaxBody overrides the client's limit when it is above zero.
	MaxBody int64
	// Buffer is reused for the body when it is large enough; the body is then valid until its owner reuses it.
	Buffer []byte
}

// Response is an answer that the caller has to judge: any 2xx, 404, and 304 when an ETag was sent.
type Response struct {
	Status      int
	Header      http.Header
	Body        []byte // decoded
	ETag        string
	NotModified bool
	At          time.Time     // our clock when the answer was complete, or when the body was made that is served again
	Latency     time.Duration // from sending to the end of the body
	Where       string        // the URL, fit for error texts: without query values
}

// New builds a client. It opens no connection and reads no credential yet; it fails on URLs that are not absolute
// http(s) URLs, on user information in them, and on an incomplete Deps.
func New(cfg Config, deps backend.Deps) (*Client, error) {
	if deps.Dial == nil || deps.Now == nil {
		return nil, errors.New("wire: a client needs a dialler and a clock")
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = DefaultMaxBody
	}
	if deps.Deadline <= 0 {
		deps.Deadline = 10 * time.Second
	}
	if deps.Cleaner == nil {
		deps.Cleaner = backend.NewCleaner()
	}
	deps.Cleaner = deps.Cleaner.With(ConfiguredSecrets(nil, cfg.Origins...)...)
	c := &Client{cfg: cfg, deps: deps, secret: &secretStore{cfg: cfg.Credential, key: cfg.Key, deps: deps, clean: deps.Cleaner}}
	for _, raw := range cfg.Origins {
		u, err := ParseURL(raw)
		if err != nil {
			return nil, err
		}
		c.origins = append(c.origins, origin(u))
	}
	c.base = &http.Transport{
		Proxy:                  nil, // an inherited proxy would see the credential
		DialContext:            deps.Dial,
		DisableCompression:     true, // gzip is undone here, under the limit
		ForceAttemptHTTP2:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
		MaxConnsPerHost:        maxConnsPerHost,
		MaxIdleConnsPerHost:    maxConnsPerHost,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    deps.Deadline,
	}
	c.http = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	c.watch(false)
	return c, nil
}

// watch puts what watches the requests before the transport.
func (c *Client) watch(acts bool) {
	c.http.Transport = c.deps.Recorded(c.base, acts)
	if c.deps.Tap != nil {
		c.http.Transport = c.deps.Tap(c.http.Transport)
	}
}

// ParseURL accepts absolute http and https URLs without user information or fragment.
func ParseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("not a URL") // url.Parse quotes its input, which may hold a secret
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("not an absolute http or https URL")
	case u.User != nil:
		return nil, errors.New("the URL holds a user or password; put credentials into a table of their own (read, act)")
	case u.Fragment != "":
		return nil, errors.New("the URL has a fragment (#…), which is never sent")
	}
	return u, nil
}

// Close ends idle connections.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Get sends one GET within the deadline of one request. Errors are *backend.Error; their text holds no credential and
// no query value. A status that the caller cannot judge is an error too, with a *StatusError in its chain.
func (c *Client) Get(ctx context.Context, r Request) (*Response, error) {
	return c.send(ctx, http.MethodGet, r, nil)
}

// send sends one request that changes nothing.
func (c *Client) send(ctx context.Context, method string, r Request, body []byte) (*Response, error) {
	u, err := ParseURL(r.URL)
	if err != nil {
		return nil, c.fail(backend.ErrInvalid, "", err)
	}
	where := redact(u)
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	req, err := c.build(ctx, method, u, r)
	if err != nil {
		kind := backend.KindOf(err)
		var e *backend.Error
		if errors.As(err, &e) {
			err = e.Err // the place is named once
		}
		return nil, c.fail(kind, where, err)
	}
	if body != nil {
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	start := c.deps.Now()
	answer, err := c.http.Do(req)
	if err != nil {
		c.count(0, c.deps.Now().Sub(start))
		c.observe(0, c.deps.Now().Sub(start), 0)
		return nil, c.transportError(ctx, where, err, 0)
	}
	defer answer.Body.Close()
	headed := c.deps.Now()
	resp, err := c.read(ctx, answer, r, where)
	end := c.deps.Now()
	resp.At, resp.Latency = end, end.Sub(start)
	c.count(int64(len(resp.Body)), resp.Latency)
	if age := c.aged(cmp.Or(r.Route, where), answer.Header, headed); age > 0 {
		resp.At = end.Add(-age)
	} else {
		c.dated(answer.Header, start, headed)
	}
	retry := retryAfter(answer.Header, end)
	c.observe(answer.StatusCode, resp.Latency, retry)
	if err != nil {
		return nil, err
	}
	if err := c.judge(resp, r, retry); err != nil {
		return nil, err
	}
	return resp, nil
}

// build makes the request; the credential goes to configured origins only.
func (c *Client) build(ctx context.Context, method string, u *url.URL, r Request) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, backend.Errorf(backend.ErrInvalid, "", "this URL cannot be requested")
	}
	for k, vs := range r.Header {
		for _, v := range vs {
			if !HeaderText(v) {
				return nil, backend.Errorf(backend.ErrInvalid, "", "the value of header %s holds a control character", k)
			}
			req.Header.Add(k, v)
		}
	}
	req.Header.Set("Accept", "application/json")
	if r.Accept != "" {
		req.Header.Set("Accept", r.Accept)
	}
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("User-Agent", "sandglass")
	if r.ETag != "" {
		req.Header.Set("If-None-Match", r.ETag)
	}
	if !slices.Contains(c.origins, origin(u)) {
		return req, nil
	}
	name, value, err := c.secret.header(ctx)
	if err != nil {
		return nil, err
	}
	if name != "" {
		req.Header.Set(name, value)
	}
	return req, nil
}

// TakeLoad returns what the requests since the last call cost, and starts anew.
func (c *Client) TakeLoad() backend.Load {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.load
	l.BodyAge, l.BodyBy, l.BodyWhere, l.BodyDate = c.oldestBody()
	c.load = backend.Load{}
	return l
}

// Offset is the server's clock minus ours by its Date headers; unknown until an answer carried one.
func (c *Client) Offset() backend.Value[time.Duration] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.clock.Offset()
}

// Cleaner masks the source's own credential too, whatever its present value.
func (c *Client) Cleaner() *backend.Cleaner { return c.secret.cleaner() }

func (c *Client) count(bytes int64, latency time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := c.load.Requests; n < maxLatencies {
		c.load.Latencies = append(c.load.Latencies, latency)
	} else {
		c.load.Latencies[n%maxLatencies] = latency
	}
	c.load.Requests++
	c.load.Bytes += bytes
}

func (c *Client) dated(h http.Header, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock.Observe(h, sent, received)
}

func (c *Client) observe(status int, latency, retry time.Duration) {
	if c.cfg.Budget != nil {
		c.cfg.Budget.Observe(status, latency, retry)
	}
}

func (c *Client) fail(kind backend.ErrorKind, where string, err error) *backend.Error {
	return &backend.Error{Kind: kind, Source: c.deps.ID, Where: where, Err: c.masked(err)}
}

// masked rewrites an error's text without our credential; the chain is kept for errors.As.
func (c *Client) masked(err error) error {
	text := err.Error()
	if clean := c.Cleaner().Mask(text); clean != text {
		return maskedError{text: clean, err: err}
	}
	return err
}

type maskedError struct {
	text string
	err  error
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.err }

// boundKey finds in a context how long its request may take.
type boundKey struct{}

// bounded ends a request after the deadline of the source, or earlier where its caller gave it less.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	within := c.deps.Deadline
	if at, is := ctx.Deadline(); is {
		if left := at.Sub(c.deps.Now()); left > 0 && left < within {
			within = wholeSeconds(left)
		}
	}
	return context.WithTimeout(context.WithValue(ctx, boundKey{}, within), c.deps.Deadline)
}

// wholeSeconds is a time that is left, as its caller gave it.
func wholeSeconds(left time.Duration) time.Duration {
	if left > time.Second {
		return left.Round(time.Second)
	}
	return left
}

// transportError classifies what net/http returned. Its own text quotes the whole URL, so only the cause is kept.
func (c *Client) transportError(ctx context.Context, where string, err error, got int64) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	var ne net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &ne) && ne.Timeout(),
		errors.Is(ctx.Err(), context.DeadlineExceeded):
		within, is := ctx.Value(boundKey{}).(time.Duration)
		if !is {
			within = c.deps.Deadline
		}
		return c.fail(backend.ErrTimeout, where,
			maskedError{fmt.Sprintf("no complete answer within %s (%d bytes came)", backend.Duration(within), got), context.DeadlineExceeded})
	case errors.Is(err, context.Canceled):
		return c.fail(backend.ErrTimeout, where, fmt.Errorf("the poll was ended: %w", err))
	case strings.Contains(err.Error(), "server response headers exceeded"):
		return c.fail(backend.ErrInvalid, where, fmt.Errorf("response headers larger than %d bytes", maxHeaderBytes))
	}
	return c.fail(backend.ErrUnreachable, where, backend.PlainNetError(err))
}

// origin is scheme, host and port, in one spelling.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// redact writes a URL for error texts: query values can be secrets, so only the fact that there is a query stays.
func redact(u *url.URL) string {
	s := u.Scheme + "://" + u.Host + u.EscapedPath()
	if u.RawQuery != "" {
		s += "?…"
	}
	return s
}
