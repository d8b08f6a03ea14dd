package blaxel

import (
	"cmp"
	"time"

	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/internal/stable"
)

// assemble puts what is known into the reading.
func (p *poll) assemble() {
	s := p.s
	l := &s.sandboxes
	whole := l.said == "" && l.walk == nil && !l.done.IsZero()
	var silent int
	var first *backend.Problem
	var of *box
	trouble := 0
	for _, b := range p.sorted() {
		out := p.sandbox(b)
		p.r.Sandboxes = append(p.r.Sandboxes, out)
		if b.status == "DEPLOYED" && out.Power.IsEmpty() {
			silent++
		}
		for _, x := range []*backend.Problem{b.own.problem, b.previews.problem} {
			if x == nil {
				continue
			}
			if trouble++; first == nil {
				first, of = x, b
			}
			p.problem(x.Subject, x.Kind, x.Where.String(), x.What.String())
		}
		if at := out.Address.String(); at != "" {
			if _, err := sandbox.Address(at, s.opt.URL, s.opt.Hosts); err != nil {
				p.problem(out.Key, backend.ErrInvalid, "sandbox "+out.Name.String(), err.Error())
			}
		}
		whole = whole && !b.lost
	}
	p.noteNamed()
	if l.said != "" {
		p.problem(backend.Key{}, backend.ErrInvalid, s.opt.URL+"/sandboxes", "the list of sandboxes: "+l.said)
		p.r.Unseen = true
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("the list of sandboxes is not whole: %s", p.clean(l.said, 200)))
	}
	if trouble > 0 {
		p.r.Unseen = true
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("%s of sandboxes cannot be read, the first is of %s: %s", backend.Counted(trouble, "part", "parts"), of.entity.Name, first.What))
	}
	if silent > 0 {
		p.note("whether it runs or sleeps is not told of %s: the list leaves it out, and own records are read as the budget allows", backend.Counted(silent, "deployed sandbox", "deployed sandboxes"))
	}
	p.r.Scopes = []backend.Scope{{Kind: backend.KindSandbox, Complete: whole}}
}

func (p *poll) sorted() []*box {
	out := make([]*box, 0, len(p.s.boxes))
	for _, b := range p.s.boxes {
		out = append(out, b)
	}
	stable.Sort(out, func(a, b *box) int { return a.id.Compare(b.id) })
	return out
}

// sandbox makes the entity of a sandbox. It is a new one: what was delivered is never changed.
func (p *poll) sandbox(b *box) *backend.Sandbox {
	out := b.entity
	out.Born = b.created
	if b.lost {
		out.ToldBy = backend.Text("a reading from before: the newest list does not name it, and its own record was not read since")
	} else if b.alone {
		out.ToldBy = backend.Text("its own record: no list names it")
	}
	out.Key, out.ReadAt, out.KnownSince, out.FreshAt = p.s.key(b.id), b.readAt, b.since, b.fresh
	if b.status == "DEPLOYED" && b.state == "" && b.ownRow.status == "DEPLOYED" && b.ownRow.state != "" && p.now.Sub(b.own.read) < stateLives {
		out.Power, out.Class, out.Reported = b.ownRow.entity.Power, b.ownRow.entity.Class, b.ownRow.entity.Reported
	}
	if !b.own.read.IsZero() {
		out.Lifecycle, out.LifecycleAt = b.ownRow.events, b.own.read
		if out.Class == backend.SandboxDead && out.StartError.IsEmpty() {
			out.StartError, out.FinishedAt = b.ownRow.entity.StartError, b.ownRow.entity.FinishedAt
		}
	}
	out.Previews, out.PreviewsAt = b.shown, b.previews.read
	if !p.s.saved.done.IsZero() {
		out.Snapshots, out.SnapshotsAt = p.s.snapshots[b.id.Raw()], p.s.saved.done
	}
	return &out
}

// finish adds the words about the source.
func (p *poll) finish() {
	s := p.s
	p.r.Inputs = append(p.r.Inputs, backend.InputContainers, backend.InputPlatform)
	if f := s.barred.f; f != nil {
		kind, where, what := s.explain(f)
		p.problem(backend.Key{}, kind, where, "previews cannot be read: "+what)
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("previews cannot be read: %s", p.clean(what, 200)))
	}
	switch f := s.saved.err; {
	case s.saved.none:
		p.note("this control plane has no list of snapshots")
	case f != nil:
		kind, where, what := s.explain(f)
		p.problem(backend.Key{}, kind, where, "what could be restored is not known: "+what)
		p.r.Degraded = cmp.Or(p.r.Degraded, backend.Textf("what could be restored is not known: %s", p.clean(what, 200)))
	case s.saved.said != "":
		p.problem(backend.Key{}, backend.ErrInvalid, s.opt.URL+"/snapshots", "the list of snapshots: "+s.saved.said)
	}
	if text := s.login.warning(); !text.IsEmpty() {
		p.r.Degraded = cmp.Or(p.r.Degraded, text)
	}
	p.r.Partial = p.unread && p.now.Sub(s.started) < firstReads
	p.r.Bookmarks = s.bookmarks()
	p.r.AnsweredAt = s.sandboxes.from
	p.r.Paced(max(s.opt.Inventory.Std(), time.Duration(s.sandboxes.size)*perPage), s.deps.Interval,
		backend.Textf("inventory: the control plane bounds requests, interval is %s", backend.Duration(s.deps.Interval)))
	p.r.Load = s.client.TakeLoad()
	p.r.ClockOffset = s.client.Offset()
	if b := s.budget.State(); b.Current < b.Configured {
		p.note("request budget %.2g of %.2g a second: %v", b.Current, b.Configured, b.Why)
	}
	p.r.At = s.deps.Now()
}
