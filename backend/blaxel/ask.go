package blaxel

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/wire"
)

// failure is an answer that is of no use, or no answer.
type failure struct {
	refusal    sandbox.Refusal // its Status is 0 when there was no answer
	retryAfter time.Duration
	err        error // a *backend.Error
}

func (f *failure) is(status int) bool { return f != nil && f.refusal.Status == status }

func (f *failure) refused() bool {
	return f.is(http.StatusUnauthorized) || f.is(http.StatusForbidden)
}

// answer is one JSON answer: a list of either shape, or an object.
type answer struct {
	root  wire.Node
	list  wire.Node         // absent: the answer is no list
	bad   []wire.BadElement // elements of the list that are no valid JSON
	next  string            // cursor of the next page, empty: this was the last one
	more  bool              // it says that there are more rows
	total int64             // how many rows there are at least, as it says; 0: it does not say
	at    time.Time
	where string
}

// get asks one route of the control plane. route is its name without the names of things.
func (s *Source) get(ctx context.Context, route, path string, query url.Values) (*answer, *failure) {
	to := s.opt.URL + path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	site := s.Site()
	resp, err := s.client.Get(ctx, wire.Request{URL: to, Route: s.opt.URL + route, Header: site.Header()})
	if err != nil {
		return nil, s.failed(err)
	}
	if resp.Status == http.StatusNotFound {
		return nil, s.refusal(resp.Status, resp.Header, resp.Body, resp.Where, backend.ErrGone)
	}
	// A version of the API without pages answers a bare list.
	pointer := "/data"
	if bytes.HasPrefix(bytes.TrimLeft(resp.Body, " \t\r\n"), []byte("[")) {
		pointer = ""
	}
	doc, bad, err := wire.ParseList(resp.Body, pointer)
	if err != nil {
		return nil, &failure{refusal: sandbox.Refusal{Status: resp.Status}, err: inside(s.deps.ID, resp.Where, err)}
	}
	out := &answer{root: doc.Root(), bad: bad, at: resp.At, where: resp.Where}
	if n, ok := doc.Find(pointer); ok && n.Kind() == '[' {
		out.list = n
	}
	meta := out.root.Get("meta")
	out.next, _ = meta.Get("nextCursor").Text()
	out.more, _ = meta.Get("hasMore").Bool()
	out.total, _ = number(meta.Get("total"))
	return out, nil
}

// inside names the URL before the place in a body.
func inside(source, where string, err error) error {
	var e *backend.Error
	if errors.As(err, &e) {
		c := *e
		c.Source, c.Where = source, strings.TrimSpace(where+" "+e.Where)
		return &c
	}
	return err
}

// failed reads what the client refused.
func (s *Source) failed(err error) *failure {
	f := &failure{err: err}
	var e *backend.Error
	var status *wire.StatusError
	if errors.As(err, &e) {
		f.retryAfter = e.RetryAfter
	}
	if !errors.As(err, &status) || e == nil {
		return f
	}
	out := s.refusal(status.Status, status.Header, status.Body, e.Where, e.Kind)
	out.retryAfter = e.RetryAfter
	return out
}

func (s *Source) refusal(status int, h http.Header, body []byte, where string, kind backend.ErrorKind) *failure {
	r := sandbox.ReadRefusal(status, h, body)
	text := s.client.Cleaner().Clean(r.Text(), 300).String()
	return &failure{refusal: r, err: &backend.Error{Kind: kind, Source: s.deps.ID, Where: where, Err: errors.New(text)}}
}

// explain says of a failure what it is, where, and the next step.
func (s *Source) explain(f *failure) (kind backend.ErrorKind, where, what string) {
	var e *backend.Error
	kind, what = backend.KindOf(f.err), f.err.Error()
	if errors.As(f.err, &e) {
		where, what = e.Where, e.Err.Error()
	}
	switch {
	case f.is(http.StatusUnauthorized):
		return backend.ErrUnauthorised, where, what + "; check the key (" + s.keyOrigin() + "), and whether it is one of the workspace " + s.opt.Workspace
	case f.is(http.StatusForbidden):
		return backend.ErrUnauthorised, where, what + "; the key (" + s.keyOrigin() + ") may not read this: it needs the scopes sandboxes:list and sandboxes:get of the workspace " + s.opt.Workspace
	case f.is(http.StatusBadRequest) && strings.Contains(f.refusal.Message, "invalid_api_version"):
		return kind, where, what + "; the platform does not know api_version " + s.opt.APIVersion + ": set another one, or leave it empty"
	case f.is(http.StatusPaymentRequired):
		return kind, where, what + "; the workspace has met its usage limit"
	case f.is(http.StatusNotFound) && f.refusal.Waking():
		return backend.ErrUnreachable, where, what + "; it exists and does not answer yet"
	case f.is(http.StatusNotFound):
		return kind, where, what + "; check workspace and url"
	case kind == backend.ErrThrottled:
		return kind, where, what + "; lower requests_per_second, or stop another program with this key"
	case f.refusal.Status >= 500:
		return kind, where, what + "; nothing can be said of the sandboxes until the control plane answers"
	}
	return kind, where, what
}

// keyOrigin says where the key is.
func (s *Source) keyOrigin() string {
	if s.login != nil {
		return "file " + s.login.file
	}
	return s.opt.Read.Origin()
}
