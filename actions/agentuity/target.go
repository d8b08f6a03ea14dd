package agentuity

import (
	"context"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// The facts of a target.
const (
	factState   = "state"
	factRegion  = "region"
	factSandbox = "sandbox"
)

// targetReader judges sandboxes and sessions by the newest State, of which the run waits for a fresh reading.
type targetReader struct{ verb actions.Verb }

// Look judges each key.
func (l targetReader) Look(_ context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, 0, len(q.Keys))
	for _, k := range q.Keys {
		c := actions.Candidate{Key: k, Label: k.Safe(), Name: k.ID.Raw()}
		e := q.State.Entity(k)
		if e == nil {
			c.Why, c.Ended = backend.Text("its source does not list it any more"), true
		} else if why, stale := q.State.StaleWhy(e.EntityMeta()); stale {
			c.Why, c.Undecided = backend.Textf("what is known of it is old: %v", why), true
		}
		switch e := e.(type) {
		case *backend.Sandbox:
			l.sandbox(&c, e, q)
		case *backend.Session:
			l.session(&c, e, q.State)
		}
		out = append(out, c)
	}
	return out
}

func (l targetReader) sandbox(c *actions.Candidate, b *backend.Sandbox, q actions.Question) {
	c.Label = b.Name
	c.Identity = []actions.Fact{{Name: "id", Value: b.Key.ID.Raw()}, {Name: factState, Value: b.Reported.String()}, {Name: factRegion, Value: b.Region.String()}}
	if on := q.State.SessionOn(b); !on.IsZero() {
		c.Owner = backend.Textf("session %s", on.Safe())
	}
	if c.Why.IsEmpty() {
		c.Why = q.State.Unfit(string(l.verb), b)
	}
	o, _ := b.Proved()
	list, _ := o.Of(backend.PlaneList)
	if gone := list.Kind == backend.FailMountGone; gone && (l.verb == actions.Pause || l.verb == actions.Destroy) {
		c.Notes = append(c.Notes, backend.Text("its mount is gone: nothing in the public sources brings these files back"))
	}
	switch l.verb {
	case actions.Probe:
		if list.Outcome == backend.OutcomeFailed {
			c.Notes = append(c.Notes, backend.Textf("it stops after the filesystem list while that fails, and then runs no command: %s", list.Said()))
		}
	case actions.Destroy:
		c.Loses = []backend.Safe{backend.Text("its files, its checkpoints, and what runs in it")}
		c.Notes = append(c.Notes, actions.Sitting(q.State, b, "Its agent loses the sandbox in the middle of its work")...)
		if c.Why.IsEmpty() && list.Kind != backend.FailMountGone {
			c.Notes = append(c.Notes, backend.Textf("save its files first: sandglass rescue %s", b.Key.ID.Safe()))
		}
	case actions.Pause:
		c.Loses = []backend.Safe{backend.Text("its connections; of a broken sandbox perhaps its last good checkpoint")}
		c.Notes = append(c.Notes, actions.Sitting(q.State, b, "Its agent cannot reach it until it is resumed")...)
	case actions.Replace:
		c.Notes = append(c.Notes, backend.Text("the new sandbox has another id, and none of the values of its variables, its memory and its unsaved files"))
	case actions.Resume:
		if _, is := o.Unrecoverable(); is && c.Why.IsEmpty() {
			c.Notes = append(c.Notes, backend.Textf("its hub was told that it has no checkpoint: a resume is likely to fail. Replace it then: sandglass replace %s", b.Key.ID.Safe()))
		}
		if e, ok := b.Latest(backend.LifecycleSuspended); ok && q.Now.Sub(e.At) < checkpointSoon {
			c.Notes = append(c.Notes, backend.Textf("it was suspended %s ago: a refusal with 409 then only means that its checkpoint is not stored yet", backend.Age(q.Now.Sub(e.At))))
		}
		if !b.ReapedAt.IsZero() {
			c.Notes = append(c.Notes, backend.Textf("the platform removes it at %s if it sleeps on", b.ReapedAt.UTC().Format("2006-01-02 15:04Z")))
		}
	}
}

// checkpointSoon is how long after a suspend a checkpoint may not be stored yet (agentuity/sdk#1332).
const checkpointSoon = 5 * time.Minute

// session judges a session of the Hub for wake. A wake signals the driver by a command: where commands do not run it only adds
// to the queue.
func (l targetReader) session(c *actions.Candidate, x *backend.Session, s *fleet.State) {
	c.Identity = []actions.Fact{{Name: "id", Value: x.Key.ID.Raw()}, {Name: factState, Value: x.Status.String()}}
	if !c.Why.IsEmpty() {
		return
	}
	if x.Hub == nil {
		c.Why = backend.Text("it is no session of a Hub")
		return
	}
	if !x.Hub.Label.IsEmpty() {
		c.Label = backend.Textf("%s (%s)", x.Hub.Label, x.Key.ID.Safe())
	}
	c.Identity = append(c.Identity, actions.Fact{Name: factSandbox, Value: x.Hub.Sandbox.Raw()})
	b := s.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: x.Key.Source, ID: x.Hub.Sandbox})
	switch {
	case x.Hub.Driver.Or(false):
		c.Why = backend.Text("a driver leads it: there is nothing to wake")
	case slices.Contains([]string{"archived", "shutdown"}, strings.ToLower(x.Status.String())):
		c.Why = backend.Textf("it is reported %s", x.Status)
	case b == nil:
		c.Why = backend.Text("no sandbox of it is listed")
	default:
		c.Why = nudges(b, s)
	}
}

// nudges says why a further nudge is of no use; empty: it may be.
func nudges(b *backend.Sandbox, s *fleet.State) backend.Safe {
	o, _ := b.Proved()
	if v, _ := o.Of(backend.PlaneList); v.Outcome == backend.OutcomeFailed && v.Kind == backend.FailMountGone {
		return backend.Text("the mount of its sandbox is gone: a nudge is a command, and none runs there; replace the sandbox")
	}
	if v, _ := o.Of(backend.PlaneExec); v.Outcome == backend.OutcomeFailed {
		return backend.Textf("commands fail in its sandbox (%s): a further nudge only adds a record to its queue", v.Said())
	}
	waiting := 0
	for x := range s.Executions.Of(backend.KindExecution, b.Key.Source, b.Key.ID) {
		if x.Nudge && x.Class == backend.WorkQueued {
			waiting++
		}
	}
	if waiting > 0 {
		return backend.Textf("%s in its sandbox already and do not start: a further one only adds a record", backend.Counted(waiting, "nudge is queued", "nudges are queued"))
	}
	return backend.Safe{}
}

// queuedIn reports whether an execution is queued in a sandbox.
func queuedIn(b *backend.Sandbox, s *fleet.State) bool {
	for x := range s.Executions.Of(backend.KindExecution, b.Key.Source, b.Key.ID) {
		if x.Class == backend.WorkQueued {
			return true
		}
	}
	return false
}
