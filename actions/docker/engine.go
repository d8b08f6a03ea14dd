package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
)

// maxBody bounds one answer; an inspection is a few kB.
const maxBody = 4 << 20

// reader reads one engine. Its client refuses every method but GET and HEAD.
type reader struct {
	api     *client.Client
	factory *clientFactory
}

// mutatingClient changes the containers of one engine.
type mutatingClient struct {
	reader
	terminal actions.Terminal // of the person, for a shell; nil: there is none
}

var errReads = errors.New("only GET and HEAD are allowed while a plan is made")

// read makes a reader. Nothing is sent.
func (f *clientFactory) read() (*reader, error) {
	api, err := f.client(client.WithHTTPRequestHook(func(req *http.Request) error {
		if req.Method != http.MethodGet && req.Method != http.MethodHead {
			return errReads
		}
		return nil
	}))
	return &reader{api, f}, err
}

// open makes the client that acts. Nothing is sent.
func (f *clientFactory) open() (*mutatingClient, error) {
	api, err := f.client(nil)
	return &mutatingClient{reader: reader{api, f}}, err
}

func (f *clientFactory) client(more client.Opt) (*client.Client, error) {
	host, version, c, err := f.source.Endpoint()
	if err != nil {
		return nil, err
	}
	return client.New(client.WithHost(host), client.WithHTTPClient(c), client.WithAPIVersion(version), client.WithUserAgent("sandglass"),
		client.WithHTTPRequestHook(f.asked), client.WithHTTPResponseHook(answered), more)
}

func (r *reader) close() error { return r.api.Close() }

// cli is the client that commands in texts begin with.
func (r *reader) cli() backend.Safe {
	return r.factory.deps.Cleaner.Clean(r.factory.source.ClientCommand(), 300)
}

// deadline is how long one request may take.
func (r *reader) deadline() time.Duration {
	return cmp.Or(max(r.factory.deps.Deadline, 0), 10*time.Second)
}

// words are an error's, without what only the library adds, masked and bounded.
func (r *reader) words(err error) backend.Safe {
	return r.factory.deps.Cleaner.Clean(strings.TrimPrefix(err.Error(), "Error response from daemon: "), 400)
}

// exchange is what is known of one request and its answer.
type exchange struct {
	sent   atomic.Bool
	status atomic.Int32 // 0: no answer
	path   atomic.Value // string: what the answer tells of a path
	podman atomic.Bool  // Podman answered
	date   atomic.Value // string: when it answered, by its clock

	sending atomic.Pointer[backend.Sending]
}

// lost notes why there is no answer; nil: there is one, and it ends by itself.
func (x *exchange) lost(err error) {
	if err != nil && x.status.Load() == 0 {
		x.sending.Load().End(err)
	}
}

// clock is the engine's time at its answer, zero where it told none.
func (x *exchange) clock() time.Time {
	told, _ := x.date.Load().(string)
	at, err := http.ParseTime(told)
	if err != nil {
		return time.Time{}
	}
	return at
}

type exchangeKey struct{}

// watched puts an exchange into a context.
func watched(ctx context.Context) (context.Context, *exchange) {
	x := &exchange{}
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { x.sent.Store(true) }}), x
}

// pathStat is the header with which an engine tells of a path.
const pathStat = "X-Docker-Container-Path-Stat"

// sendingKey is the context's key of the request in the log of what was sent.
type sendingKey struct{}

// asked notes that a request is sent. The hook of the client library is the only place that also sees those that change their
// protocol.
func (f *clientFactory) asked(req *http.Request) error {
	s := f.deps.SendingRequest(req.Method != http.MethodGet && req.Method != http.MethodHead, req)
	if x, ok := req.Context().Value(exchangeKey{}).(*exchange); ok {
		x.sending.Store(s)
	}
	*req = *req.WithContext(context.WithValue(req.Context(), sendingKey{}, s))
	return nil
}

// answered notes an answer and bounds its body.
func answered(resp *http.Response) {
	if s, ok := resp.Request.Context().Value(sendingKey{}).(*backend.Sending); ok {
		s.Answered(resp.StatusCode) // the library keeps the body from its hooks
		s.Received(int(max(0, resp.ContentLength)))
		s.End(nil)
	}
	if x, ok := resp.Request.Context().Value(exchangeKey{}).(*exchange); ok {
		x.status.Store(int32(resp.StatusCode)) // #nosec G115 -- three digits
		x.path.Store(resp.Header.Get(pathStat))
		x.date.Store(resp.Header.Get("Date"))
		x.podman.Store(resp.Header.Get("Libpod-Api-Version") != "")
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxBody), resp.Body}
	}
}

// refusedError is the answer of an engine, or of a proxy before it, that refuses an order.
type refusedError struct {
	status int
	said   string
}

// Error says it.
func (e *refusedError) Error() string { return e.said }

// kind is why nothing is known of the container: the request was refused, slowed down, or failed in the engine.
func (e *refusedError) kind() backend.FailureKind {
	switch {
	case e.status == http.StatusUnauthorized || e.status == http.StatusForbidden:
		return backend.FailUnauthorised
	case e.status == http.StatusTooManyRequests:
		return backend.FailThrottled
	case e.status >= http.StatusInternalServerError:
		return backend.FailControl5xx
	}
	return ""
}

// order sends one request that changes something, once, and gives its failure a meaning: an *actions.ChangedError when
// the container is not there any more, an *actions.UncertainError when it was sent and its outcome is unknown.
// status is that of the answer, 0 without one.
func (m *mutatingClient) order(ctx context.Context, patience time.Duration, do func(context.Context) error) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, x := watched(ctx)
	err = do(ctx)
	x.lost(err)
	status = int(x.status.Load())
	if err == nil {
		return status, nil
	}
	switch {
	case gone(status, err):
		return status, &actions.ChangedError{What: backend.Text("the engine has no such container any more")}
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		return status, &actions.UncertainError{Err: fmt.Errorf("the proxy before the engine answered %d: %s", status, m.words(err))}
	case status >= http.StatusBadRequest:
		return status, &refusedError{status, fmt.Sprintf("the engine refuses: %s", m.words(err))}
	case !x.sent.Load():
		return status, fmt.Errorf("not sent, the engine cannot be reached: %s", m.words(err))
	case errors.Is(err, context.DeadlineExceeded):
		return status, &actions.UncertainError{Err: fmt.Errorf("no answer within %s", backend.Age(patience))}
	}
	return status, &actions.UncertainError{Err: errors.New(m.words(err).String())}
}
