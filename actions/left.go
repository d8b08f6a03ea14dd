package actions

import (
	"context"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Remove is the verb under which the journal has the removal of what a process made and did not remove. It has no key and
// no command: the plan that made the sandbox was confirmed together with its removal.
const Remove Verb = "remove"

// lateCreate is how long after its announcement a sandbox may appear whose creation was sent by a process that ended.
const lateCreate = 2 * longestEffect

// announcements are the parts of the journal that say what is being made.
type announcements interface {
	// Held reports whether a living process carries the plan out.
	Held(digest string) bool
	// Announced reports whether the plan said that it makes a sandbox of that name.
	Announced(ctx context.Context, digest, name string) (bool, error)
}

// RemoveLeft removes a sandbox that a former process made and did not remove. It needs the label on the sandbox and the
// record in the journal, and leaves alone what a living process made. The answer says what was done, or what is left and why;
// empty: there is nothing to say.
func (c *Control) RemoveLeft(ctx context.Context, m Made, who audit.Who) backend.Safe {
	name, on := backend.Clean(m.Name, 120), backend.Clean(m.Source, 80)
	stays := func(why backend.Safe) backend.Safe {
		return backend.Textf("the sandbox %s, which %s made on %s, may still be there: %s", name, backend.Clean(string(m.Verb), 40), on, why)
	}
	j, ok := c.opt.Journal.(announcements)
	if !ok {
		return stays(backend.Text("there is no journal that proves it"))
	}
	if m.Process != c.opt.Self && c.opt.Alive != nil && c.opt.Alive(m.Process) || j.Held(m.Digest) {
		return backend.Safe{}
	}
	switch announced, err := j.Announced(ctx, m.Digest, m.Name); {
	case err != nil:
		return stays(backend.Clean("the journal cannot be read: "+err.Error(), 300))
	case !announced:
		return stays(backend.Text("the journal does not say that this program made it, so it is left alone"))
	}
	var able *Ability
	for i := range c.opt.Abilities {
		if a := &c.opt.Abilities[i]; a.Source == m.Source && a.Spec.Verb == m.Verb {
			able = a
		}
	}
	switch {
	case c.opt.ReadOnly:
		return stays(backend.Text("a read-only program removes nothing"))
	case able == nil:
		return stays(backend.Textf("%s is not in this configuration", on))
	case !able.Denied.IsEmpty():
		return stays(able.Denied)
	case able.Part.Left == nil:
		return stays(backend.Text("there is nothing that could remove it"))
	}
	return c.removeLeft(ctx, m, *able, who, stays)
}

// removeLeft looks for the sandbox, and removes it by a plan of its own.
func (c *Control) removeLeft(ctx context.Context, m Made, able Ability, who audit.Who, stays func(backend.Safe) backend.Safe) backend.Safe {
	now, part := c.opt.Now(), able.Part.Left(m)
	key := backend.Key{Kind: backend.KindSandbox, Source: m.Source, ID: backend.MustID(m.Name)}
	look := func() (*Candidate, error) {
		cs, err := c.look(ctx, part.Targets, Question{Keys: []backend.Key{key}, State: &fleet.State{}, Now: now})
		return pick(cs, key), err
	}
	x, err := look()
	remains := func(why backend.Safe) backend.Safe { // another process may have removed it meanwhile
		if x, err := look(); err == nil && x != nil && x.Ended {
			return c.forget(m, stays)
		}
		return stays(why)
	}
	switch {
	case err != nil:
		return stays(backend.Clean(err.Error(), 300))
	case x == nil:
		return stays(backend.Text("it was not found"))
	case x.Ended && now.Sub(m.At) < lateCreate:
		return backend.Safe{} // its creation may have been sent a moment ago
	case x.Ended:
		return c.forget(m, stays)
	case !x.Why.IsEmpty():
		return remains(x.Why)
	}
	able.Part = part
	able.Spec = Spec{Verb: Remove, Of: backend.KindSandbox, Title: "remove", Cap: CapAbsolute,
		Effect: "removes the sandbox that a plan made for itself and whose process ended"}
	p := &Plan{Schema: PlanSchema, Verb: Remove, Of: backend.KindSandbox, Title: able.Spec.Title, Effect: able.Spec.Effect, Source: m.Source,
		SourceKind: able.SourceKind, Environment: c.opt.Environment, Production: c.opt.Production, Made: now.UTC().Truncate(time.Millisecond), Who: who,
		Reason: backend.Textf("its process ended before it removed it: plan %s", backend.Clean(m.Digest, 20)), Headless: true, PerMinute: perMinute,
		Targets: []Target{{Key: key, Label: x.Label, Name: x.Name, Identity: x.Identity, Useless: true}}}
	p.seal()
	ok, err := confirm(p, now) // with the plan that made it
	if err != nil {
		return stays(backend.Clean(err.Error(), 300))
	}
	r, err := c.start(context.WithoutCancel(ctx), ok.plan, able, nil, func() bool { return false })
	if err != nil {
		return remains(backend.Clean(err.Error(), 300))
	}
	<-r.Done() // which each of its steps bounds
	if end := r.Progress(); end.Overall() != ResultVerified {
		why := end.Summary()
		if !end.Lines[0].Text.IsEmpty() {
			why = end.Lines[0].Text
		}
		return remains(why)
	}
	if why := c.forget(m, stays); !why.IsEmpty() {
		return why
	}
	return backend.Textf("removed the sandbox %s on %s: %s made it, and its process ended before it removed it", backend.Clean(m.Name, 120),
		backend.Clean(m.Source, 80), backend.Clean(string(m.Verb), 40))
}

func (c *Control) forget(m Made, stays func(backend.Safe) backend.Safe) backend.Safe {
	if err := c.store.gone(m.Digest); err != nil {
		return stays(backend.Clean("it is gone, and that cannot be written down: "+err.Error(), 300))
	}
	return backend.Safe{}
}
