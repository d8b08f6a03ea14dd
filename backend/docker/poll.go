package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"sandglass/backend"
)

// eventList is the shortest time between two lists that events ask for. Events name the containers to inspect; the
// list beside them only catches what an event did not say.
const eventList = 2 * time.Second

// maxProblems bounds what one reading complains about.
const maxProblems = 50

// poll is the work of one Poll.
type poll struct {
	s       *Source
	ctx     context.Context
	eng     engine
	r       backend.Reading
	pend    pendingEvents
	listed  bool
	was     map[string]bool   // containers that the events name and that were sandboxes before this poll
	health  map[string]string // of these, before this poll
	offset  time.Duration
	waiting int // containers that are still to be inspected
	// checking is how many containers are looked at for what they are inside.
	checking int
	// waits says that its checks are in its reading: nobody may ask again.
	waits bool
}

// Poll reads what changed, and waits for its checks. It asks for nothing when the event stream is open and nothing is due.
func (s *Source) Poll(ctx context.Context) (backend.Reading, error) {
	return s.poll(ctx, true, func(backend.Reading) {})
}

// PollParts is Poll for a caller that goes on: the checks after those of the first poll run beside it, for the polls to come.
// part gets the first list before its containers are inspected.
func (s *Source) PollParts(ctx context.Context, part func(backend.Reading)) (backend.Reading, error) {
	return s.poll(ctx, false, part)
}

func (s *Source) poll(ctx context.Context, waits bool, part func(backend.Reading)) (backend.Reading, error) {
	p := &poll{s: s, ctx: ctx, waits: waits, r: backend.Reading{Started: s.deps.Now()}}
	eng, err := s.connected(ctx)
	if err != nil {
		return p.r, err
	}
	p.eng, p.pend = eng, s.takePending()
	first := s.listed.IsZero()
	s.polls++
	p.remember()
	if p.listDue() {
		if err := p.list(); err != nil {
			s.putBack(p.pend)
			p.r.Load = eng.takeLoad()
			if k := backend.KindOf(err); k == backend.ErrUnreachable || k == backend.ErrTimeout {
				s.drop() // the next poll greets it anew: it may have been replaced by another version
			}
			return p.r, s.sign(err)
		}
	}
	offset, _ := eng.clock()
	p.offset, p.r.ClockOffset = offset.Or(0), offset
	if first && len(s.entries) > 0 {
		part(p.firstList())
	}
	p.catchUp()
	p.mark()
	p.mergeChecks()
	p.inspect()
	p.kernelKills()
	p.startChecks(first)
	p.tails()
	p.tell()
	p.figures()
	p.finish()
	return p.r, nil
}

// listDue decides whether the whole list is asked for.
func (p *poll) listDue() bool {
	age := p.r.Started.Sub(p.s.listed)
	switch {
	case p.s.listed.IsZero(), !p.pend.open, p.pend.gap, age >= p.s.opt.Relist.Std():
		return true
	}
	told := slices.ContainsFunc(p.pend.events, func(e lifecycle) bool { return e.action != "health_status" }) // Podman's word after each check
	return told && age >= eventList
}

func (p *poll) list() error {
	ctx, cancel := context.WithTimeout(p.ctx, p.s.deadline(p.ctx))
	defer cancel()
	sent := p.s.deps.Now()
	items, err := p.eng.list(ctx)
	if backend.KindOf(err) == backend.ErrGone {
		return &backend.Error{Kind: backend.ErrInvalid, Where: p.s.at.url, Err: fmt.Errorf("no Engine API answers here: %w", err)}
	}
	if err != nil {
		return err
	}
	now := p.s.deps.Now()
	if _, told := p.eng.clock(); p.s.listed.IsZero() && !told.IsZero() {
		p.s.mu.Lock()
		p.s.pend.first = told.Add(sent.Sub(now) - time.Second) // the answer carries whole seconds
		p.s.mu.Unlock()
	}
	named := make(map[string]bool, len(items))
	for i := range items {
		c := &items[i]
		id, err := backend.NewID(c.id)
		if err != nil || named[c.id] {
			p.problem(backend.Problem{Kind: backend.ErrInvalid, Where: backend.Text("/containers/json"),
				What: backend.Textf("line %d of the list has no usable id or a duplicate one; it is left out", i+1)})
			continue
		}
		named[c.id] = true
		e := p.s.entries[c.id]
		if e == nil {
			e = &cachedContainer{id: id, readAt: now}
			p.s.entries[c.id] = e
		}
		if e.sum == nil && e.ins != nil && e.ins.state == c.state && e.ins.name == c.name {
			e.mark = markOf(c) // the inspection was newer than the list before this one
		}
		if e.sum, e.unlisted = c, false; e.fails == 0 {
			e.readAt = now
		}
	}
	if p.leaveOut(named); p.s.listed.IsZero() {
		p.expect(named)
	}
	p.s.listed, p.listed = now, true
	return nil
}

