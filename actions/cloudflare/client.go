package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/wire"
)

// client sends calls to one bridge.
type client struct {
	factory *factory
	actor   *wire.Actor
	told    func(actions.Step) // each thing that is waited for
}

// operation performs a verb on the sandbox that the bridge calls id.
type operation func(c *client, ctx context.Context, t actions.Target, id string) (actions.Done, error)

// effect performs one verb during one run.
type effect struct {
	client *client
	verb   actions.Verb
	do     operation
}

// Tell is called with each thing that is waited for.
func (e *effect) Tell(told func(actions.Step)) { e.client.told = told }

// Close drops the key.
func (e *effect) Close() error { return e.client.actor.Close() }

// Do looks which bridge it is and whether the sandbox runs as far as that can be told without starting it, and acts.
func (e *effect) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	c, id := e.client, fact(t, factBridge)
	f, err := c.fits(ctx, e.verb)
	if err != nil {
		return actions.Done{}, err
	}
	if err := c.stillRuns(ctx, t, id); err != nil {
		return actions.Done{}, err
	}
	if f.Preview() {
		return c.look(ctx, id)
	}
	return e.do(c, ctx, t, id)
}

func fact(t actions.Target, name string) string {
	for _, f := range t.Identity {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// fits reads which routes the bridge has. Nothing is sent to one that does not tell, and the 1.0 preview is only read.
func (c *client) fits(ctx context.Context, v actions.Verb) (bridge.Features, error) {
	a, err := c.send(ctx, bridge.Schema(), bridge.ReadWithin)
	switch {
	case err != nil:
		return bridge.Features{}, fmt.Errorf("nothing was done, the bridge does not tell which routes it has: %w", err)
	case a.problem != nil:
		return bridge.Features{}, fmt.Errorf("nothing was done, the bridge does not tell which routes it has: %s", c.said(a.problem))
	}
	f, err := bridge.ReadFeatures(a.body)
	switch {
	case err != nil:
		return bridge.Features{}, fmt.Errorf("nothing was done, the bridge does not tell which routes it has: %w", err)
	case f.Preview() && v == actions.Probe:
	case !f.Refusal().IsEmpty():
		return bridge.Features{}, &actions.UntriedError{Why: f.Refusal()}
	}
	return f, nil
}

// stillRuns asks what tells, without starting anything, whether the sandbox runs, in the container of the plan: the operator routes, else the counts.
func (c *client) stillRuns(ctx context.Context, t actions.Target, id string) error {
	mayStart := fact(t, factRuns) != runsYes // the plan says so
	if c.factory.ops.Prefix != "" {
		b, err := c.box(ctx, id)
		was := fact(t, actions.FactContainer)
		switch {
		case err == nil && was != "" && b.Instance != "" && b.Instance != was && b.Container != was:
			return &actions.ChangedError{What: backend.Text("its container is another one")}
		case mayStart:
			return nil
		case err != nil:
			return fmt.Errorf("nothing was done, the operator routes do not tell whether it runs: %w", err)
		}
		if runs, known := b.Runs(); known && !runs {
			return &actions.ChangedError{What: backend.Textf("its object is %s now", c.clean(b.State, 60))}
		}
		return nil
	}
	if mayStart {
		return nil
	}
	p, err := c.pool(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("nothing was done, the bridge does not tell what runs: %w", err)
	case p.Assigned == 0:
		return &actions.ChangedError{What: backend.Text("the bridge has no container in use now: a request would start one")}
	}
	return nil
}

func (c *client) pool(ctx context.Context) (bridge.Pool, error) {
	a, err := c.send(ctx, bridge.Stats(), bridge.ReadWithin)
	switch {
	case err != nil:
		return bridge.Pool{}, err
	case a.problem != nil:
		return bridge.Pool{}, errors.New(c.said(a.problem))
	}
	return bridge.ReadPool(a.body)
}

var errNoBox = errors.New("the operator routes list no such sandbox")

// box is what the operator routes tell of a sandbox.
func (c *client) box(ctx context.Context, id string) (bridge.Box, error) {
	call, err := c.factory.ops.Get(id)
	if err != nil {
		return bridge.Box{}, err
	}
	a, err := c.send(ctx, call, bridge.ReadWithin)
	switch {
	case err != nil:
		return bridge.Box{}, err
	case a.status == http.StatusNotFound:
		return bridge.Box{}, errNoBox
	case a.problem != nil:
		return bridge.Box{}, errors.New(c.said(a.problem))
	}
	return bridge.ReadBox(a.body)
}

// answer is an answer to a call.
type answer struct {
	status  int
	body    []byte
	problem *bridge.Problem // of an answer that is no success, or of a command that could not begin
	ran     bridge.Ran
	asked   time.Duration // how long the server asks to wait
	took    time.Duration
	spent   bool // the bridge asked for patience until the time of the first request was over
	late    bool // it was waited for until its time was over; false: what came ended before, or the connection broke
}

// send sends a call, once.
func (c *client) send(ctx context.Context, call bridge.Call, within time.Duration) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	began := c.factory.now()
	r, err := c.actor.Send(ctx, wire.Order{Method: call.Method, URL: strings.TrimRight(c.factory.base, "/") + call.Path, Header: call.Header, Body: call.Body})
	took := c.factory.now().Sub(began)
	late := took >= commandWithin || errors.Is(ctx.Err(), context.DeadlineExceeded)
	if err != nil {
		return answer{took: took, late: late}, err
	}
	a := answer{status: r.Status, body: r.Body, asked: r.RetryAfter, took: took, late: late}
	if r.Status < 200 || r.Status > 299 {
		p := bridge.ReadProblem(r.Status, r.Body)
		a.problem = &p
	}
	return a, nil
}

// exec runs a command, once.
func (c *client) exec(ctx context.Context, id string, o bridge.Order, within time.Duration) (answer, error) {
	call, err := bridge.Exec(id, o)
	if err != nil {
		return answer{}, err
	}
	a, err := c.send(ctx, call, within)
	if err == nil && a.problem == nil {
		a.ran = bridge.ReadRan(a.body)
		a.problem = a.ran.Problem
	}
	return a, err
}

// first runs true without a session: the request that may wait for a container. A 503 began nothing, and is sent again in time.
func (c *client) first(ctx context.Context, id string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.factory.first)
	defer cancel()
	end := c.factory.now().Add(c.factory.first)
	c.waits(backend.Textf("the first request may wait %d s for its container", int(c.factory.first.Seconds())))
	for n := 1; ; n++ {
		a, err := c.exec(ctx, id, bridge.Order{Argv: []string{"true"}, Within: commandWithin}, c.factory.first)
		if err != nil || a.problem == nil {
			return a, err
		}
		pause, again := a.problem.Again(n, a.asked)
		if a.spent = again && c.factory.now().Add(pause).After(end); a.spent || !again {
			return a, nil
		}
		c.waits(backend.Textf("%s; asked again in %s", backend.Clean(c.said(a.problem), 200), backend.Age(pause)))
		if !sleep(ctx, pause) {
			return a, nil
		}
	}
}

