package blaxel

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/blaxel/sandbox"
	"sandglass/internal/stable"
)

const (
	namedAtOnce  = 20 // own records that one poll asks of what references alone name
	namedAwaited = 40 // of them, those for which a command waits: the others' states are older
)

// unheard is when an own record was asked of what references alone name, and why nothing is known of it.
type unheard struct {
	at      time.Time
	problem *backend.Problem
}

// TakesRefs reports that references name what a list may leave out: a sandbox is gone where its own record says so too.
func (s *Source) TakesRefs() bool { return true }

// Refer takes which sandboxes of this workspace the references of another source name, and when they were saved.
func (s *Source) Refer(from string, refs []*backend.Ref, whole, _ bool) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was, is := s.named[from], map[backend.ID]time.Time{}
	for _, r := range refs {
		of := r.Organisation()
		if r.Provider.String() != "blaxel" || idOf(r.Sandbox.Raw()).IsZero() || of != "" && !strings.EqualFold(of, s.opt.Workspace) {
			continue
		}
		saved := r.SavedAt.Or(time.Time{})
		if at, known := is[r.Sandbox]; !known || saved.After(at) {
			is[r.Sandbox] = saved
		}
		if _, known := was[r.Sandbox]; !known {
			news = true
		}
	}
	for id, saved := range was {
		if _, known := is[id]; !known && !whole {
			is[id] = saved
		}
	}
	if s.named == nil {
		s.named = map[string]map[backend.ID]time.Time{}
	}
	s.named[from] = is
	return news
}

// mention is a sandbox that references name and no list does.
type mention struct {
	id    backend.ID
	saved time.Time // the newest of them
}

// unlisted are those, the newest reference first.
func (s *Source) unlisted() (out []mention) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[backend.ID]time.Time{}
	for _, of := range s.named {
		for id, saved := range of {
			if at, known := all[id]; s.boxes[id] == nil && (!known || saved.After(at)) {
				all[id] = saved
			}
		}
	}
	for id, saved := range all {
		out = append(out, mention{id, saved})
	}
	stable.Sort(out, func(a, b mention) int { return cmp.Or(b.saved.Compare(a.saved), a.id.Compare(b.id)) })
	return out
}

// isGone reports whether its own record said that it is no more, since its reference was saved.
func (s *Source) isGone(m mention) bool {
	at, known := s.gone[m.id]
	return known && !at.Before(m.saved)
}

// readNamed asks for the own records of what references name and a whole list does not.
func (p *poll) readNamed() {
	l := &p.s.sandboxes
	if l.said != "" || l.walk != nil || l.done.IsZero() {
		return
	}
	asked := 0
	for _, m := range p.s.unlisted() {
		// A state may be saved again, or by a clock that is ahead.
		if p.s.isGone(m) || p.now.Sub(p.s.gone[m.id]) < askAgain || p.now.Sub(p.s.unheard[m.id].at) < askAgain {
			continue
		}
		if asked == namedAtOnce || !p.s.budget.Wait(p.slice) {
			p.unread = p.unread || p.s.namedAsked < namedAwaited
			return
		}
		asked++
		p.s.namedAsked++
		p.askNamed(m.id)
	}
}

// askNamed asks for one: it is there, it is no more, or that is not known.
func (p *poll) askNamed(id backend.ID) {
	s := p.s
	delete(s.unheard, id)
	a, f := s.get(p.ctx, "/sandboxes/{name}", "/sandboxes/"+url.PathEscape(id.Raw()), nil)
	if f == nil {
		r, ok := s.decoder().sandbox(a.root, a.at)
		switch {
		case ok && r.id == id && r.entity.Class == backend.SandboxExited: // the list names also what ended, as long as it is kept
			s.gone[id] = p.now
			return
		case ok && r.id == id:
			p.take(&r, a.at)
			if b := s.boxes[id]; b != nil {
				b.own, b.ownRow, b.alone = asked{at: p.now, read: a.at}, r, true
			}
			return
		}
		f = &failure{refusal: refusalOf(http.StatusOK), err: backend.Errorf(backend.ErrInvalid, a.where, "the answer holds no such sandbox")}
	}
	if f.refusal.Gone() || f.is(http.StatusNotFound) && f.refusal.Origin == sandbox.OriginInside {
		s.gone[id] = p.now
		return
	}
	kind, where, what := s.explain(f)
	s.unheard[id] = unheard{p.now, &backend.Problem{Kind: kind, Where: p.clean(where, 300), What: p.clean(id.Safe().String()+" is named by a saved state and not listed; its own record: "+what, 400), At: p.now}}
}

// noteNamed tells which of them are no more, and of which that is not known.
func (p *poll) noteNamed() {
	p.r.OwnGone = []backend.Key{}
	for _, m := range p.s.unlisted() {
		if p.s.isGone(m) {
			p.r.OwnGone = append(p.r.OwnGone, p.s.key(m.id))
		} else if x, failed := p.s.unheard[m.id]; failed {
			p.problem(backend.Key{}, x.problem.Kind, x.problem.Where.String(), x.problem.What.String())
			p.r.Degraded = cmp.Or(p.r.Degraded, x.problem.What)
		}
	}
}
