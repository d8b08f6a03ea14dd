package blaxel

import (
	"context"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/backend/fleet"
)

// The facts of a target.
const (
	factStatus  = "status"
	factAddress = "address"
	factOrigin  = "address from"
	factRoot    = "root"
	factPID     = "pid"
	factProcess = "process"
	factCommand = "command"
	factStarted = "started"
	factPreview = "preview"
	factToken   = "token"
)

// deployed is the status of a sandbox that can answer.
const deployed = "DEPLOYED"

// targetReader judges sandboxes by the newest State, of which the run waits for a fresh reading.
type targetReader struct {
	verb actions.Verb
	site sandbox.Site
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
			l.sandbox(&c, b, q)
		}
		out = append(out, c)
	}
	return out
}

func (l targetReader) sandbox(c *actions.Candidate, b *backend.Sandbox, q actions.Question) {
	c.Label = b.Name
	c.Identity = []actions.Fact{{Name: factStatus, Value: b.StatusAlone()}, {Name: actions.FactCreated, Value: actions.Born(b.Born)}}
	if !b.Session.IsZero() {
		c.Owner = backend.Textf("session %s", b.Session.Safe())
	} else if on := q.State.SessionOn(b); !on.IsZero() {
		c.Owner = backend.Textf("session %s", on.Safe())
	}
	ref := q.State.StateNaming(b)
	if c.Why.IsEmpty() {
		c.Why = q.State.Unfit(string(l.verb), b)
	}
	if l.entersIt() {
		l.enters(c, b, ref)
	}
	switch l.verb {
	case actions.Destroy:
		l.destroys(c, b, ref, q.State)
	case actions.StopProcess, actions.KillProcess:
		l.process(c, b, q)
	case actions.RevokeToken:
		l.token(c, b, q.Params.Token)
	}
	if out := q.State.LeftOut(b).Named(); !out.IsEmpty() && (l.verb == actions.Destroy || l.verb == actions.Rescue) {
		c.Notes = append(c.Notes, backend.Textf("the snapshots of its session leave out %s: none of them brings that back", out))
	}
}

// entersIt reports whether the verb sends requests to the sandbox itself.
func (l targetReader) entersIt() bool {
	return l.verb != actions.Destroy && l.verb != actions.RevokeToken
}

// enters says where the sandbox is asked, and what that does.
func (l targetReader) enters(c *actions.Candidate, b *backend.Sandbox, ref *backend.Ref) {
	address, origin, root := b.Address.String(), "inventory", sandbox.Root
	if ref != nil {
		if address == "" {
			address, origin = ref.Agent.Address.String(), "the saved state of its session, "+ref.Origin.String()
		}
		root = ref.Agent.Root.String()
	}
	c.Identity = append(c.Identity, actions.Fact{Name: factAddress, Value: address}, actions.Fact{Name: factOrigin, Value: origin}, actions.Fact{Name: factRoot, Value: root})
	switch _, err := sandbox.Address(address, l.site.URL, l.site.Hosts); {
	case !c.Why.IsEmpty():
		return
	case address == "":
		c.Why = backend.Text("where its own server answers is not known: neither the inventory nor a saved state says it, and an address is never built from a name")
		return
	case err != nil:
		c.Why = backend.Clean(err.Error(), 300)
		return
	}
	c.Notes = append(c.Notes, backend.Textf("its address is from %s", backend.Clean(origin, 200)))
	if ref == nil || ref.Agent.RootDefault {
		c.Notes = append(c.Notes, backend.Textf("the root %s is the default of the agent's SDK", backend.Clean(root, 200)))
	}
	if backend.LooseRoot(root) {
		why := backend.WhyLoose(backend.Clean(root, 200))
		if l.verb == actions.Rescue {
			c.Why = why
			return
		}
		c.Notes = append(c.Notes, backend.Textf("%s. The probe runs true where the server runs, and does not list the root", why))
	}
	switch b.Class {
	case backend.SandboxAsleep:
		c.Notes = append(c.Notes, backend.Text("it sleeps: this wakes it, which is billed, and its idle time starts again"))
	case backend.SandboxRunning:
		c.Notes = append(c.Notes, backend.Text("it runs: this keeps it from sleeping for about 15s more"))
	case backend.SandboxUnknown:
		c.Notes = append(c.Notes, backend.Text("whether it sleeps is not told: if so, this wakes it, which is billed"))
	case backend.SandboxExited, backend.SandboxRemoving:
		c.Notes = append(c.Notes, backend.Textf("it is reported %s: it may not answer, or not for long", b.Reported))
	case backend.SandboxCreated, backend.SandboxPaused, backend.SandboxRestarting, backend.SandboxDead: // left out before
	}
}

