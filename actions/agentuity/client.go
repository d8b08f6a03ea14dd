package agentuity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/wire"
)

// client sends requests to one base.
type client struct {
	factory   *factory
	actor     *wire.Actor
	base, org string
	header    http.Header
}

// reply is an answer as it is judged.
type reply struct {
	*wire.Reply
	root, data    wire.Node
	message, code string
	trace         string
}

func (c *client) clean(raw string, limit int) backend.Safe {
	return c.actor.Cleaner().Clean(raw, limit)
}

// send sends one request, once. An answer of any status is no error.
func (c *client) send(ctx context.Context, method, path string, query url.Values, body any) (*reply, error) {
	if query == nil {
		query = url.Values{}
	}
	if c.org != "" && c.header.Get(headerOrg) == "" {
		query.Set("orgId", c.org)
	}
	order := wire.Order{Method: method, URL: c.base + path, Header: c.header}
	if len(query) > 0 {
		order.URL += "?" + query.Encode()
	}
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		order.Body = b
	}
	r, err := c.actor.Send(ctx, order)
	if err != nil {
		return nil, err
	}
	return read(r), nil
}

// headerOrg carries the organisation on the Hub's routes.
const headerOrg = "x-agentuity-orgid"

// read takes an answer apart. Bodies carry any of message, error and code; some answers have their data beside them.
func read(r *wire.Reply) *reply {
	out := &reply{Reply: r, trace: r.Header.Get("x-session-id")}
	doc, err := wire.Parse(r.Body)
	if err != nil {
		out.message = r.Text.String()
		return out
	}
	out.root = doc.Root()
	out.data = out.root
	if d := out.root.Get("data"); d.Kind() == '{' {
		out.data = d
	}
	out.message, _ = out.root.Get("message").Text()
	out.code, _ = out.root.Get("code").Text()
	if out.message == "" {
		out.message, _ = out.root.Get("error").Text()
	}
	return out
}

func (r *reply) text(name string) string {
	t, _ := r.data.Get(name).Text()
	return t
}

// ok reports whether the platform says that it did it.
func (r *reply) ok() bool {
	refused, is := r.root.Get("success").Bool()
	return r.Status >= 200 && r.Status <= 299 && (!is || refused)
}

// said is what the platform answered, with the trace that its support asks for.
func (c *client) said(r *reply) string {
	s := "answered " + strconv.Itoa(r.Status)
	if name := http.StatusText(r.Status); name != "" {
		s += " " + name
	}
	if r.message != "" {
		s += ": " + c.clean(r.message, 300).String()
	}
	if r.trace != "" {
		s += " (trace " + backend.Clean(r.trace, 80).String() + ")"
	}
	return s
}

// refusal is the error of an answer that is no success. After a server error nobody knows whether the order was carried out.
func (c *client) refusal(r *reply) error {
	said := c.said(r)
	switch {
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden:
		return fmt.Errorf("%s; check the acting key ([source.act]): some routes take CLI keys only; a sandbox of another region or organisation is refused alike: find it with agentuity cloud sandbox get", said)
	case r.Status == http.StatusMisdirectedRequest:
		return fmt.Errorf("%s; %s", said, c.factory.source.RegionStep(r.Header.Get("x-agentuity-region")))
	case r.RetryAfter > 0:
		return fmt.Errorf("%s; the platform asks to wait %v", said, r.RetryAfter)
	case r.Status >= 500 && r.Status != http.StatusNotImplemented && r.Status != http.StatusServiceUnavailable:
		return &actions.UncertainError{Err: errors.New(said)}
	}
	return errors.New(said)
}

// lost is the error of a request without an answer.
func lost(err error) error {
	var l *wire.LostError
	if errors.As(err, &l) {
		return &actions.UncertainError{Err: l}
	}
	return fmt.Errorf("nothing was sent: %w", err)
}

func (c *client) now() time.Time { return c.factory.deps.Now() }

func (c *client) close() error { return c.actor.Close() }

// segment is an id as a part of a path. One that would be a step in the tree is refused by the platform then.
func segment(id backend.ID) string {
	if raw := id.Raw(); raw != "." && raw != ".." && raw != "" {
		return url.PathEscape(raw)
	}
	return "no-such-id"
}

// mountGone reports whether a text says that the filesystem of a sandbox is not mounted any more (agentuity/sdk#1350).
func mountGone(text string) bool {
	low := strings.ToLower(text)
	return strings.Contains(low, "no such file or directory") && (strings.Contains(low, "cow-merged") || strings.Contains(low, "/working/sandbox/"))
}
