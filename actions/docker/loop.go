package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sandglass/actions"
	"sandglass/backend"
)

// loopPause is how long after an order that met a crash loop between two runs the next one is given.
const loopPause = 50 * time.Millisecond

// mostStops is how often a crash loop of Podman is told to stop whose next run begins all the same.
const mostStops = 12

// loops reports whether the container is in a crash loop of Podman.
func (b *containerInfo) loops() bool { return b.Podman() && b.restarting && b.restarts > 0 }

// inLoop gives an order again while Podman answers a crash loop with a status that says that nothing was done.
func (m *mutatingClient) inLoop(ctx context.Context, b *containerInfo, status int, err error, missed func(status int) bool, once func() (int, error)) (int, error) {
	if !b.loops() {
		return status, err
	}
	tick := time.NewTicker(loopPause)
	defer tick.Stop()
	for tries := m.deadline() / loopPause; tries > 0 && missed(status); tries-- {
		select {
		case <-tick.C:
			status, err = once()
		case <-ctx.Done():
			return status, ctx.Err()
		}
	}
	return status, err
}

// stays reports whether the engine has a container that it is not removing: then its refusal is about a run that began or ended just
// then.
func (m *mutatingClient) stays(ctx context.Context, id backend.ID) bool {
	b, err := m.inspect(ctx, id, false)
	return err == nil && b.state != stateRemoving
}

// stopLoop looks what a stop of a crash loop came to, and stops it again while it runs on. A run that ends by itself while Podman stops
// it leaves Podman with nothing to signal, which it answers with 500 or accepts; either way its restart policy begins the next run.
func (m *mutatingClient) stopLoop(ctx context.Context, b *containerInfo, t actions.Target, status int, err error, once func() (int, error)) (actions.Done, error) {
	tick := time.NewTicker(loopPause)
	defer tick.Stop()
	for n := 1; ; n++ {
		met := status == http.StatusInternalServerError
		if err != nil && !met && status != http.StatusNotModified { // between two runs, or stopped: the look tells
			return actions.Done{}, err
		}
		now, unread := m.ended(ctx, t.Key.ID)
		switch {
		case met && errors.Is(unread, errGone):
			return actions.Done{}, &actions.ChangedError{What: backend.Text("the engine has no such container any more")}
		case met && unread != nil:
			return actions.Done{}, err
		case errors.Is(unread, errGone):
			return actions.Done{Text: backend.Text("the engine accepted it, and removed the container since")}, nil
		case unread != nil:
			return actions.Done{Text: backend.Text("the engine accepted it; it could not be read afterwards")}, nil
		case now.state == stateExited:
			return actions.Done{Text: backend.Textf("the engine calls it %s", backend.Clean(now.state, 60)), Proved: true}, nil
		case n == mostStops:
			again := backend.Textf("it was told to stop %d times, and its restart policy began the next run each time (restarted %d times before, %d now): remove the policy, then stop it",
				n, b.restarts, now.restarts)
			if met {
				return actions.Done{}, fmt.Errorf("%w; %s", err, again)
			}
			return actions.Done{Text: backend.Textf("the engine calls it %s: %s", backend.Clean(now.state, 60), again)}, nil
		}
		select {
		case <-tick.C:
			status, err = once()
		case <-ctx.Done():
			return actions.Done{}, &actions.UncertainError{Err: ctx.Err()}
		}
	}
}
