package helix

import (
	"cmp"
	"context"
	"slices"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// lose takes in sessions that a whole list no longer names. When these are suspiciously many, their own routes are asked
// what became of them. The caller holds the lock, or is the constructor.
func (s *Source) lose(before int, gone []*tracked) {
	if !s.canAskLost() {
		return
	}
	if !slices.ContainsFunc(gone, (*tracked).mayRun) || !backend.LostAtOnce(before, len(gone)) {
		s.leave(gone)
		return
	}
	for _, t := range gone {
		t.outcome, t.atOnce = outcome{good: t.good}, true // due at once
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
		s.loseUnlisted(id, false, listed)
	}
	lost := 0
	for _, id := range known {
		if !listed(id) {
			lost++
		}
	}
	if lost > 0 && mostLeft(len(known), lost) {
		for _, id := range known {
			s.loseUnlisted(id, backend.LostAtOnce(len(known), lost), listed)
		}
	}
}

// loseUnlisted adds a session that no list of this process named. The caller holds the lock.
func (s *Source) loseUnlisted(id backend.ID, atOnce bool, listed func(backend.ID) bool) {
	if !listed(id) && s.lost[id] == nil && !s.askedOnce[id] {
		s.askedOnce[id] = true
		s.lost[id] = &tracked{id: id, key: backend.Key{Kind: backend.KindSession, Source: s.deps.ID, ID: id}, unlisted: true, atOnce: atOnce, left: s.deps.Now()}
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
	stable.Sort(out, func(a, b *tracked) int { return cmp.Or(a.asked.Compare(b.asked), a.id.Compare(b.id)) })
	return s.fewLeft(out)
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
	stable.Sort(ids, backend.ID.Compare)
	s.attention.Lock()
	alerting := s.alerting
	s.attention.Unlock()
	atOnce := false
	for _, id := range ids {
		t := s.lost[id]
		alone := t.gradual || t.unlisted // the fleet holds those that left all at once
		switch {
		case t.answer == backend.AnswerIdle && t.unlisted:
			e, _ := t.show(d, now)
			r.Sessions = append(r.Sessions, e)
			delete(s.lost, id)
		case t.answer == backend.AnswerOK && !t.atOnce && t.closed():
			delete(s.lost, id)
			delete(s.left, id)
		case t.answer == backend.AnswerIdle:
			r.Ended = append(r.Ended, t.key)
			delete(s.lost, id)
			delete(s.left, id)
		case t.answer == backend.AnswerOK:
			r.Unlisted = append(r.Unlisted, backend.Unlisted{Session: id})
			atOnce = atOnce || t.atOnce
			e, _ := t.show(d, now)
			r.Sessions = append(r.Sessions, e)
			for i := range t.workspaces {
				w := t.workspaces[i]
				r.Workspaces = append(r.Workspaces, &w)
			}
		case t.asked.IsZero():
			r.Partial = true // a one-shot command polls on
		case alone && s.givenUp(t, alerting[id]):
			delete(s.lost, id)
		case t.bad():
			r.Stale = append(r.Stale, backend.StaleMark{Key: t.key, Why: t.text})
			if alone {
				r.Unlisted = append(r.Unlisted, backend.Unlisted{Session: id, Why: t.text})
			}
		}
	}
	if atOnce { // nothing else explains so large a loss; of a few the next poll tells whether the list was ahead
		r.Unseen = true
		if r.Degraded.IsEmpty() {
			r.Degraded = backend.Join(backend.UnlistedTexts(r.Unlisted), "; ")
		}
	}
}
