package helix

import (
	"context"
	"errors"
	"hash/maphash"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// session is one session of the aggregate route as it was last read. Entities that were handed out belong to the fleet;
// they are passed on again, and nothing but their keys is looked at.
type session struct {
	id         backend.ID
	hash       uint64
	rest       uint64 // hash of what its text says beside the registry
	clock      clockCorrection
	entity     *backend.Session
	workspaces []readWorkspace
	work       *work // nil: none is listed
	registry   bool  // it had a registry snapshot, possibly an empty one
	running    backend.Value[bool]
	ended      []backend.Key // workspaces that went with the registry of an ended run; delivered once
	delivered  bool          // the fleet has the entity
	bad        error         // its snapshot is not to be trusted; workspaces are those of the last good one
}

// readWorkspace is one workspace as it was last read.
type readWorkspace struct {
	hash      uint64
	named     bool
	undated   bool // it carries a time that is none, or in the future
	delivered bool // the fleet has it
	w         *backend.Workspace
}

// aggregate is the state of the aggregate mode.
type aggregate struct {
	current      *pageWalk // in progress
	previous     *pageWalk // last complete one
	goodReadings int       // consecutive readings that delivered all of previous without a fault
	byHash       map[uint64]*session
	byID         map[backend.ID]*session
}

func (a *aggregate) init() {
	a.byHash, a.byID = map[uint64]*session{}, map[backend.ID]*session{}
}

// readSession adds one session of a page. The error names a session that cannot be identified.
func (s *Source) readSession(d *decoder, n wire.Node, resp *wire.Response, p *page) error {
	hash := maphash.Bytes(s.seed, n.Raw())
	if old := s.agg.byHash[hash]; old != nil && old.clock == d.clock {
		p.sessions = append(p.sessions, old)
		return nil
	}
	l, registry, err := d.session(n, s.opt.Pointers, s.running)
	if err != nil {
		return err
	}
	old := s.agg.byID[l.id]
	s.listsWork(l, resp.At)
	x := &session{id: l.id, hash: hash, clock: d.clock, running: l.running, work: l.work}
	var entries []entry
	switch x.registry = registry.node.Exists() && !registry.node.IsNull(); {
	case x.registry && registry.single:
		entries, err = single(registry.node)
	case x.registry:
		entries, err = entriesOf(registry.node)
	}
	if errors.Is(err, errOtherShape) {
		err = registry.node.Invalid("want an array or an object of registry entries")
	}
	if err == nil {
		x.workspaces, err = s.readWorkspaces(d, entries, old, l.id, resp.At)
	}
	if err != nil {
		x.bad, x.hash = at(resp.Where, err), 0
		if old != nil {
			x.workspaces = old.workspaces
		}
	}
	if x.registry && x.bad == nil && (len(entries) > 0 || l.running.Or(true)) && !l.over(x.workspaces, resp.At) { // an empty one does not contradict its status
		x.running = backend.Known(true)
	}
	rest := n.RawWithout(registry.node, "[...]")
	x.rest = maphash.String(s.seed, rest)
	if x.bad == nil && old != nil && old.sameEntity(x) {
		x.entity, x.delivered = old.entity, old.delivered
	} else {
		s.makeEntity(d, x, l, rest, resp.At)
	}
	idle := registry.node.Exists() && !x.running.IsKnown() // null, where no status tells whether it runs
	if !x.registry && old != nil && (idle || !x.running.Or(true)) {
		for i := range old.workspaces {
			x.ended = append(x.ended, old.workspaces[i].w.Key)
		}
	}
	s.agg.byID[l.id] = x
	if x.bad == nil {
		s.agg.byHash[hash] = x
	}
	p.sessions = append(p.sessions, x)
	return nil
}

// over reports whether the route says with its status and with the time of its end that a session is over, though it still lists its
// registry. An end before its start, or before the newest use of a workspace, is that of a former run.
func (l *listed) over(workspaces []readWorkspace, now time.Time) bool {
	if !backend.EndedWord(l.status) || l.running.Or(true) || l.ended.IsZero() || l.ended.After(now) || l.facts.StartedAt.Or(time.Time{}).After(l.ended) {
		return false
	}
	for i := range workspaces {
		w := workspaces[i].w
		for _, at := range []backend.Value[time.Time]{w.LastAttemptAt, w.LastSuccessAt, w.LastOpAt} {
			if at.Or(time.Time{}).After(l.ended) {
				return false
			}
		}
	}
	return true
}

// badSession is a session of which nothing but its id can be read; its workspaces are those of the last good reading.
func (s *Source) badSession(l listed, problem error, at time.Time) *session {
	x := &session{id: l.id, clock: s.dec.clock, bad: problem}
	if old := s.agg.byID[l.id]; old != nil {
		x.workspaces = old.workspaces
	}
	s.makeEntity(s.dec, x, l, "", at)
	s.agg.byID[l.id] = x
	return x
}

// sameEntity reports whether a newer answer makes the same session entity, whatever its workspaces do. The fleet
// recognises an unchanged entity by its address.
func (x *session) sameEntity(newer *session) bool {
	return x.bad == nil && x.clock == newer.clock && x.rest == newer.rest && x.running == newer.running
}

func (s *Source) makeEntity(d *decoder, x *session, l listed, rest string, at time.Time) {
	x.entity = sessionEntity(s.deps.ID, l, at)
	x.entity.Running = x.running
	if x.entity.ListedRunning.Or(false) {
		x.entity.Running = backend.Known(true)
	}
	x.entity.Raw = d.clean.Clean(rest, 2000)
	if x.bad != nil {
		_, where, what := explain(x.bad)
		x.entity.Answer, x.entity.AnswerText = backend.AnswerInvalid, d.clean.Clean(where+": "+what, 300)
	}
	d.declareSession(l.id, &x.entity.SessionFacts)
}

// readWorkspaces reads the entries of a session; one whose text is unchanged is the same entity as before.
func (s *Source) readWorkspaces(d *decoder, entries []entry, old *session, id backend.ID, at time.Time) ([]readWorkspace, error) {
	out := make([]readWorkspace, 0, len(entries))
	for i, e := range entries {
		sp := readWorkspace{hash: maphash.Bytes(s.seed, e.node.Raw()), named: e.named}
		if old != nil && old.clock == d.clock {
			sp = old.unchanged(i, sp, e.id)
		}
		if sp.w == nil {
			before := d.undated
			var err error
			if sp.w, err = d.workspace(e, id, at); err != nil {
				return nil, err
			}
			sp.undated = d.undated > before
		}
		out = append(out, sp)
	}
	return out, nil
}

func (x *session) unchanged(i int, sp readWorkspace, id backend.ID) readWorkspace {
	if i < len(x.workspaces) {
		if o := x.workspaces[i]; o.hash == sp.hash && o.named == sp.named && o.w.Key.ID == id {
			return o
		}
	}
	return sp
}

func sessionEntity(source string, l listed, at time.Time) *backend.Session {
	return &backend.Session{
		Meta:   backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: source, ID: l.id}, ReadAt: at},
		Status: l.status, ListedRunning: l.running, Running: l.running, SessionFacts: l.facts,
	}
}

