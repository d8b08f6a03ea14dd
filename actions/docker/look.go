package docker

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/workdir"
)

// parallelReads is how many containers are read at once, maxSized of how many targets the engine is asked what they wrote: that
// makes it walk through all of their files.
const (
	parallelReads = 6
	maxSized      = 20
)

// targetReader reads the targets of one verb.
type targetReader struct {
	factory *clientFactory
	verb    actions.Verb
}

// Look reads each container from the engine. It sends GET and HEAD.
func (l targetReader) Look(ctx context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, len(q.Keys))
	for i, k := range q.Keys {
		out[i] = actions.Candidate{Key: k}
	}
	r, err := l.factory.read()
	if err != nil {
		why := l.factory.deps.Cleaner.Clean(err.Error(), 300)
		for i := range out {
			out[i].Why = why
		}
		return out
	}
	defer func() { _ = r.close() }() // idle connections; nothing is lost
	view := &lookup{targetReader: l, r: r, q: q}
	if l.verb == actions.Destroy {
		view.refs = refsByBox(q.State, q.Keys)
	}
	jobs := make(chan *actions.Candidate, len(out))
	for i := range out {
		jobs <- &out[i]
	}
	close(jobs)
	var all sync.WaitGroup
	for range min(parallelReads, len(out)) {
		all.Add(1)
		l.factory.deps.Spawn.Go("look at containers of "+l.factory.deps.ID, func() {
			defer all.Done()
			for c := range jobs {
				view.one(ctx, c)
			}
		})
	}
	all.Wait()
	return out
}

// lookup is the work of one Look.
type lookup struct {
	targetReader
	r    *reader
	q    actions.Question
	refs map[string][]*backend.Ref // by the full id of the container they name
}

func (l *lookup) one(ctx context.Context, c *actions.Candidate) {
	known := l.q.State.Sandbox(c.Key)
	switch {
	case known == nil:
		c.Why = backend.Text("the newest reading of its engine does not list it")
		return
	case !known.IsSandbox:
		c.Label, c.Why = known.Name, backend.Textf("it is not a sandbox, and only sandboxes are acted on; %s makes a container one", l.factory.source.Marks())
		return
	}
	c.Label = known.Name
	sized := l.verb == actions.Destroy && !l.q.Again && len(l.q.Keys) <= maxSized
	b, err := l.r.inspect(ctx, c.Key.ID, sized)
	if err != nil && err != errGone && sized { // the size may be what takes too long
		b, err = l.r.inspect(ctx, c.Key.ID, false)
	}
	if err != nil {
		c.Why = l.factory.deps.Cleaner.Clean(err.Error(), 300)
		return
	}
	c.Name, c.Identity, c.Why = b.name, b.identity(l.verb), b.unfit(l.verb)
	if !c.Why.IsEmpty() {
		return
	}
	if c.Why = l.waits(c.Key.ID); !c.Why.IsEmpty() {
		return
	}
	o := ownerOf(l.q.State, known)
	// What a resting session left behind may be wanted again.
	c.Owner, c.Useless = o.who, o.nobody || b.idle() && !o.rests && !o.live
	if l.verb == actions.Destroy {
		if c.Why = o.spares(); c.Why.IsEmpty() {
			if other := namedBy(l.q.State, l.refs, known); !other.IsEmpty() {
				c.Why = backend.Textf("a saved reference of session %s, which is live, names it", other)
			}
		}
		if !c.Why.IsEmpty() {
			return
		}
	}
	l.remarks(c, b, known, o)
	if l.verb == actions.Repair {
		l.root(ctx, c, b)
	}
}

// waits is why a verb that runs commands in a container waits for what is queued there; empty: it does not. A resume is no
// exception: what verifies it runs commands.
func (l *lookup) waits(id backend.ID) backend.Safe {
	if l.verb != actions.Probe && l.verb != actions.Repair && l.verb != actions.Resume && l.verb != actions.Shell {
		return backend.Safe{}
	}
	for x := range l.q.State.Executions.All() {
		if x.Class == backend.WorkQueued && x.Sandbox == id {
			return backend.Textf("%s is queued in it, and no command is run before it", x.Key.ID.Safe())
		}
	}
	return backend.Safe{}
}

// remarks are what the plan says about an eligible target.
func (l *lookup) remarks(c *actions.Candidate, b *containerInfo, known *backend.Sandbox, o owner) {
	note := func(s backend.Safe) {
		if !s.IsEmpty() {
			c.Notes = append(c.Notes, s)
		}
	}
	disturbed := func() {
		switch {
		case o.live:
			note(backend.Textf("%s is live", o.who))
		case !o.unsure.IsEmpty():
			note(backend.Textf("whether %s is live is not known: %s", o.who, o.unsure))
		}
	}
	switch l.verb {
	case actions.Destroy:
		note(o.note)
		l.losesAll(c, b, known)
		if b.restarting {
			note(backend.Text("its restart policy goes with it: the engine does not start it again"))
		}
	case actions.Start:
		note(o.note)
		if b.restarting {
			note(backend.Text("its restart policy holds again: the engine starts it again when it ends"))
		}
		if b.autoRemove {
			note(backend.Text("the engine removes it when it ends (it was made with --rm)"))
		}
	case actions.Shell:
		disturbed()
	case actions.Restart:
		disturbed()
		l.losesRun(c, b, known)
		note(b.killedAfter(l.factory.opt))
	case actions.Stop:
		disturbed()
		l.losesRun(c, b, known)
		note(b.killedAfter(l.factory.opt))
		if b.restarting {
			note(backend.Text("its restart policy may start it again when the engine itself starts"))
		}
	case actions.Pause:
		disturbed()
	}
}