// destroys says what a delete loses, and what could bring it back.
func (l targetReader) destroys(c *actions.Candidate, b *backend.Sandbox, ref *backend.Ref, st *fleet.State) {
	c.Loses = []backend.Safe{backend.Text("all its files but those of mounted drives and volumes, its memory, and what runs in it")}
	c.Notes = append(c.Notes, actions.Sitting(st, b, "Its agent loses the sandbox in the middle of its work")...)
	c.Notes = append(c.Notes, restores(b)...)
	if ref != nil {
		switch ref.Agent.Snapshot.String() {
		case "noop":
			c.Notes = append(c.Notes, backend.Textf("session %s has a saved state that names it and keeps no files elsewhere", ref.Session.Safe()))
		default:
			c.Notes = append(c.Notes, backend.Textf("session %s has a saved state that names it: when it goes on, it gets an empty sandbox of the same name", ref.Session.Safe()))
		}
	}
}

// token finds the token that is removed.
func (l targetReader) token(c *actions.Candidate, b *backend.Sandbox, wanted string) {
	var names []backend.Safe
	var choices []actions.Choice
	var preview, token backend.Safe
	var until backend.Value[time.Time]
	for _, p := range b.Previews {
		for _, t := range p.Tokens {
			name := backend.Textf("%s/%s", p.Name, t.Name)
			names = append(names, name)
			choices = append(choices, actions.Choice{Name: name.String(), Text: backend.Textf("%s, %s", name, ends(t.Expires))})
			if name.String() == wanted || wanted == "" {
				preview, token, until = p.Name, t.Name, t.Expires
			}
		}
	}
	c.Identity = append(c.Identity, actions.Fact{Name: factPreview, Value: preview.String()}, actions.Fact{Name: factToken, Value: token.String()})
	switch {
	case !c.Why.IsEmpty():
	case b.PreviewsAt.IsZero():
		c.Why = backend.Text("its previews were not read yet")
	case len(names) == 0:
		c.Why = backend.Text("no token of a preview of it is known")
	case wanted == "" && len(names) > 1:
		c.Why = backend.Textf("it has %s: choose one (a command takes --token), of %s", backend.Counted(len(names), "token", "tokens"), some(names))
		c.Choices = choices
	case token.IsEmpty():
		c.Why = backend.Textf("no token is called so: there are %s", some(names))
	default:
		c.Loses = []backend.Safe{backend.Textf("token %s of preview %s; %s", token, preview, ends(until))}
		c.Notes = append(c.Notes, backend.Text("a session that uses it gets no new one by itself until it asks for the port again"))
	}
}

// ends says until when a token is good by itself.
func ends(until backend.Value[time.Time]) backend.Safe {
	switch at, known := until.Get(); {
	case known:
		return backend.Textf("it would end at %s", backend.Clean(at.UTC().Format("2006-01-02 15:04Z"), 40))
	case until.IsNotApplicable():
		return backend.Text("it has no end of its own")
	}
	return backend.Text("when it ends is not known")
}

// some names at most a few.
func some(names []backend.Safe) backend.Safe {
	const most = 6
	out := backend.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		return backend.Textf("%s and %d more", out, len(names)-most)
	}
	return out
}
