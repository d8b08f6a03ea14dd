package agentuity

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"sandglass/backend"
)

// former notes the sandbox that a mark of a former process names: where no list names it, its own route is asked.
func (s *Source) former(mark string) {
	rest, is := strings.CutPrefix(mark, markStatus)
	_, raw, named := strings.Cut(rest, " ")
	if key, err := backend.NewID(raw); is && named && err == nil {
		s.formers[key] = append(s.formers[key], mark)
	}
}

// unread reports whether nothing of a sandbox was read yet: a former process named it, and no list does.
func (b *box) unread() bool { return b.entity.Key.ID.IsZero() }

// recall takes up the sandboxes of a former process that no list names, once the lists of all regions were read. A list that
// leaves a sandbox out does not tell that it is gone.
func (p *poll) recall() {
	s := p.s
	for _, r := range s.regions {
		if r.full.done.IsZero() {
			return
		}
	}
	if s.recalled {
		return
	}
	s.recalled = true
	for key := range p.attention.alerting {
		if _, known := s.formers[key]; !known {
			s.formers[key] = nil
		}
	}
	for key, marks := range s.formers {
		if b := s.boxes[key]; b == nil {
			s.boxes[key] = &box{row: row{id: key, executions: -1}, region: s.regions[0], lost: true}
			continue
		}
		for _, m := range marks {
			if !s.used[m] {
				delete(s.seen, m) // it has another status now
			}
		}
	}
}

// readFormer asks the own route of a sandbox of a former process, in each region until one knows it.
func (p *poll) readFormer(b *box) job {
	return func(ctx context.Context) func() {
		var a *answer
		var f *failure
		in := b.region
		for _, r := range p.s.regions {
			x, no := p.askIn(ctx, r, "sandbox", "/sandbox/"+url.PathEscape(b.id.Raw()), nil)
			if no == errLater {
				return nil
			}
			if no == nil || f == nil || f.notFound() {
				a, f, in = x, no, r
			}
			if no == nil {
				break
			}
		}
		where := p.locate(ctx, b, f)
		return func() { p.takeFormer(b, in, a, f, where) }
	}
}

// takeFormer takes over what the own route of such a sandbox says.
func (p *poll) takeFormer(b *box, in *region, a *answer, f *failure, where location) {
	b.views.at, b.region = p.now, in
	switch {
	case p.located(b, where), f.notFound():
		p.end(b.id)
		return
	case f != nil:
		p.failed(b, f)
		return
	}
	r, ok := p.s.decoder(in.place).sandbox(a.data, in.name)
	if !ok || r.id != b.id {
		p.failed(b, &failure{err: backend.Errorf(backend.ErrInvalid, a.where, "the answer holds no sandbox %s", b.id.Safe())})
		return
	}
	b.since = p.s.statusSince(b, r.id, r.status, p.now)
	b.row, b.readAt, b.lost, b.problem, b.touched = r, a.at, false, nil, true
	b.observe(backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: a.at, Took: a.took, Passive: true,
		What: backend.Textf("its own route says %s; the list leaves it out", p.clean(cmp.Or(r.status, "nothing"), 60))})
}

// forget drops the marks of the status of a sandbox that is no more.
func (s *Source) forget(key backend.ID, status string) {
	delete(s.seen, statusMark(key, status))
	for _, m := range s.formers[key] {
		delete(s.seen, m)
	}
	delete(s.formers, key)
	delete(s.readOf, key)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.moved, key)
	delete(s.filesOf, key)
}
