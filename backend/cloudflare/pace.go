package cloudflare

import (
	"time"

	"sandglass/backend"
)

// paced says how old the answers are that the reading repeats, and how often they are asked for. A list that cannot be read is told
// by itself, and those of its instances are marked.
func (p *poll) paced() {
	s := p.s
	every := s.opt.Inventory.Std()
	older := func(at time.Time) {
		if !at.IsZero() && (p.r.AnsweredAt.IsZero() || at.Before(p.r.AnsweredAt)) {
			p.r.AnsweredAt = at
		}
	}
	older(s.appsAt)
	for _, key := range s.listed {
		if l := &s.apps[key].lists[listActive]; l.err == nil {
			older(l.from)
			every = max(every, time.Duration(l.size)*perPage)
		}
	}
	if s.bridge != nil {
		older(s.bridge.roundAt)
	}
	if s.behind { // the list of applications waits for what is left over
		every = max(every, endedEvery)
	}
	p.r.Paced(every, s.deps.Interval, backend.Textf("inventory: the account API bounds requests, interval is %s", backend.Duration(s.deps.Interval)))
}