// expect adds containers that the first list does not name: those that alert, and all that a former run listed where this list
// lost half or more of them.
func (p *poll) expect(named map[string]bool) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	ask := slices.Clone(p.s.alerting)
	var lost []backend.ID
	for _, id := range p.s.known {
		if !named[id.Raw()] {
			lost = append(lost, id)
		}
	}
	if backend.LostAtOnce(len(p.s.known), len(lost)) {
		ask = append(ask, lost...)
	}
	for _, id := range ask {
		if !named[id.Raw()] && p.s.entries[id.Raw()] == nil {
			p.s.entries[id.Raw()] = &cachedContainer{id: id, unlisted: true, dirty: true}
		}
	}
}

// leaveOut forgets the containers that the list does not name. Where these are suspiciously many, each is asked for by its id
// first: an empty or cut list looks like the end of all.
func (p *poll) leaveOut(named map[string]bool) {
	var lost []*cachedContainer
	alive := false
	before := 0
	for raw, e := range p.s.entries {
		if !e.unlisted {
			before++
		}
		switch {
		case named[raw]:
		case e.unlisted:
			e.dirty, e.sum = true, nil
		default:
			lost = append(lost, e)
			alive = alive || e.class() == backend.SandboxRunning
		}
	}
	suspect := alive && backend.LostAtOnce(before, len(lost))
	for _, e := range lost {
		if !suspect {
			delete(p.s.entries, e.id.Raw())
			continue
		}
		e.unlisted, e.dirty = true, true
		if e.ins != nil {
			e.sum = nil
		}
	}
}

// firstList is what the list alone tells. What only an inspection tells is unknown, and no absence is concluded from it.
func (p *poll) firstList() backend.Reading {
	r := backend.Reading{Started: p.r.Started, At: p.s.listed, Scopes: []backend.Scope{{Kind: backend.KindSandbox}}}
	for _, e := range p.s.sorted() {
		if e.sum != nil {
			r.Sandboxes = append(r.Sandboxes, p.s.sandbox(e, p.offset))
		}
	}
	return r
}

// remember notes which of the containers that the events name are sandboxes, before the list takes them away.
func (p *poll) remember() {
	p.was, p.health = make(map[string]bool, len(p.pend.events)), map[string]string{}
	for _, ev := range p.pend.events {
		if e := p.s.entries[ev.id]; e != nil && (e.ins != nil || e.sum != nil) {
			p.was[ev.id] = p.s.judged(e)
			if e.ins != nil {
				p.health[ev.id] = e.ins.health
			}
		}
	}
}

// mark notes which containers the events name.
func (p *poll) mark() {
	for _, e := range p.s.entries {
		// Nobody told of a quick restart in a gap, and the list does not show it.
		unwatched := !p.pend.open && (p.r.Started.Sub(e.inspected) >= p.s.opt.Relist.Std() || e.hidesHealth())
		if (p.pend.missed || unwatched) && e.ins != nil && (e.alive() || e.class() == backend.SandboxRestarting) || e.ins != nil && e.ins.again {
			e.dirty = true
		}
		// No event tells of one more failed check: how many failed, and what the newest printed, is at most as old as the list.
		if e.ins != nil && e.ins.health == "unhealthy" && p.s.judged(e) && p.r.Started.Sub(e.inspected) >= p.s.opt.Relist.Std() {
			e.dirty = true
		}
	}
	for _, ev := range p.pend.events {
		id, err := backend.NewID(ev.id)
		if err != nil {
			continue
		}
		e := p.s.entries[ev.id]
		if e == nil {
			if p.listed || ev.action == "destroy" {
				continue // it came and went
			}
			e = &cachedContainer{id: id, readAt: p.r.Started}
			p.s.entries[ev.id] = e
		}
		e.dirty = ev.action != "destroy"
	}
}

