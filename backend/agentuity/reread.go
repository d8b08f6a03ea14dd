package agentuity

import (
	"context"
	"maps"
	"net/url"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// Reread has the next poll read a sandbox by its own route. The list that names one which sleeps comes once a minute.
func (s *Source) Reread(k backend.Key) {
	if k.Kind != backend.KindSandbox {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reread[k.ID] = true
}

// readAgain reads the sandboxes that an action is about to change. What the budget has no room for is read in the next poll.
func (p *poll) readAgain() {
	p.s.mu.Lock()
	keys := stable.Sorted(maps.Keys(p.s.reread), backend.ID.Compare)
	p.s.mu.Unlock()
	var jobs []job
	for _, key := range keys {
		b := p.s.boxes[key]
		if b == nil || b.unread() { // those are asked for by themselves
			p.wasRead(key)
			continue
		}
		jobs = append(jobs, func(ctx context.Context) func() {
			a, f := p.ask(ctx, b, "sandbox", "/sandbox/"+url.PathEscape(key.Raw()), nil)
			if f == errLater {
				return nil
			}
			where := p.locate(ctx, b, f)
			return func() {
				p.wasRead(key)
				if p.s.boxes[key] == b {
					p.takeAgain(b, a, f, where)
				}
			}
		})
	}
	p.run(jobs)
}

func (p *poll) wasRead(key backend.ID) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	delete(p.s.reread, key)
}

// takeAgain takes over what the own route of a known sandbox says.
func (p *poll) takeAgain(b *box, a *answer, f *failure, where location) {
	switch {
	case p.located(b, where), f.notFound() && (b.lost || !b.region.full.ids[b.id]):
		p.end(b.id)
		return
	case f != nil: // so nothing is changed: its last reading stays as old as it is
		p.failed(b, f)
		b.touched = true
		return
	}
	r, ok := p.s.decoder(p.s.regionOf(b).place).sandbox(a.data, b.region.name)
	if !ok || r.id != b.id {
		p.failed(b, &failure{err: backend.Errorf(backend.ErrInvalid, a.where, "the answer holds no sandbox %s", b.id.Safe())})
		b.touched = true
		return
	}
	p.takeRow(b.region, &r, a.at)
	b.problem = nil
}
