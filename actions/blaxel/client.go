package blaxel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/wire"
)

// operation performs a verb on a sandbox that was just found as the plan saw it.
type operation func(c *client, ctx context.Context, t actions.Target) (actions.Done, error)

// effect performs one verb during one run.
type effect struct {
	factory *factory
	do      operation
	told    func(actions.Step)
}

// Tell is called with each thing that is waited for.
func (e *effect) Tell(told func(actions.Step)) { e.told = told }

// Close has nothing to release.
func (e *effect) Close() error { return nil }

// Do reads the sandbox's own record once more, which wakes nothing, compares it with the plan, and acts.
func (e *effect) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	c, err := e.factory.client(ctx, t, e.told)
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was sent: %w", err)
	}
	defer func() { _ = c.actor.Close() }() // idle connections; nothing is lost
	r, err := c.control(ctx, http.MethodGet, c.path)
	switch {
	case err != nil:
		return actions.Done{}, fmt.Errorf("nothing was done, its own record cannot be read: %w", err)
	case r.refusal != nil && r.refusal.Gone():
		return actions.Done{}, &actions.ChangedError{What: backend.Text("the platform has no such sandbox any more")}
	case r.refusal != nil:
		return actions.Done{}, fmt.Errorf("nothing was done, its own record cannot be read: %s", c.said(r.refusal))
	}
	doc, err := wire.Parse(r.body)
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was done, its own record cannot be read: %w", err)
	}
	status, _ := doc.Root().Get("status").Text()
	c.read, c.age = r.took, starting
	made, _ := doc.Root().Get("metadata").Get("createdAt").Text()
	if at, err := time.Parse(time.RFC3339, made); err == nil {
		c.age = e.factory.now().Sub(at)
		if was := fact(t, actions.FactCreated); was != "" && was != actions.Born(at) {
			return actions.Done{}, &actions.ChangedError{What: backend.Textf("it is another one of the same name, created at %s", c.clean(actions.Born(at), 40))}
		}
	}
	if is := c.clean(status, 60); is.String() != fact(t, factStatus) {
		return actions.Done{}, &actions.ChangedError{What: backend.Textf("it is reported %s now", is)}
	}
	done, err := e.do(c, ctx, t)
	return c.withLimit(done), err
}

