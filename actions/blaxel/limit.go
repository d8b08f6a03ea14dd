package blaxel

import (
	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
)

// limitOf is the kind of a refusal for a limit: of requests, or of the use of the whole workspace.
func limitOf(r *sandbox.Refusal) backend.FailureKind {
	if r.UsedUp() {
		return backend.FailUsageLimit
	}
	return backend.FailThrottled
}

// met notes what the newest answer says of the usage limit of the workspace.
func (c *client) met(r *sandbox.Refusal) {
	switch {
	case r == nil:
		c.usedUp = nil
	case r.UsedUp():
		c.usedUp = r
	}
}

// withLimit adds that an order was refused for the usage limit of the workspace, which tells nothing of the sandbox.
func (c *client) withLimit(d actions.Done) actions.Done {
	if c.usedUp != nil && len(d.Observed) == 0 {
		d.Observed = []backend.Verdict{{Plane: backend.PlaneList, Outcome: backend.OutcomeUnknown, Kind: backend.FailUsageLimit,
			What: backend.Clean(c.said(c.usedUp), 400), At: c.factory.now()}}
	}
	return d
}
