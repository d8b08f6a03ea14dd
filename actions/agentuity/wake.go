package agentuity

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// driverLimit is how long the Hub waits for a driver.
const driverLimit = 120 * time.Second

// wakeEffect asks the Hub to resume sessions.
type wakeEffect struct{ client *client }

func (f *factory) openWake(ctx context.Context) (actions.Effect, error) {
	base, org, err := f.source.HubBase()
	if err != nil {
		return nil, err
	}
	c, err := f.client(ctx, base, org)
	if err != nil {
		return nil, fmt.Errorf("nothing was sent: %w", err)
	}
	if org != "" {
		c.header.Set(headerOrg, org)
	}
	return &wakeEffect{c}, nil
}

// Do sends one wake.
func (e *wakeEffect) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	r, err := e.client.send(ctx, http.MethodPost, "/api/hub/session/"+segment(t.Key.ID)+"/resume", nil, nil)
	switch {
	case err != nil:
		return actions.Done{}, lost(err)
	case !r.ok():
		return actions.Done{}, e.client.refusal(r)
	}
	return actions.Done{Text: backend.Textf("the Hub calls it %s; it waits 120 s for the driver", e.client.clean(r.text("status"), 60))}, nil
}

// Close ends connections.
func (e *wakeEffect) Close() error { return e.client.close() }

// resumeVerifier waits until a resumed sandbox is seen to work: its files are there, nothing waits, and a driver leads its session.
type resumeVerifier struct{}

// Verify judges by later readings, and by what the order itself found.
func (resumeVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	b := s.Sandbox(t.Key)
	accepted := func(format backend.Literal, args ...any) actions.Verdict {
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Textf(format, args...)}
	}
	switch {
	case b == nil:
		return actions.Verdict{Result: actions.ResultEnded, Why: backend.Text("its source lists it no longer")}
	case !s.ReadAt(&b.Meta).After(issued):
		return accepted("it was not read since")
	case b.Class != backend.SandboxRunning:
		return accepted("it is still reported %s", b.Reported)
	}
	o, _ := b.Observed.Get()
	list, _ := o.Of(backend.PlaneList)
	fresh := list.At.After(issued)
	switch waiting := s.Busy(b, "they may wait for ever"); {
	case fresh && list.Outcome == backend.OutcomeFailed:
		return actions.Verdict{Result: actions.ResultFailed, Why: list.Said()}
	case !fresh || list.Outcome != backend.OutcomeOK:
		return accepted("it is reported %s; whether its files are there is not known", b.Reported)
	case queuedIn(b, s):
		return accepted("%s", waiting)
	}
	if x := s.Session(backend.Key{Kind: backend.KindSession, Source: b.Key.Source, ID: b.Session}); x != nil && x.Hub != nil && !(x.Hub.Driver.Or(false) && x.Hub.DriverAt.After(issued)) {
		return accepted("it is reported %s; no driver leads its session %s yet", b.Reported, x.Key.ID.Safe())
	}
	return actions.Verdict{Result: actions.ResultVerified, Why: backend.Textf("it is reported %s; %s; nothing is queued", b.Reported, list.What)}
}

// wakeVerifier waits for a driver: that a wake was accepted says nothing.
type wakeVerifier struct{}

// Verify judges by later readings of the session.
func (wakeVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	x := s.Session(t.Key)
	switch {
	case x == nil || x.Hub == nil:
		return actions.Verdict{Result: actions.ResultEnded, Why: backend.Text("the Hub lists it no longer")}
	case x.Hub.Driver.Or(false) && x.Hub.DriverAt.After(issued):
		return actions.Verdict{Result: actions.ResultVerified, Why: backend.Text("a driver leads it")}
	case x.Status.String() == "error" && s.ReadAt(&x.Meta).Sub(issued) > driverLimit/4 && !x.Hub.Error.IsEmpty():
		return actions.Verdict{Result: actions.ResultFailed, Why: backend.Textf("the Hub says: %s", backend.HubSeconds(x.Hub.Error))}
	}
	return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Textf("no driver leads it yet; it is reported %s", x.Status)}
}