// commandWithin is how long a command of ours may run; transports of old versions ignore it.
const commandWithin = 10 * time.Second

func (c *client) waits(said backend.Safe) {
	c.told(actions.Step{Name: backend.Text("container"), Result: actions.StepStarting, Said: said})
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

// said is what the bridge answered and, where an operator can do something, what that is.
func (c *client) said(p *bridge.Problem) string {
	s := "the bridge answered " + strconv.Itoa(p.Status)
	if p.Status == http.StatusOK {
		s = "the bridge says"
	}
	if p.Text != "" {
		s += ": " + c.clean(p.Text, 300).String()
	}
	if p.Reason != "" && !strings.Contains(p.Text, p.Reason) {
		s += " (" + c.clean(p.Reason, 60).String() + ")"
	}
	if next := advice(p); next != "" {
		s = strings.TrimRight(s, ".") + "; " + string(next)
	}
	return s
}

// advice is what helps against a problem; empty: nothing is known that does.
func advice(p *bridge.Problem) backend.Literal {
	switch p.Cause {
	case bridge.CauseKey:
		return "check the key ([source.act], [source.bridge])"
	case bridge.CauseCeiling:
		return "as many containers run as are allowed: end one, or raise max_instances"
	case bridge.CauseNoInstance:
		return "the platform has no container to give now: that is not your limit; wait"
	case bridge.CausePool:
		return "the pool could start no container: look at the image and the start of the container"
	case bridge.CauseStarting:
		return "its container starts or was replaced"
	case bridge.CauseIncompatible:
		return "Worker and container have versions that do not understand each other: during a rollout wait for its end; without one, deploy both with one version of the SDK"
	case bridge.CauseStartup:
		return "its container cannot start, and no wait helps: look at its image, its memory and its configuration"
	case bridge.CauseUnreachable:
		return "its container does not answer its object"
	case bridge.CauseOther, bridge.CauseRequest, bridge.CauseSpawn, bridge.CauseUnknownError, bridge.CauseFile, bridge.CauseSession, bridge.CauseGone:
	}
	return ""
}

// lost is the error of an order without an answer.
func lost(err error) error {
	var l *wire.LostError
	if errors.As(err, &l) {
		return &actions.UncertainError{Err: l}
	}
	return fmt.Errorf("nothing was sent: %w", err)
}
