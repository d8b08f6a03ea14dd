package cloudflare

import (
	"context"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/fleet"
)

// isPreview reports whether the bridge of a source is the 1.0 preview, as its newest reading tells.
func isPreview(s *fleet.State, source string) bool {
	h := s.Source(source)
	return h != nil && h.Refuses == backend.Text(bridge.PreviewRefusal)
}

// lookSpec says of a probe what it does where the bridge is the preview.
func lookSpec(source string) func(*fleet.State, actions.Spec) actions.Spec {
	return func(s *fleet.State, spec actions.Spec) actions.Spec {
		if isPreview(s, source) {
			spec.Effect = "asks the bridge whether the runtime of the sandbox is active, which processes run in it and how many terminals it has; runs no command"
			spec.Cost = "sends at most 3 requests, the first of which waits up to 160s. Whether the preview starts a container for one, where none runs, was never tested: it would be billed"
			spec.Undo = "nothing: it changes nothing in the sandbox"
		}
		return spec
	}
}

// look reads what the 1.0 preview tells of a sandbox. It runs no command: whether the runtime is active is what the platform says, and
// proves nothing of the sandbox itself.
func (c *client) look(ctx context.Context, id string) (actions.Done, error) {
	x := &examination{c: c, id: id}
	call, err := bridge.Running(id)
	if err != nil {
		return actions.Done{}, err
	}
	c.waits(backend.Textf("the first request may wait %d s for its container", int(c.factory.first.Seconds())))
	a, err := c.send(ctx, call, c.factory.first)
	v := backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeUnknown, Passive: true, Took: a.took}
	active := false
	if err == nil && a.problem == nil {
		active, err = bridge.ReadRunning(a.body)
	}
	switch {
	case err != nil:
		v.What = x.c.clean(err.Error(), 300)
	case a.problem != nil:
		v = x.refused(&a)
		v.Plane, v.Passive = backend.PlaneControl, true
	case !active:
		v.What = backend.Text("the bridge says that its runtime is not active: nothing more was asked")
	default:
		v.Outcome, v.What = backend.OutcomeOK, backend.Text("the bridge says that its runtime is active; no command is run in the 1.0 preview")
		v.Evidence = append(x.told(ctx, "the bridge", bridge.Processes), x.terminals(ctx)...)
	}
	x.add(v)
	return x.concluded()
}

// terminals says how many terminals the preview has open.
func (x *examination) terminals(ctx context.Context) []backend.Safe {
	call, err := bridge.Terminals(x.id)
	if err != nil {
		return nil
	}
	a, err := x.c.send(ctx, call, bridge.ReadWithin)
	if err != nil || a.problem != nil {
		return nil
	}
	n, err := bridge.ReadTerminals(a.body)
	if err != nil {
		return nil
	}
	return []backend.Safe{backend.Textf("the bridge: it has %s", backend.Clean(backend.Counted(n, "terminal", "terminals"), 40))}
}
