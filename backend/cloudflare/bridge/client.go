package bridge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Site is where a bridge is.
type Site struct {
	URL string // of the Worker
	Key wire.Credential
	// Ops is the prefix of the operator routes in the same Worker; empty: it has none.
	Ops string
}

// Client reads what can be read of a bridge without starting a container.
type Client struct {
	site        Site
	keyed, bare *wire.Client
	prefix      string
}

// New builds a client. It opens no connection and reads no credential.
func New(site Site, deps backend.Deps) (*Client, error) {
	deps.Deadline = ReadWithin
	keyed, err := wire.New(wire.Config{Origins: []string{site.URL}, Credential: site.Key, MaxBody: 4_000_000}, deps)
	if err != nil {
		return nil, err
	}
	bare, err := wire.New(wire.Config{Origins: []string{site.URL}, MaxBody: 64_000}, deps)
	if err != nil {
		return nil, err
	}
	return &Client{site: site, keyed: keyed, bare: bare, prefix: strings.TrimRight(site.URL, "/")}, nil
}

// Close ends idle connections.
func (c *Client) Close() error { return errors.Join(c.keyed.Close(), c.bare.Close()) }

// TakeLoad is what the requests since the last call cost.
func (c *Client) TakeLoad() backend.Load { return c.keyed.TakeLoad() }

// Offset is the clock of the bridge minus ours.
func (c *Client) Offset() backend.Value[time.Duration] { return c.keyed.Offset() }

// HasOps reports whether operator routes are configured.
func (c *Client) HasOps() bool { return c.site.Ops != "" }

var errActs = errors.New("only actions send what may start a container")

// get sends a passive call. An answer that is no success is an error.
func (c *Client) get(ctx context.Context, with *wire.Client, call Call, within time.Duration) ([]byte, error) {
	if !call.Passive || call.Method != http.MethodGet {
		return nil, errActs
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	r, err := with.Get(ctx, wire.Request{URL: c.prefix + call.Path, Header: call.Header})
	switch {
	case err != nil:
		return nil, err
	case r.Status != http.StatusOK:
		return nil, backend.Errorf(backend.ErrInvalid, r.Where, "answered %d", r.Status)
	}
	return r.Body, nil
}

// Health reports whether the Worker has its bindings, and which it misses. It says nothing about containers.
func (c *Client) Health(ctx context.Context) (ok bool, missing []backend.Safe, err error) {
	body, err := c.get(ctx, c.bare, Health(), HealthWithin)
	var refused *wire.StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusServiceUnavailable {
		body, err = refused.Body, nil
	}
	if err != nil {
		return false, nil, err
	}
	ok, names, err := ReadHealth(body)
	for _, n := range names {
		missing = append(missing, c.keyed.Cleaner().Clean(n, 200))
	}
	return ok, missing, err
}

// Pool reads the counts.
func (c *Client) Pool(ctx context.Context) (Pool, error) {
	body, err := c.get(ctx, c.keyed, Stats(), ReadWithin)
	if err != nil {
		return Pool{}, err
	}
	return ReadPool(body)
}

// Features reads which routes there are.
func (c *Client) Features(ctx context.Context) (Features, error) {
	body, err := c.get(ctx, c.keyed, Schema(), ReadWithin)
	if err != nil {
		return Features{}, err
	}
	return ReadFeatures(body)
}

// Open reports whether the bridge answers without a key, to anybody. It is unknown where that cannot be told.
func (c *Client) Open(ctx context.Context) backend.Value[bool] {
	body, err := c.get(ctx, c.bare, Stats(), HealthWithin)
	var refused *wire.StatusError
	switch {
	case err == nil:
		if _, err := ReadPool(body); err != nil {
			return backend.Unknown[bool]()
		}
		return backend.Known(true)
	case errors.As(err, &refused) && refused.Status == http.StatusUnauthorized:
		return backend.Known(false)
	}
	return backend.Unknown[bool]()
}

// OpenWarning is what an open bridge means.
const OpenWarning = backend.Literal("the bridge answers without a key: all who know its address can run commands in every sandbox; set SANDBOX_API_KEY in its Worker")

// mostPages bounds the pages of one list.
const mostPages = 50

// Boxes lists the sandboxes through the operator routes. whole is false where pages are missing: then absence says nothing.
func (c *Client) Boxes(ctx context.Context) (all []Box, whole bool, err error) {
	cursor, left := "", 0
	seen := map[string]bool{}
	for range mostPages {
		body, err := c.get(ctx, c.keyed, Ops{c.site.Ops}.List(cursor), ReadWithin)
		if err != nil {
			return all, false, err
		}
		page, next, unread, err := ReadBoxes(body)
		if err != nil {
			return all, false, fmt.Errorf("the operator route %s: %w", Ops{c.site.Ops}.at("/sandboxes"), err)
		}
		all, left = append(all, page...), left+unread
		switch {
		case next == "":
			return all, left == 0, nil
		case seen[next]:
			return all, false, nil
		}
		seen[next], cursor = true, next
	}
	return all, false, nil
}
