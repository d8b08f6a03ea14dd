package helix

import (
	"cmp"
	"context"
	"slices"

	"sandglass/backend"
)

// lose takes in sessions that a whole list no longer names. When these are suspiciously many, their own routes are asked
// what became of them. The caller holds the lock, or is the constructor.
func (s *Source) lose(before int, gone []*tracked) {
	alive := slices.ContainsFunc(gone, func(t *tracked) bool { return t.entity == nil || t.entity.MayRun() })
	if !alive || !backend.LostAtOnce(before, len(gone)) || !s.canAskLost() {
		return
	}
	for _, t := range gone {
		t.outcome = outcome{good: t.good} // due at once
		s.lost[t.id] = t
	}
}

// canAskLost reports whether a session that no list names may be asked: asking keeps a Durable Object awake and billed.
func (s *Source) canAskLost() bool { return s.opt.URL != "" && s.opt.Runtime != runtimeDurableObject }

// loseAlerting adds sessions that alert and that no list names, and all that a former run listed where the list lost half or
// more of them: they vanished while the console was off. Each is asked once.
// The caller holds the lock.
func (s *Source) loseAlerting(listed func(backend.ID) bool) {
	if !s.canAskLost() {
		return
	}
	s.attention.Lock()
	alerting, known := s.alerting, s.known
	s.known = nil
	s.attention.Unlock()
	for id := range s.askedOnce {
		if !alerting[id] {
			delete(s.askedOnce, id)
		}
	}
	for id := range alerting {
		s.loseUnlisted(id, listed)
	}
	lost := 0
	for _, id := range known {
		if !listed(id) {
			lost++
		}
	}
	if backend.LostAtOnce(len(known), lost) {
		for _, id := range known {
			s.loseUnlisted(id, listed)
		}
	}
}

// loseUnlisted adds a session that no list of this process named. The caller holds the lock.
func (s *Source) loseUnlisted(id backend.ID, listed func(backend.ID) bool) {
	if !listed(id) && s.lost[id] == nil && !s.askedOnce[id] {
		s.askedOnce[id] = true
		s.lost[id] = &tracked{id: id, key: backend.Key{Kind: backend.KindSession, Source: s.deps.ID, ID: id}, unlisted: true}
	}
}

// dueLost are the lost sessions to ask in this poll. The caller holds the lock.
func (s *Source) dueLost() []*tracked {
	var out []*tracked
	now := s.deps.Now()
	for _, t := range s.lost {
		t.fresh, t.touch = false, false
		if !t.due(s.deps.Interval, s.opt.IdleInterval.Std()).After(now) {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *tracked) int { return cmp.Or(a.asked.Compare(b.asked), a.id.Compare(b.id)) })
	return out
}

// askLost asks the own routes of lost sessions.
func (s *Source) askLost(ctx, slice context.Context) {
	s.mu.Lock()
	plan := s.dueLost()
	s.mu.Unlock()
	s.askAll(ctx, slice, plan)
}

// addLost adds what the lost sessions answered: the documented 404 says that they ended, a snapshot that they run. The caller
// holds the lock.
func (s *Source) addLost(r *backend.Reading) {
	d, now := s.ready(), s.deps.Now()
	ids := make([]backend.ID, 0, len(s.lost))
	for id := range s.lost {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, backend.ID.Compare)
	unlisted := 0
	for _, id := range ids {
		t := s.lost[id]
		switch {
		case t.answer == backend.AnswerIdle && t.unlisted:
			e, _ := t.show(d, now)
			r.Sessions = append(r.Sessions, e)
			delete(s.lost, id)
		case t.answer == backend.AnswerIdle:
			r.Ended = append(r.Ended, t.key)
			delete(s.lost, id)
		case t.answer == backend.AnswerOK:
			unlisted++
			e, _ := t.show(d, now)
			r.Sessions = append(r.Sessions, e)
			for i := range t.workspaces {
				w := t.workspaces[i]
				r.Workspaces = append(r.Workspaces, &w)
			}
		case t.asked.IsZero():
			r.Partial = true // a one-shot command polls on
		case t.bad():
			r.Stale = append(r.Stale, backend.StaleMark{Key: t.key, Why: t.text})
		}
	}
	if unlisted > 0 {
		r.Unseen = true
		if r.Degraded.IsEmpty() {
			r.Degraded = backend.Textf("%s that no list names: the list is not whole", backend.Clean(backend.Counted(unlisted, "session runs", "sessions run"), 60))
		}
	}
}

// unreadCount counts the sessions that cannot be read by kind of error.
type unreadCount struct {
	asked int
	kinds map[backend.ErrorKind]*backend.Unread
	first map[backend.ErrorKind]backend.ID
}

// add counts a session that cannot be read. The example is the one with the least id, so that it stays the same.
func (c *unreadCount) add(s *Source, id backend.ID, problem error) {
	kind, _, _ := explain(problem)
	c.addAs(s, kind, id, problem)
}

func (c *unreadCount) addAs(s *Source, kind backend.ErrorKind, id backend.ID, problem error) {
	if c.kinds == nil {
		c.kinds, c.first = map[backend.ErrorKind]*backend.Unread{}, map[backend.ErrorKind]backend.ID{}
	}
	_, _, what := explain(problem)
	u := c.kinds[kind]
	if u == nil {
		u = &backend.Unread{Kind: kind}
		c.kinds[kind] = u
	}
	if u.Sessions++; u.Sessions == 1 || !id.IsZero() && id.Compare(c.first[kind]) < 0 {
		c.first[kind] = id
		u.Example = backend.Textf("%s: %s", id.Safe(), s.client.Cleaner().Clean(what, 160))
		if id.IsZero() {
			u.Example = s.client.Cleaner().Clean(what, 160)
		}
	}
}

func (c *unreadCount) fill(r *backend.Reading) {
	r.Asked = c.asked
	for _, u := range c.kinds {
		r.Unread = append(r.Unread, *u)
	}
	slices.SortFunc(r.Unread, func(a, b backend.Unread) int { return cmp.Compare(a.Kind, b.Kind) })
}

// countUnread counts the sessions of the per-session mode that cannot be read. A 404 that is not the documented one counts
// where the session may run: a list does not call it over, or its registry was read before. The caller holds the lock.
func (s *Source) countUnread(r *backend.Reading) {
	var c unreadCount
	for _, t := range s.sessions {
		if t.answer != backend.AnswerNone {
			c.asked++
		}
		switch {
		case !t.bad() || t.problem == nil:
		case t.answer == backend.AnswerNoRoute && (t.listed == nil && len(t.workspaces) == 0 || t.listed != nil && !t.listed.running.Or(true)):
		case t.answer == backend.AnswerNoRoute:
			c.addAs(s, backend.ErrAbsent, t.id, t.problem)
		default:
			c.add(s, t.id, t.problem)
		}
	}
	c.fill(r)
}
