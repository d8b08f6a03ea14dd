package agentuity

import (
	"sync"
	"time"

	"sandglass/backend"
)

const (
	shareWithin = 5 * time.Minute
	shareLeast  = 20  // answers, below which a share says nothing
	shareBad    = 0.2 // of server errors, above which the region itself is in trouble
	shareMost   = 2000
)

// shares counts the answers of one region, and the server errors among them.
type shares struct {
	mu  sync.Mutex
	all []counted
}

type counted struct {
	at  time.Time
	of  backend.ID
	bad bool
}

func (s *shares) add(c counted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) >= shareMost {
		s.all = append(s.all[:0], s.all[shareMost/2:]...)
	}
	s.all = append(s.all, c)
}

// trouble is how many of how many answers were server errors lately, where they are too many.
func (s *shares) trouble(now time.Time) (bad, all int, is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hit := map[backend.ID]bool{}
	for _, c := range s.all {
		if now.Sub(c.at) <= shareWithin {
			if all++; c.bad {
				bad++
				hit[c.of] = true
			}
		}
	}
	return bad, all, all >= shareLeast && len(hit) > 1 && // one sandbox is no region
		float64(bad) > shareBad*float64(all)
}

// regionsInTrouble says which regions answer many requests with server errors: what fails is not in single sandboxes.
func (p *poll) regionsInTrouble() {
	for _, r := range p.s.regions {
		if bad, all, is := r.answers.trouble(p.now); is {
			p.r.Unseen = true
			p.r.Degraded = backend.Textf("region %s: %d of %d answers in 5 minutes are server errors", backend.Clean(r.name, 40), bad, all)
		}
	}
}