func fact(t actions.Target, name string) string {
	for _, f := range t.Identity {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// client sends the requests about one sandbox.
type client struct {
	factory *factory
	actor   *wire.Actor
	path    string // of the sandbox, below the control plane
	inside  string // where its own server is; empty: not known
	told    func(actions.Step)
	read    time.Duration    // how long its own record took
	age     time.Duration    // since it was made
	waking  *sandbox.Refusal // of the first request, where that was sent again
	unready time.Duration    // how long it was sent again without another answer, until the wait was over; zero: it was not over
	answers int              // of the server in it
	usedUp  *sandbox.Refusal // of the newest answer for the usage limit of the workspace; nil: that was another one
}

// client makes one for a target. The key goes to the control plane, and to the address of the sandbox where that is allowed.
func (f *factory) client(ctx context.Context, t actions.Target, told func(actions.Step)) (*client, error) {
	c := &client{factory: f, path: "/sandboxes/" + url.PathEscape(t.Key.ID.Raw()), told: told}
	origins := []string{f.site.URL}
	if at := fact(t, factAddress); at != "" {
		address, err := sandbox.Address(at, f.site.URL, f.site.Hosts)
		if err != nil {
			return nil, err
		}
		c.inside, origins = address, append(origins, address)
	}
	var err error
	if c.actor, err = wire.NewActor(wire.Config{Origins: origins, Credential: f.site.Key, Key: f.site.Login}, f.deps); err != nil {
		return nil, err
	}
	return c, c.actor.Unlock(ctx)
}

// answer is an answer of the control plane or of a sandbox.
type answer struct {
	body    []byte
	refusal *sandbox.Refusal // of an answer that is no success
	took    time.Duration
	silent  bool // our own deadline ended it, and not a byte came
}

// control sends one request to the control plane.
func (c *client) control(ctx context.Context, method, path string) (answer, error) {
	return c.send(ctx, c.factory.site.URL, sandbox.Call{Method: method, Path: path}, c.factory.reads)
}

var errNoAddress = errors.New("no address of its own server is known")

// maxAnswer bounds an answer: a list of processes has the ends of all their output.
const maxAnswer = 32 << 20

// ask sends one request to the server in the sandbox.
func (c *client) ask(ctx context.Context, call sandbox.Call, within time.Duration) (answer, error) {
	if c.inside == "" {
		return answer{}, errNoAddress
	}
	a, err := c.send(ctx, c.inside, call, within)
	if err == nil && (a.refusal == nil && isJSON(a.body) || a.refusal != nil && a.refusal.Heard()) {
		c.answers++
	}
	if err == nil {
		c.met(a.refusal)
	}
	return a, err
}

// isJSON tells an answer of that server from a web page of what stands before it.
func isJSON(body []byte) bool {
	body = bytes.TrimSpace(body)
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

func (c *client) send(ctx context.Context, base string, call sandbox.Call, within time.Duration) (answer, error) {
	bounded, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	o := wire.Order{Method: call.Method, URL: strings.TrimRight(base, "/") + call.Path, Header: c.factory.site.Header(), Body: call.Body}
	maps.Copy(o.Header, call.Header)
	began := c.factory.now()
	var r *wire.Reply
	var size int64
	var err error
	if call.Method == http.MethodGet { // which can be large
		var body bytes.Buffer
		if r, size, err = c.actor.Fetch(bounded, o, &body, maxAnswer); err == nil && r.Body == nil {
			r.Body = body.Bytes()
		}
	} else {
		r, err = c.actor.Send(bounded, o)
	}
	a := answer{took: c.factory.now().Sub(began)}
	if err != nil {
		a.silent = silent(ctx, bounded, err, size, call.Method != http.MethodGet)
		return a, err
	}
	a.body = r.Body
	if r.Status < 200 || r.Status > 299 {
		refusal := sandbox.ReadRefusal(r.Status, r.Header, r.Body)
		refusal.Took = a.took
		a.refusal = &refusal
	}
	return a, nil
}

// first lists the root, which the agent's own liveness check does too. A read is sent again while the sandbox wakes.
func (c *client) first(ctx context.Context) (answer, error) {
	call, err := sandbox.List("/")
	if err != nil {
		return answer{}, err
	}
	began := c.factory.now()
	end := began.Add(c.factory.wakes)
	for pause := c.factory.pause; ; pause = min(2*pause, c.factory.reads) {
		c.waits("sandbox", c.factory.reads)
		a, err := c.ask(ctx, call, c.factory.reads)
		c.waited("sandbox", &a, err)
		if err != nil || a.refusal == nil || !a.refusal.Meaning().Again() {
			return a, err
		}
		if now := c.factory.now(); now.Add(pause).After(end) {
			c.unready = now.Sub(began)
			return a, nil
		}
		if c.waking == nil {
			c.waking = a.refusal
		}
		c.told(actions.Step{Name: backend.Text("sandbox"), Result: actions.StepStarting, Said: backend.Textf("%s; asked again in %s", backend.Clean(c.said(a.refusal), 200), backend.Age(pause))})
		if !sleep(ctx, pause) {
			return a, nil
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *client) clean(raw string, limit int) backend.Safe {
	return c.actor.Cleaner().Clean(strings.TrimSpace(raw), limit)
}

const maxCommand = 400

// command is a command, masked as a whole. One that is too long is cut in its middle: that of a save names its archive behind all that it
// leaves out.
func (c *client) command(raw string) backend.Safe {
	const tail = 160
	text := c.clean(raw, 9*len(raw)+1)
	if whole := []rune(text.String()); len(whole) > maxCommand {
		return backend.Textf("%s…%s", string(whole[:maxCommand-tail-1]), string(whole[len(whole)-tail:]))
	}
	return text
}

// said is a refusal in words, with what it means.
func (c *client) said(r *sandbox.Refusal) string {
	s := c.clean(r.Text(), 300).String()
	if means := r.Meaning().Said(); means != "" {
		s += "; " + means
	}
	return s
}

// lost is the error of an order without an answer.
func lost(err error) error {
	var l *wire.LostError
	if errors.As(err, &l) {
		return &actions.UncertainError{Err: l}
	}
	return fmt.Errorf("nothing was sent: %w", err)
}

// refused is the error of an order that a sandbox did not accept.
func (c *client) refused(r *sandbox.Refusal) error { return refusedAs(r, c.said(r)) }

// refusedByPlatform is the error of an order that the control plane did not accept, which tells nothing of the sandbox.
func (c *client) refusedByPlatform(r *sandbox.Refusal) error {
	return refusedAs(r, "the platform "+c.clean(r.Text(), 300).String())
}

// refusedAs is an error in words. After some answers nobody knows whether the order was carried out.
func refusedAs(r *sandbox.Refusal, said string) error {
	if slices.Contains([]sandbox.Meaning{sandbox.MeansTransient, sandbox.MeansBroken, sandbox.MeansEdgeLimit, sandbox.MeansUnknown}, r.Meaning()) && r.Status >= 500 || r.Status == http.StatusRequestTimeout {
		return &actions.UncertainError{Err: errors.New(said)}
	}
	return errors.New(said)
}

// uncertain reports whether an order may have been carried out although its answer does not say so.
func uncertain(err error) bool {
	var u *actions.UncertainError
	return errors.As(err, &u)
}
