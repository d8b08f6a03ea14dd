package cloudflare

import (
	"context"
	"path"
	"slices"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
	"sandglass/backend/fleet"
)

// The facts of a target.
const (
	factBridge  = "bridge id"
	factState   = "state"
	factRuns    = "runs"
	factFailure = "failure" // of repair: what the newest probe found
	factLink    = "found"   // of repair: what it says, the target of a link included
)

// The values of factRuns.
const (
	runsYes     = "yes"
	runsUnknown = "not known"
)

// targetReader judges sandboxes by the newest State, of which the run waits for a fresh reading.
type targetReader struct {
	verb actions.Verb
	ops  bool // there are operator routes
}

// Look judges each key.
func (l targetReader) Look(_ context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, 0, len(q.Keys))
	for _, k := range q.Keys {
		c := actions.Candidate{Key: k, Label: k.Safe(), Name: k.ID.Raw()}
		b := q.State.Sandbox(k)
		if b == nil {
			c.Why, c.Ended = backend.Text("its source does not list it any more"), true
		} else if why, stale := q.State.StaleWhy(&b.Meta); stale {
			c.Why, c.Undecided = backend.Textf("what is known of it is old: %v", why), true
		}
		if b != nil {
			l.sandbox(&c, b, q.State)
		}
		if l.verb == actions.Probe && isPreview(q.State, k.Source) {
			c.Notes = slices.DeleteFunc(c.Notes, func(n backend.Safe) bool { return n == backend.Text(mayBill) })
			c.Notes = append(c.Notes, backend.Text("this bridge is the 1.0 preview, which Sandglass only reads"))
		}
		out = append(out, c)
	}
	return out
}

// mayBill is what a first request costs where nothing says that a sandbox runs.
const mayBill = backend.Literal("nothing says that it runs: where it does not, the first request starts a new, empty container, which is billed")

func (l targetReader) sandbox(c *actions.Candidate, b *backend.Sandbox, state *fleet.State) {
	if !b.Name.IsEmpty() {
		c.Label = b.Name
	}
	if !b.Session.IsZero() {
		c.Owner = backend.Textf("session %s", b.Session.Safe())
	} else if shared := state.SharersOf(b); len(shared) > 0 {
		c.Owner = sharedBy(shared)
	}
	runs := runsUnknown
	if b.Class == backend.SandboxRunning && b.NamedBy != backend.NamedByRef {
		runs = runsYes
	}
	if !b.Doubt.IsEmpty() {
		c.Notes = append(c.Notes, backend.Textf("the operator routes say %s, read %s ago; %s", b.Reported, backend.Age(state.Wall.Sub(b.ReadAt)), b.Doubt))
	}
	if word := b.RoutesSay(); !word.IsEmpty() {
		runs = runsUnknown
		c.Notes = append(c.Notes, backend.Textf("the operator routes say %s and the account says %s: one of them is old", word, b.Reported))
	}
	c.Identity = []actions.Fact{{Name: factBridge, Value: b.BridgeID.Raw()}, {Name: factState, Value: b.Reported.String()}, {Name: factRuns, Value: runs},
		{Name: actions.FactContainer, Value: b.Container.Raw()}, {Name: actions.FactStarted, Value: actions.Born(b.Born)}}
	if c.Why.IsEmpty() {
		c.Why = l.unfit(b, state)
	}
	if l.verb == actions.Repair {
		exec := execOf(b)
		c.Identity = append(c.Identity, actions.Fact{Name: factFailure, Value: string(exec.Kind)}, actions.Fact{Name: factLink, Value: exec.What.String()})
		c.Loses = []backend.Safe{backend.Text("nothing more: the files of /workspace are gone already, and nothing here brings them back")}
		if to, at := state.RootMoved(b); to != "" {
			dir := backend.Clean(to, 160)
			c.Loses = []backend.Safe{backend.Textf("nothing itself. The agent moved /workspace to %s at %s: its files may be there. Rather move them back, in a new session of your application: mv %s /workspace. After a repair that makes %s instead",
				dir, backend.Clean(at.UTC().Format("15:04:05Z"), 20), dir, backend.Clean(path.Join(backend.SandboxRoot, path.Base(to)), 160))}
		}
		if exec.Kind == backend.FailWorkDirDangling {
			c.Loses = []backend.Safe{backend.Textf("the link: %s. The files may still be where it leads: a mount that comes back is not found any more under /workspace", exec.What)}
			c.Notes = append(c.Notes, backend.Text("new files go to the container's own disk, which its end empties"))
		} else {
			c.Notes = append(c.Notes, backend.Text("sessions that are open stay in the removed directory: cd /workspace there, or begin a new one"))
		}
		c.Notes = append(c.Notes, backend.Text("it does not cure commands of the agent that end with \""+backend.MarkNotStarted+"\" afterwards: then the directory of the control server is gone too, and destroying it is what helps"))
	}
	if runs == runsUnknown && l.verb != actions.Stop {
		c.Notes = append(c.Notes, backend.Text(mayBill))
	}
	if b.NamedBy == backend.NamedByRef {
		c.Notes = append(c.Notes, backend.Text("its id is known from a reference alone: nothing says that this bridge ever had it"))
	}
	switch l.verb {
	case actions.Destroy, actions.Stop:
		c.Loses = []backend.Safe{backend.Text("all its files, and what runs in it")}
		if shared := state.SharersOf(b); len(shared) > 0 {
			lost := backend.Textf("they are the files of %s, which share it", sharedBy(shared))
			if _, live := state.LiveSharers(b); len(live) > 0 {
				lost = backend.Textf("%s: %s", lost, backend.Join(live[:min(len(live), mostNamed)], ", "))
			}
			c.Loses = append(c.Loses, lost)
		}
		if !l.ops && l.verb == actions.Destroy && b.Container.IsZero() {
			c.Notes = append(c.Notes, backend.Text("the bridge says 204 also when nothing was destroyed, and nothing here shows the result: operator routes would"))
		}
	}
}

// mostNamed is how many of the sessions that share a sandbox are named.
const mostNamed = 5

// sharedBy names the sessions that share a sandbox.
func sharedBy(all []backend.ID) backend.Safe {
	var names []backend.Safe
	for _, id := range all[:min(len(all), mostNamed)] {
		names = append(names, id.Safe())
	}
	text := backend.Textf("%d sessions: %s", len(all), backend.Join(names, ", "))
	if more := len(all) - len(names); more > 0 {
		text = backend.Textf("%s and %d more", text, more)
	}
	return text
}

// execOf is what was last observed of commands in the present life of a sandbox.
func execOf(b *backend.Sandbox) backend.Verdict {
	o, _ := b.Proved()
	v, _ := o.Of(backend.PlaneExec)
	return v
}

// unfit says why a sandbox is not for the verb; empty: it is. A probe reads the 1.0 preview too.
func (l targetReader) unfit(b *backend.Sandbox, state *fleet.State) backend.Safe {
	why := state.Unfit(string(l.verb), b)
	if l.verb == actions.Probe && why == backend.Text(bridge.PreviewRefusal) {
		why = backend.Safe{}
	}
	if why.IsEmpty() && !bridge.IsID(b.BridgeID.Raw()) {
		return backend.Text(backend.NoBridgeID + "; the account API can only show it")
	}
	return why
}
