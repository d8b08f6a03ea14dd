package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"sandglass/backend"
)

// Actor sends requests that change something. Only packages below actions make one; adapters read. It sends each
// request once: connections are not reused, so that the transport has no reason to send anything again by itself.
type Actor struct{ c *Client }

// NewActor builds an Actor. It opens no connection and reads no credential.
func NewActor(cfg Config, deps backend.Deps) (*Actor, error) {
	c, err := New(cfg, deps)
	if err != nil {
		return nil, err
	}
	c.base.DisableKeepAlives, c.base.ForceAttemptHTTP2 = true, false
	c.watch(true)
	return &Actor{c: c}, nil
}

// Order is one request of an Actor.
type Order struct {
	Method string
	URL    string // absolute, http or https, without user information
	Header http.Header
	Body   []byte // sent as it is; nil: none
}

// Reply is an answer, whatever its status.
type Reply struct {
	Status     int
	Text       backend.Safe  // the beginning of the body, if it is text for people or programs
	RetryAfter time.Duration // 0: the server did not say
	Redirect   string        // the host that a redirect, which is not followed, leads to
	Header     http.Header
	Body       []byte // at most 64 kB
}

// LostError says that a request may have reached the server and that no answer came back.
type LostError struct{ Err error }

// Error says what was lost.
func (e *LostError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// Unlock reads the credential, so that one that is missing is found before anything is sent.
func (a *Actor) Unlock(ctx context.Context) error {
	_, _, err := a.c.secret.header(ctx)
	return err
}

// Send sends a request within the deadline of one request. An answer of any status is no error. A *LostError says that
// nobody knows whether the request was carried out; with any other error nothing was sent.
func (a *Actor) Send(ctx context.Context, o Order) (*Reply, error) {
	c := a.c
	u, err := ParseURL(o.URL)
	if err != nil {
		return nil, c.fail(backend.ErrInvalid, "", err)
	}
	where := redact(u)
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	// From the moment a connection is there, any part of the request may be on its way.
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }})
	req, err := c.build(traced, o.Method, u, Request{Header: o.Header})
	if err != nil {
		kind := backend.KindOf(err)
		var e *backend.Error
		if errors.As(err, &e) {
			err = e.Err // the place is named once
		}
		return nil, c.fail(kind, where, err)
	}
	if o.Body != nil {
		// A reader that net/http does not know cannot be sent a second time.
		req.Body, req.ContentLength = onceReader{bytes.NewReader(o.Body)}, int64(len(o.Body))
	}
	answer, err := c.http.Do(req)
	if err != nil {
		err = c.transportError(ctx, where, err, 0)
		if connected.Load() {
			return nil, &LostError{err}
		}
		return nil, err
	}
	defer answer.Body.Close()
	resp, _ := c.read(ctx, answer, Request{MaxBody: maxErrorBody}, where) // the status says it all; the body only explains
	reply := &Reply{Status: answer.StatusCode, Text: c.excerpt(resp), Header: answer.Header, Body: resp.Body, RetryAfter: retryAfter(answer.Header, c.deps.Now())}
	if to := answer.Header.Get("Location"); to != "" && reply.Status >= 300 && reply.Status < 400 {
		reply.Redirect = redirectHost(o.URL, to)
	}
	if reply.Status == http.StatusUnauthorized || reply.Status == http.StatusForbidden {
		c.secret.forget()
	}
	return reply, nil
}

// Fetch sends an order whose answer is a file, and copies that to a writer, at most limit bytes. The answer of another status
// than 2xx is a Reply and nothing is copied.
func (a *Actor) Fetch(ctx context.Context, o Order, to io.Writer, limit int64) (reply *Reply, size int64, err error) {
	c := a.c
	u, err := ParseURL(o.URL)
	if err != nil {
		return nil, 0, c.fail(backend.ErrInvalid, "", err)
	}
	where := redact(u)
	if at, is := ctx.Deadline(); is {
		if left := at.Sub(c.deps.Now()); left > 0 {
			ctx = context.WithValue(ctx, boundKey{}, wholeSeconds(left))
		}
	}
	req, err := c.build(ctx, o.Method, u, Request{Header: o.Header, Accept: "*/*"})
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	answer, err := c.http.Do(req)
	if err != nil {
		return nil, 0, c.transportError(ctx, where, err, 0)
	}
	defer answer.Body.Close()
	reply = &Reply{Status: answer.StatusCode, Header: answer.Header, RetryAfter: retryAfter(answer.Header, c.deps.Now())}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		resp, _ := c.read(ctx, answer, Request{MaxBody: maxErrorBody}, where) // the status says it all; the body only explains
		reply.Text, reply.Body = c.excerpt(resp), resp.Body
		return reply, 0, nil
	}
	size, err = io.Copy(to, &bounded{r: answer.Body, left: limit})
	switch {
	case errors.Is(err, errTooLarge):
		return reply, size, c.fail(backend.ErrInvalid, where, fmt.Errorf("the file is larger than %s", sizeText(limit)))
	case err != nil:
		return reply, size, c.bodyError(ctx, where, err, size)
	}
	return reply, size, nil
}

// Cleaner masks the acting credential too.
func (a *Actor) Cleaner() *backend.Cleaner { return a.c.Cleaner() }

// Close ends connections and drops the credential.
func (a *Actor) Close() error {
	a.c.secret.drop()
	return a.c.Close()
}

type onceReader struct{ *bytes.Reader }

// Close releases nothing.
func (onceReader) Close() error { return nil }
