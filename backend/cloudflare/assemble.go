package cloudflare

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// keyOf is the key of an instance: the sandbox id of the bridge where that is known, else the instance's own id.
func (s *Source) keyOf(b *box) backend.Key {
	key := backend.Key{Kind: backend.KindSandbox, Source: s.deps.ID, ID: b.id}
	if known, _ := s.bridgeID(b); !known.IsZero() {
		key.ID = known
	}
	return key
}

// assemble puts what is known into the reading.
func (p *poll) assemble() {
	s := p.s
	whole := s.appsWhole && !s.appsAt.IsZero()
	unread := 0
	for _, key := range s.listed {
		a := s.apps[key]
		whole = p.told(a) && whole
		if slices.ContainsFunc(a.lists[:], func(l list) bool { return l.done.IsZero() && l.err == nil && l.said == "" }) && a.lists[listActive].err == nil {
			unread++
		}
	}
	if s.behind = unread > 0; s.behind {
		p.unread = true
		if p.now.Sub(s.started) >= firstReads {
			p.r.Unseen = true
			p.note("the instances of %s were not read to their end yet: requests_per_second is %v", backend.Counted(unread, "application", "applications"), s.opt.RequestsPerSec)
		}
	}
	taken := map[backend.ID]bool{}
	for _, b := range p.sorted() {
		key := s.keyOf(b)
		if taken[key.ID] { // two containers for one sandbox: the newest counts
			continue
		}
		taken[key.ID] = true
		if b.key.Kind != "" && b.key != key { // it has another id since its sandbox id is known, or is not any more
			p.r.Ended = append(p.r.Ended, b.key)
		}
		b.key = key
		p.r.Sandboxes = append(p.r.Sandboxes, p.sandbox(b, key))
		if b.problem != nil {
			p.r.Problems = append(p.r.Problems, *b.problem)
			p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: key, Why: b.problem.What})
			whole = false
		}
	}
	if text := s.without(); !text.IsEmpty() { // it comes first: what else is told is of little use then
		p.r.Notes = slices.Insert(p.r.Notes, 0, text)
	}
	p.known(taken, whole && !p.unread)
	p.forgetNamed()
	p.r.OtherIDs = s.bridge == nil || s.bridge.wholeAt.IsZero()
	p.r.Scopes = []backend.Scope{{Kind: backend.KindSandbox, Complete: whole && !p.unread}}
}

// told says how the lists of an application went; it reports whether they are whole.
func (p *poll) told(a *app) (whole bool) {
	whole = true
	where := p.s.base + "/containers/applications/" + a.id.Safe().String() + "/instances-v2"
	var failed *failure
	var said []string
	for which := range a.lists {
		l := &a.lists[which]
		whole = whole && !l.done.IsZero() && l.said == ""
		if failed == nil {
			failed = l.err
		}
		if l.said != "" && !slices.Contains(said, l.said) { // one unreadable instance is in several lists
			said = append(said, l.said)
			p.problem(backend.Key{}, backend.ErrInvalid, where, "application "+a.name.String()+": "+l.said)
			if !l.cut {
				p.note("application %s: %s", a.name, p.clean(l.said, 200))
			}
		}
		if l.cut {
			p.r.Unseen = true
			p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("the list of instances of %s is not known to be whole: %s", a.name, p.clean(l.said, 200)))
		}
	}
	p.pool(a)
	if failed == nil {
		return whole
	}
	kind, at, what := p.s.explain(failed, needContainers)
	if a.unlisted {
		what += "; the platform does not list the instances of this application, so its containers are counted and not shown"
	}
	p.problem(backend.Key{}, kind, cmp.Or(at, where), "application "+a.name.String()+": "+what)
	p.r.Unseen = true
	if !a.unlisted {
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("the instances of the application %s cannot be read: %s", a.name, p.clean(what, 200)))
	}
	for _, b := range p.s.boxes {
		if b.app == a && b.problem == nil && b.readAt.Before(p.now) { // those of pages that were read now are as they are
			p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: p.s.keyOf(b), Why: p.clean(what, 200)})
		}
	}
	return false
}

// sorted are the instances, the newest start first.
func (p *poll) sorted() []*box {
	out := make([]*box, 0, len(p.s.boxes))
	for _, b := range p.s.boxes {
		out = append(out, b)
	}
	stable.Sort(out, func(a, b *box) int {
		return cmp.Or(b.entity.StartedAt.Or(b.at).Compare(a.entity.StartedAt.Or(a.at)), a.id.Compare(b.id))
	})
	return out
}