// losesRun lists what ends with the container's processes.
func (l *lookup) losesRun(c *actions.Candidate, b *containerInfo, known *backend.Sandbox) {
	if started, ok := known.StartedAt.Get(); ok && !b.idle() {
		c.Loses = append(c.Loses, backend.Textf("what runs in it, up %s", backend.Age(l.q.Now.Sub(started))))
	} else if !b.idle() {
		c.Loses = append(c.Loses, backend.Text("what runs in it"))
	}
	for _, m := range b.Mounts {
		if m.Kind == "tmpfs" && !b.idle() {
			c.Loses = append(c.Loses, backend.Textf("the contents of %s, which are in memory", l.clean(m.Dest)))
		}
	}
}

// losesAll lists what goes with the container, and notes what stays.
func (l *lookup) losesAll(c *actions.Candidate, b *containerInfo, known *backend.Sandbox) {
	l.losesRun(c, b, known)
	if n, ok := b.written.Get(); ok {
		c.Loses = append(c.Loses, backend.Textf("its own layer: %s written since it was made", backend.Bytes(n)))
	} else if !l.q.Again {
		c.Loses = append(c.Loses, backend.Text("its own layer: everything written since it was made; how much is not known"))
	}
	if b.state != stateCreated {
		c.Loses = append(c.Loses, backend.Text("its log"))
	}
	unmounted, removed := l.factory.host.Gone(&b.Container)
	switch m, ok := b.Covering(b.Dir); {
	case ok && m.Kept() && !slices.Contains(unmounted, m) && !slices.Contains(removed, m):
	case slices.ContainsFunc(b.Mounts, func(m workdir.Mount) bool { return m.Kept() && m.Under(b.Dir) }):
		c.Loses = append(c.Loses, backend.Textf("the files of %s outside its mounts: nothing else holds them", l.clean(b.Dir)))
	default:
		c.Loses = append(c.Loses, backend.Textf("the files of %s: nothing else holds them", l.clean(b.Dir)))
	}
	for _, m := range b.Mounts {
		switch {
		case slices.Contains(unmounted, m):
			c.Loses = append(c.Loses, backend.Textf("what was written below %s since its %s was unmounted: it is in the container's own layer", l.clean(m.Dest), l.clean(m.Kind)))
			c.Notes = append(c.Notes, backend.Textf("%s is mounted at %s no more, and stays as it is", l.clean(cmp.Or(m.Name, m.Source)), l.clean(m.Dest)))
		case slices.Contains(removed, m):
			c.Loses = append(c.Loses, backend.Textf("what is left at %s: %s was removed while the container ran", l.clean(m.Dest), l.clean(cmp.Or(m.Name, m.Source))))
		case m.Anonymous:
			c.Loses = append(c.Loses, backend.Textf("its anonymous volume at %s, unless another container uses it", l.clean(m.Dest)))
		case m.Kind == "volume":
			c.Notes = append(c.Notes, backend.Textf("volume %s at %s stays%s", l.clean(m.Name), l.clean(m.Dest), readOnly(m)))
		case m.Kind == "bind":
			c.Notes = append(c.Notes, backend.Textf("%s of the host at %s stays%s", l.clean(m.Source), l.clean(m.Dest), readOnly(m)))
		}
	}
}

// readOnly says of a mount that stays that nothing in the container could write to it.
func readOnly(m workdir.Mount) backend.Safe {
	if m.ReadOnly {
		return backend.Text("; it was mounted read-only")
	}
	return backend.Safe{}
}

func (l *lookup) clean(raw string) backend.Safe { return l.factory.deps.Cleaner.Clean(raw, 200) }

// classVerifier verifies a verb after which a container is in a state.
type classVerifier struct{ class backend.SandboxClass }

// Verify looks for a reading of the container that was made after the verb was issued.
func (v classVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	b := s.Sandbox(t.Key)
	if b == nil {
		if g := actions.Gone(t, issued, s); g.Result == actions.ResultVerified {
			return actions.Verdict{Result: actions.ResultEnded, Why: g.Why}
		}
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("it is not listed")}
	}
	_, stale := s.StaleWhy(&b.Meta)
	switch {
	case stale || !s.ReadAt(&b.Meta).After(issued):
		return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Text("it was not read since")}
	case b.Class == v.class:
		return actions.Verdict{Result: actions.ResultVerified, Why: backend.Textf("its engine calls it %s", b.Reported)}
	}
	return actions.Verdict{Result: actions.ResultAccepted, Why: backend.Textf("its engine still calls it %s", b.Reported)}
}

// removalVerifier verifies a verb after which a container is no more.
type removalVerifier struct{ actions.StillListed }

// Verify looks for a later reading that lists the container no longer.
func (removalVerifier) Verify(t actions.Target, issued time.Time, s *fleet.State) actions.Verdict {
	return actions.Gone(t, issued, s)
}