// tell makes timeline entries of the events that concern sandboxes, and ends what was destroyed.
func (p *poll) tell() {
	for i, ev := range p.pend.events {
		id, err := backend.NewID(ev.id)
		if err != nil {
			continue
		}
		e := p.s.entries[ev.id]
		known := e != nil && (e.ins != nil || e.sum != nil)
		switch {
		case ev.action == cleanup:
			continue
		case ev.action == "health_status": // Podman says it after each check, and not what came of it
			if e == nil || e.ins == nil || e.ins.health == "" || e.ins.health == p.health[ev.id] {
				continue
			}
			p.health[ev.id], ev.action = e.ins.health, "health_status: "+e.ins.health
		}
		if p.was[ev.id] || known && p.s.judged(e) || !known && p.s.sel.judged(ev.labels, nil) {
			p.r.Events = append(p.r.Events, p.s.tell(ev, id, p.offset))
			if e == nil && ev.action == "oom" && !p.was[ev.id] {
				p.removed(&p.pend.events[i], id)
			}
		} else if ev.action == "oom" { // no sandbox, and still why the kernel killed something
			p.r.Counts = append(p.r.Counts, backend.Count{Series: backend.Series{Source: p.s.deps.ID, Name: backend.MetricLimitKills, Sandbox: id}, At: ev.at.Add(-p.offset), N: 1})
		}
		if ev.action == "destroy" {
			p.end(ev.id, id)
		}
	}
	if p.pend.lost > 0 {
		p.note("%d events came faster than they could be kept; the state is right, lines of the timeline are missing", p.pend.lost)
	}
}

// end removes a container that its engine calls gone.
func (p *poll) end(raw string, id backend.ID) {
	delete(p.s.entries, raw)
	if k := p.s.key(id); !slices.Contains(p.r.Ended, k) {
		p.r.Ended = append(p.r.Ended, k)
	}
}

func (p *poll) note(format backend.Literal, args ...any) {
	p.r.Notes = append(p.r.Notes, backend.Textf(format, args...))
}

func (p *poll) problem(b backend.Problem) {
	if b.At.IsZero() {
		b.At = p.s.deps.Now()
	}
	if len(p.r.Problems) < maxProblems {
		p.r.Problems = append(p.r.Problems, b)
	}
}

// finish puts the entities and the words about the source into the reading.
func (p *poll) finish() {
	s := p.s
	now := s.deps.Now()
	sandboxes, failing := 0, 0
	for _, e := range s.sorted() {
		if e.ins == nil && e.sum == nil {
			continue // an event named it and its inspection failed: the next list brings it
		}
		if p.pend.open && !p.listed && e.fails == 0 {
			e.readAt = now // the open stream said nothing: it is as it was
		}
		if s.judged(e) {
			sandboxes++
		}
		if e.fails > 0 {
			failing++
			p.problem(e.failed)
			p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: s.key(e.id), Why: e.failed.What})
		}
		if p.listed || e.touched {
			p.r.Sandboxes = append(p.r.Sandboxes, s.sandbox(e, p.offset))
		}
		e.touched = false
	}
	scope := backend.Scope{Kind: backend.KindSandbox, Complete: true}
	switch {
	case p.listed:
		p.r.Scopes = []backend.Scope{scope}
	case p.pend.open:
		p.r.Confirmed = []backend.Scope{scope}
	}
	p.r.Inputs = []backend.Input{backend.InputContainers}
	p.bookmark()
	p.words(sandboxes, failing)
	p.r.Load = p.eng.takeLoad()
	p.r.At = now
}

// words says what the Sources screen shows about the engine.
func (p *poll) words(sandboxes, failing int) {
	s := p.s
	s.mu.Lock()
	at, api := s.at, s.api
	s.mu.Unlock()
	all, unlisted := len(s.entries), 0
	for _, e := range s.entries {
		if e.unlisted && e.ins != nil {
			unlisted++
		}
	}
	if unlisted > 0 {
		p.r.Unseen = true
		p.r.Degraded = backend.Textf("its list leaves out %s that the engine still has: the list is not whole", backend.Clean(backend.Counted(unlisted, "container", "containers"), 40))
	}
	p.r.Engine = s.clean(at.place(), 300)
	p.r.Client = s.clean(s.ClientCommand(), 300)
	p.note("API %s at %s (%s)", s.clean(api, 20), s.clean(at.url, 200), s.clean(at.why, 100))
	p.note("%d containers, %d of them sandboxes", all, sandboxes)
	if !p.pend.open && p.pend.failure != nil && !errors.Is(p.pend.failure, context.Canceled) {
		p.note("no event stream, so every poll lists all containers: %s", s.clean(p.pend.failure.Error(), 300))
	}
	if p.waiting > 0 {
		p.r.Partial = true
		p.note("%d containers are still to be inspected", p.waiting)
	}
	p.checkWords()
	if failing > 0 && failing*4 >= all {
		p.r.Degraded = backend.Textf("%d of %d containers cannot be inspected", failing, all)
	}
}
