package cloudflare

import (
	"cmp"
	"context"
	"errors"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/fleet"
)

// destroy removes a sandbox. The bridge answers 204 also when the removal failed: only what lists it can show the result.
func (c *client) destroy(ctx context.Context, _ actions.Target, id string) (actions.Done, error) {
	before, errBefore := c.pool(ctx)
	was := c.containerOf(ctx, id)
	call, err := bridge.Destroy(id)
	if err != nil {
		return actions.Done{}, err
	}
	a, err := c.send(ctx, call, c.factory.first)
	switch {
	case err != nil:
		return actions.Done{}, lost(err)
	case a.problem != nil && a.status >= 500 && a.status != 503:
		if c.factory.ops.Prefix != "" {
			if done := c.ended(ctx, actions.Done{}, id, was); done.Proved {
				return done, nil
			}
		}
		return actions.Done{}, &actions.UncertainError{Err: errors.New(c.said(a.problem))}
	case a.problem != nil:
		return actions.Done{}, errors.New(c.said(a.problem))
	}
	done := actions.Done{Text: backend.Text("the bridge answered, which it does also when nothing was destroyed")}
	if c.factory.ops.Prefix != "" {
		return c.ended(ctx, done, id, was), nil
	}
	if after, err := c.pool(ctx); err == nil && errBefore == nil {
		done.Notes = append(done.Notes, backend.Textf("the bridge had %s in use before and has %d now; others come and go, so that this proves nothing",
			backend.Counted(before.Assigned, "container", "containers"), after.Assigned))
	}
	return done, nil
}

// ended judges by later readings. Those of a sandbox of which nothing lists a container never show its end, so that nothing is waited for.
type ended struct{}

// Verify judges one target.
func (ended) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	if b := s.Sandbox(t.Key); b != nil && b.Class == backend.SandboxUnknown && b.Container.IsZero() {
		return actions.Verdict{Result: actions.ResultUnverified, Why: backend.Text("accepted; its end is not shown by a reading, as no list has a container of it: operator routes would show it")}
	}
	return actions.SandboxEnded{}.Verify(t, issued, s)
}

// stop asks the container to end, through the operator route.
func (c *client) stop(ctx context.Context, _ actions.Target, id string) (actions.Done, error) {
	call, err := c.factory.ops.Stop(id)
	if err != nil {
		return actions.Done{}, err
	}
	was := c.containerOf(ctx, id)
	a, err := c.send(ctx, call, c.factory.next)
	switch {
	case err != nil:
		return actions.Done{}, lost(err)
	case a.problem != nil && a.status >= 500 && a.status != 501 && a.status != 503:
		return actions.Done{}, &actions.UncertainError{Err: errors.New(c.said(a.problem))}
	case a.problem != nil:
		return actions.Done{}, errors.New(c.said(a.problem))
	}
	return c.ended(ctx, actions.Done{Text: backend.Text("the operator route accepted it")}, id, was), nil
}

// containerOf is the container of a sandbox, by the operator routes; empty: they do not tell.
func (c *client) containerOf(ctx context.Context, id string) string {
	if c.factory.ops.Prefix == "" {
		return ""
	}
	b, err := c.box(ctx, id)
	if err != nil {
		return ""
	}
	return cmp.Or(b.Container, b.Instance)
}

// ended looks for a while, through the operator routes, whether the container that a sandbox had ended.
func (c *client) ended(ctx context.Context, done actions.Done, id, was string) actions.Done {
	for end := c.factory.now().Add(c.factory.ended); ; {
		b, err := c.box(ctx, id)
		if runs, known := b.Runs(); errors.Is(err, errNoBox) {
			done.Proved, done.Text = true, backend.Text("the bridge assigns it no container any more")
			return done
		} else if err == nil && known && !runs {
			done.Proved, done.Text = true, backend.Textf("its object is %s", c.clean(b.State, 60))
			return done
		} else if has := cmp.Or(b.Container, b.Instance); err == nil && was != "" && has != "" && has != was {
			done.Proved, done.Text = true, backend.Text("its container is gone; another one was started for it since")
			return done
		} else if err == nil && known {
			same := ""
			if was != "" {
				same = ", in the same container"
			}
			done.Seen = backend.Textf("accepted, and it did not end: %s later its object still says %s%s", backend.Age(c.factory.ended), c.clean(b.State, 60), backend.Clean(same, 40))
		} else {
			done.Seen = backend.Safe{}
		}
		if c.factory.now().After(end) || !sleep(ctx, c.factory.ended/20) {
			return done
		}
	}
}
