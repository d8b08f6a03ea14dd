package cloudflare

import (
	"cmp"
	"context"
	"errors"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
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
			if done := c.ended(ctx, actions.Done{}, id, was); !done.Text.IsEmpty() {
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

// containerOf is what the operator routes tell of a sandbox before something is done; nil: they do not tell.
func (c *client) containerOf(ctx context.Context, id string) *bridge.Box {
	if c.factory.ops.Prefix == "" {
		return nil
	}
	b, err := c.box(ctx, id)
	if err != nil {
		return nil
	}
	return &b
}

// ended looks for a while, through the operator routes, whether the container that a sandbox had ended. What they said before already
// proves nothing; and it is never the whole proof, as their word may be old: a verifier reads the account, too.
func (c *client) ended(ctx context.Context, done actions.Done, id string, was *bridge.Box) actions.Done {
	if was == nil {
		return done
	}
	had := cmp.Or(was.Container, was.Instance)
	for end := c.factory.now().Add(c.factory.ended); ; {
		b, err := c.box(ctx, id)
		if runs, known := b.Runs(); errors.Is(err, errNoBox) {
			done.Text = backend.Text("the operator routes list it no more")
			return done
		} else if err == nil && known && !runs && !b.News(was) {
			done.Notes = append(done.Notes, backend.Textf("the operator routes said %s before it already, which proves nothing", c.clean(b.State, 60)))
			return done
		} else if err == nil && known && !runs {
			done.Text = backend.Textf("the operator routes say that its object is %s", c.clean(b.State, 60))
			return done
		} else if has := cmp.Or(b.Container, b.Instance); err == nil && had != "" && has != "" && has != had {
			done.Text = backend.Text("the operator routes name another container for it now")
			return done
		}
		if c.factory.now().After(end) || !sleep(ctx, c.factory.ended/20) {
			return done
		}
	}
}