// sandbox makes the entity of an instance. It is a new one: what was delivered is never changed.
func (p *poll) sandbox(b *box, key backend.Key) *backend.Sandbox {
	out := b.entity
	out.Key, out.ReadAt, out.KnownSince = key, b.readAt, b.since
	if out.BridgeID, out.NamedBy = p.s.bridgeID(b); out.NamedBy == backend.NamedByRef {
		out.Labels = append(slices.Clone(out.Labels), p.s.named[b.name].label())
	}
	if out.Unattributed = out.BridgeID.IsZero(); !out.Unattributed && out.Name != out.BridgeID.Safe() { // the agents' logs and your code call it by this id
		if !out.Name.IsEmpty() {
			out.Labels = append(slices.Clone(out.Labels), backend.Field{Name: backend.Text("instance name"), Value: out.Name})
		}
		out.Name = out.BridgeID.Safe()
	}
	if w := p.s.bridge; w != nil {
		out.Labels = sleeps(out.Labels, w.boxes[out.BridgeID.Raw()].SleepAfter)
	}
	out.Labels = p.otherWord(&out)
	out.Application = b.app.name
	out.Image = cmp.Or(out.Image, b.app.image)
	out.Born = b.started
	out.FreshAt, out.FreshAfter = b.fresh, b.before
	out.Usage = p.s.analytics.of(p.s, b)
	if ns, known := p.s.namespaces.by[b.app.namespace]; known {
		out.ObjectClass, out.Script = ns.class, ns.script
	}
	return &out
}

// otherWord adds to the labels of a sandbox the word of its operator routes where the account says otherwise, or theirs is not known.
func (p *poll) otherWord(b *backend.Sandbox) []backend.Field {
	w := p.s.bridge
	if w == nil || b.Class != backend.SandboxRunning && !b.Class.Ended() {
		return b.Labels
	}
	x := w.boxes[b.BridgeID.Raw()]
	if runs, _ := x.Runs(); x.State == "" || runs == (b.Class == backend.SandboxRunning) {
		return b.Labels
	}
	return append(slices.Clone(b.Labels), backend.Field{Name: backend.Text(backend.RoutesSayLabel), Value: p.clean(x.State, maxWord)})
}

// pool says how full an application is. Where a Durable Object manages it a limit is not applicable.
func (p *poll) pool(a *app) {
	p.r.Pools = append(p.r.Pools, backend.Pool{ID: a.id, Name: a.name, Used: a.live, Starting: a.starting, Failed: a.failed, Limit: a.limit, At: p.s.appsAt, Health: a.health,
		Policy: a.policy, Rollout: backend.Clean(a.rollout, 80)})
}

// finish adds the words about the source.
func (p *poll) finish() {
	s := p.s
	p.r.Inputs = append(p.r.Inputs, backend.InputContainers, backend.InputCapacity)
	if s.appsSaid != "" {
		p.problem(backend.Key{}, backend.ErrInvalid, s.base+"/containers/applications", "the list of applications: "+s.appsSaid)
	}
	if f := s.namespaces.err; f != nil {
		kind, where, what := s.explain(f, needScripts)
		p.problem(backend.Key{}, kind, where, "class and script of the sandboxes are not known: "+what)
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("class and script of the sandboxes are not known: %s", p.clean(what, 200)))
	}
	p.r.Partial = p.unread && p.now.Sub(s.started) < firstReads
	p.r.Bookmarks = s.bookmarks()
	p.paced()
	p.r.Load = s.client.TakeLoad()
	p.r.ClockOffset = s.client.Offset()
	if b := s.budget.State(); b.Current < b.Configured {
		p.note("request budget %.2g of %.2g a second: %v", b.Current, b.Configured, b.Why)
	}
	p.r.At = s.deps.Now()
}

// sleeps adds to the labels of a sandbox how long it rests before it sleeps, where its operator routes tell.
func sleeps(labels []backend.Field, after time.Duration) []backend.Field {
	if after == 0 {
		return labels
	}
	text := backend.Clean(backend.Duration(after).String(), maxWord)
	return append(slices.Clone(labels), backend.Field{Name: backend.Text(backend.SleepAfterLabel), Value: text})
}