// pollAggregate goes on with the walk over the aggregate route.
func (s *Source) pollAggregate(ctx, slice context.Context, r *backend.Reading) error {
	if s.agg.current == nil {
		s.agg.current = &pageWalk{}
	}
	w := s.agg.current
	from := len(w.pages)
	done, err := s.walk(ctx, slice, s.opt.AggregateURL, w)
	if done && err == nil {
		s.mu.Lock()
		s.loseUnnamed(w)
		s.mu.Unlock()
	}
	if len(s.lost) > 0 {
		s.askLost(ctx, slice)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.addLost(r)
	if err != nil {
		s.agg.current, s.agg.goodReadings = nil, 0
		if len(w.pages) == from {
			return err
		}
		s.problemErr(r, backend.Key{}, err)
		s.stalePage(r, withCursor(s.opt.AggregateURL, w.cursor), err)
		r.Degraded = s.degraded("a page of the aggregate route cannot be read, so that part of the fleet is not seen", err)
		r.Unseen = true
	}
	switch {
	case done && !w.changed && s.agg.goodReadings >= 2: // delivered twice: what is left out twice has ended
		for _, kind := range append(s.workKinds(), backend.KindSession, backend.KindWorkspace) {
			r.Confirmed = append(r.Confirmed, backend.Scope{Kind: kind, Complete: true})
		}
		s.agg.previous, s.agg.current = w, nil
	case done:
		whole := s.addPages(r, w.pages, false)
		for _, kind := range append(s.workKinds(), backend.KindSession, backend.KindWorkspace) {
			r.Scopes = append(r.Scopes, backend.Scope{Kind: kind, Complete: whole})
		}
		switch {
		case !whole || len(r.Stale) > 0:
			s.agg.goodReadings = 0
		case w.changed:
			s.agg.goodReadings = 1
		default:
			s.agg.goodReadings++
		}
		s.agg.previous, s.agg.current = w, nil
		s.forget(w)
	default:
		s.addPages(r, w.pages[from:], s.agg.goodReadings > 0) // the end of the walk confirms what did not change
		r.Scopes = append(r.Scopes, backend.Scope{Kind: backend.KindSession}, backend.Scope{Kind: backend.KindWorkspace})
		r.Partial = s.agg.previous == nil && err == nil
		s.tellEndless(r, w)
	}
	s.judgeAggregate(r)
	return nil
}

// loseUnnamed takes in the sessions that a complete walk left out. The caller holds the lock.
func (s *Source) loseUnnamed(w *pageWalk) {
	if !s.canAskLost() {
		return
	}
	named, running := make(map[backend.ID]bool, w.count), 0
	for _, p := range w.pages {
		for _, x := range p.sessions {
			if !named[x.id] && x.entity.MayRun() {
				running++
			}
			named[x.id] = true
			delete(s.lost, x.id)
		}
	}
	var gone []*tracked
	for id, x := range s.agg.byID {
		if !named[id] {
			gone = append(gone, &tracked{id: id, key: x.entity.Key, entity: x.entity})
		}
	}
	s.lose(len(s.agg.byID), gone)
	listed := func(id backend.ID) bool { return named[id] }
	s.loseAlerting(listed)
	s.loseGradually(listed, running)
}

// addPages adds the sessions of pages to the reading, or only those that the fleet does not have yet. It reports whether
// everything on them could be identified.
func (s *Source) addPages(r *backend.Reading, pages []*page, onlyNew bool) bool {
	whole, undated, all := true, 0, 0
	count := 0
	for _, p := range pages {
		count += len(p.sessions)
	}
	told := make(map[*session]bool, count)
	for _, p := range pages {
		for _, err := range p.bad {
			s.problemErr(r, backend.Key{}, err)
			whole = false
		}
		for _, x := range p.sessions {
			if told[x] {
				continue
			}
			told[x] = true
			if x.bad != nil {
				s.problemErr(r, x.entity.Key, x.bad)
				r.Stale = append(r.Stale, backend.StaleMark{Key: x.entity.Key, Why: x.entity.AnswerText})
				if !x.delivered { // once: delivering it each time would take the mark away and put it back
					x.delivered = true
					r.Sessions = append(r.Sessions, x.entity)
				}
				continue
			}
			if !x.delivered || !onlyNew {
				x.delivered = true
				r.Sessions = append(r.Sessions, x.entity)
			}
			r.Ended, x.ended = append(r.Ended, x.ended...), nil
			s.addWork(r, x.entity.Key, x.work)
			for i := range x.workspaces {
				sp := &x.workspaces[i]
				if !sp.delivered || !onlyNew {
					sp.delivered = true
					r.Workspaces = append(r.Workspaces, sp.w)
				}
				if all++; sp.undated {
					undated++
				}
			}
		}
	}
	s.undated(r, undated, all)
	return whole
}

// stalePage marks the sessions that stood on a page which can no longer be read.
func (s *Source) stalePage(r *backend.Reading, url string, err error) {
	p := s.pages[url]
	if p == nil {
		return
	}
	_, _, what := explain(err)
	why := s.client.Cleaner().Clean(what, 300)
	for _, x := range p.sessions {
		r.Stale = append(r.Stale, backend.StaleMark{Key: x.entity.Key, Why: why})
	}
}

// forget drops what a complete walk no longer names.
func (s *Source) forget(w *pageWalk) {
	byHash, byID := make(map[uint64]*session, w.count), make(map[backend.ID]*session, w.count)
	for _, p := range w.pages {
		for _, x := range p.sessions {
			byID[x.id] = x
			if x.bad == nil {
				byHash[x.hash] = x
			}
		}
	}
	s.agg.byHash, s.agg.byID = byHash, byID
	s.forgetPages(s.opt.AggregateURL, w)
}
