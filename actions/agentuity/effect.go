package agentuity

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// operation performs a verb on a sandbox that was just found as the plan saw it; record is its own route's answer.
type operation func(c *client, ctx context.Context, t actions.Target, record *reply) (actions.Done, error)

// effect performs one verb during one run.
type effect struct {
	factory *factory
	verb    actions.Verb
	do      operation
}

// Do reads the sandbox once more, compares its status with the plan, and acts.
func (e *effect) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	base, org := e.factory.source.SandboxBase(t.Key.ID)
	c, err := e.factory.client(ctx, base, org)
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was sent: %w", err)
	}
	defer func() { _ = c.close() }() // idle connections; nothing is lost
	record, err := c.send(ctx, http.MethodGet, "/sandbox/"+segment(t.Key.ID), nil, nil)
	switch {
	case err != nil:
		return actions.Done{}, fmt.Errorf("nothing was done, its status cannot be read: %w", err)
	case record.Status == http.StatusNotFound:
		return actions.Done{}, &actions.ChangedError{What: backend.Text("the platform has no such sandbox any more")}
	case !record.ok():
		return actions.Done{}, fmt.Errorf("nothing was done, its status cannot be read: %s", c.said(record))
	}
	is := c.clean(record.text("status"), 60).String()
	if !slices.Contains(t.Identity, actions.Fact{Name: factState, Value: is}) {
		return actions.Done{}, &actions.ChangedError{What: backend.Textf("it is reported %s now", backend.Clean(is, 60))}
	}
	return e.do(c, ctx, t, record)
}

// Close has nothing to release.
func (e *effect) Close() error { return nil }

func (c *client) resume(ctx context.Context, t actions.Target, _ *reply) (actions.Done, error) {
	r, err := c.send(ctx, http.MethodPost, "/sandbox/"+segment(t.Key.ID)+"/resume", nil, nil)
	switch {
	case err != nil:
		return actions.Done{}, lost(err)
	case r.Status == http.StatusConflict:
		return c.conflict(ctx, t, r)
	case !r.ok():
		return actions.Done{}, c.refusal(r)
	}
	return c.verified(ctx, t, "the platform accepted the resume")
}

// conflict tells the meanings of a refused resume apart.
func (c *client) conflict(ctx context.Context, t actions.Target, r *reply) (actions.Done, error) {
	said := c.said(r)
	if strings.Contains(strings.ToLower(r.message), "no checkpoint data") {
		v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailNoCheckpoint, At: c.now(),
			What: backend.Text("it has no checkpoint to resume from: the platform cannot bring it back"), Evidence: []backend.Safe{backend.Clean(said, 400)}}
		order := v
		order.Plane = backend.PlaneControl
		return actions.Done{Observed: []backend.Verdict{order, v}, Notes: []backend.Safe{backend.Textf("replace it: sandglass replace %s; keep the old one for the vendor's support", t.Key.ID.Safe())}},
			fmt.Errorf("it cannot be resumed: %s; it has no checkpoint, and trying again does not help", said)
	}
	limited := r.RetryAfter > 0 || r.Header.Get("X-RateLimit-Retry-After") != "" || r.Header.Get("X-RateLimit-Reset") != ""
	if limited && !strings.Contains(strings.ToLower(r.message), "checkpoint") {
		wait := "wait"
		if r.RetryAfter > 0 {
			wait = fmt.Sprintf("wait %v", r.RetryAfter)
		}
		return actions.Done{}, fmt.Errorf("%s; the platform limits requests: %s, then resume it again", said, wait)
	}
	if now, err := c.send(ctx, http.MethodGet, "/sandbox/"+segment(t.Key.ID), nil, nil); err == nil && now.ok() {
		if word := c.clean(now.text("status"), 60).String(); !slices.Contains(t.Identity, actions.Fact{Name: factState, Value: word}) {
			return actions.Done{}, &actions.ChangedError{What: backend.Textf("it is reported %s now", backend.Clean(word, 60))}
		}
	}
	// Whether it may pass is judged from the suspend: a rule does that again from what is observed here.
	refused := actions.Done{Observed: []backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailResumeRefused, At: c.now(),
		What: backend.Textf("its resume was refused: %s", said)}}}
	suspended, known := c.suspendedAt(ctx, t)
	switch age := c.now().Sub(suspended); {
	case known && age < checkpointSoon:
		return refused, fmt.Errorf("%s; it was suspended %s ago, and its checkpoint is probably not stored yet: resume it again in a minute", said, backend.Age(age))
	case known:
		return refused, fmt.Errorf("%s; it was suspended %s ago, which is long enough for a checkpoint: its checkpoint may be missing", said, backend.Age(age))
	}
	return refused, fmt.Errorf("%s; right after a suspend that means that the checkpoint is not stored yet: resume it again in a minute", said)
}

// suspendedAt is when the newest suspend was, by the platform's clock.
func (c *client) suspendedAt(ctx context.Context, t actions.Target) (time.Time, bool) {
	r, err := c.send(ctx, http.MethodGet, "/sandbox/sandboxes/"+segment(t.Key.ID)+"/events", url.Values{"limit": {"20"}, "direction": {"desc"}}, nil)
	if err != nil || !r.ok() {
		return time.Time{}, false
	}
	var newest time.Time
	for n := range r.data.Get("events").Elements() {
		kind, _ := n.Get("type").Text()
		text, _ := n.Get("createdAt").Text()
		if at, err := time.Parse(time.RFC3339, text); err == nil && at.After(newest) && strings.Contains(strings.ToLower(kind), "suspend") {
			newest = at
		}
	}
	return newest, !newest.IsZero()
}

func (c *client) pause(ctx context.Context, t actions.Target, _ *reply) (actions.Done, error) {
	r, err := c.send(ctx, http.MethodPost, "/sandbox/"+segment(t.Key.ID)+"/pause", nil, nil)
	if err != nil {
		return actions.Done{}, lost(err)
	}
	if !r.ok() {
		return actions.Done{}, c.refusal(r)
	}
	done := actions.Done{Text: backend.Textf("the platform calls it %s", c.clean(r.text("status"), 60))} // beside data, not in it
	if ckpt := r.text("checkpointId"); ckpt != "" {
		done.Text = backend.Textf("%s, checkpoint %s", done.Text, c.clean(ckpt, 80))
	} else {
		done.Notes = append(done.Notes, backend.Text("the answer names no checkpoint: it may not be possible to resume it"))
	}
	if end := r.text("terminatesAt"); end != "" {
		done.Notes = append(done.Notes, backend.Textf("the platform removes it at %s if it sleeps on", c.clean(end, 60)))
	}
	return done, nil
}

func (c *client) destroy(ctx context.Context, t actions.Target, _ *reply) (actions.Done, error) {
	r, err := c.send(ctx, http.MethodDelete, "/sandbox/"+segment(t.Key.ID), nil, nil)
	switch {
	case err != nil:
		return actions.Done{}, lost(err)
	case r.Status == http.StatusNotFound:
		return actions.Done{}, &actions.ChangedError{What: backend.Text("the platform has no such sandbox any more")}
	case !r.ok():
		return actions.Done{}, c.refusal(r)
	}
	done := actions.Done{Text: backend.Text("the platform accepted it")}
	now, err := c.send(ctx, http.MethodGet, "/sandbox/"+segment(t.Key.ID), nil, nil)
	if err == nil && (now.Status == http.StatusNotFound || now.ok() && slices.Contains([]string{"terminated", "deleted"}, now.text("status"))) {
		done.Proved, done.Text = true, backend.Text("the platform says that it is no more")
	}
	return done, nil
}

// statusVerifier verifies a verb after which a sandbox is in a state. One that is no more listed was destroyed.
type statusVerifier struct{ class backend.SandboxClass }

// Stands judges a destroy whose result is not known.
func (v statusVerifier) Stands(t actions.Target, issued time.Time, s *fleet.State) (time.Time, backend.Safe) {
	if v.class != backend.SandboxExited {
		return time.Time{}, backend.Safe{}
	}
	return actions.StillListed{}.Stands(t, issued, s)
}

// Verify judges by later readings.
func (v statusVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	b := s.Sandbox(t.Key)
	if b == nil && v.class == backend.SandboxExited {
		return actions.Gone(t, issued, s)
	}
	switch {
	case b == nil:
		return actions.Verdict{Result: actions.ResultEnded, Why: backend.Text("its source lists it no longer")}
	case !s.ReadAt(&b.Meta).After(issued):
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("it was not read since")}
	case b.Class == v.class:
		return actions.Verdict{Result: actions.ResultVerified, Why: backend.Textf("it is reported %s", b.Reported)}
	}
	return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Textf("it is still reported %s", b.Reported)}
}
