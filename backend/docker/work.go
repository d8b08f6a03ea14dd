package docker

import (
	"cmp"
	"context"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// maxRetry caps the wait after a failed inspection or sample of one container.
const maxRetry = time.Minute

// fanOut runs do on every item, at most inFlight at once, and each on the caller's goroutine as results come. Items
// that cannot be started within patience are left out and counted.
func fanOut[R any](p *poll, name string, items []*cachedContainer, do func(context.Context, *cachedContainer) R, each func(*cachedContainer, R)) (left int) {
	type result struct {
		e *cachedContainer
		r R
	}
	if len(items) == 0 {
		return 0
	}
	patience := p.s.deadline(p.ctx)
	gate, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	results := make(chan result, len(items))
	running := 0
	finish := func(r result) {
		running--
		each(r.e, r.r)
	}
	for i, e := range items {
		for free := false; !free; {
			select {
			case p.s.slots <- struct{}{}:
				free = true
			case r := <-results:
				finish(r)
			case <-gate.Done():
				left = len(items) - i
			}
			if left > 0 {
				break
			}
		}
		if left > 0 {
			break
		}
		running++
		p.s.deps.Spawn.Go(name, func() {
			ctx, cancel := context.WithTimeout(p.ctx, patience)
			defer cancel()
			r := do(ctx, e)
			<-p.s.slots
			results <- result{e, r}
		})
	}
	for running > 0 {
		finish(<-results)
	}
	return left
}

type inspected struct {
	ins *inspection
	err error
}

// inspect reads the containers that are new or changed.
func (p *poll) inspect() {
	var due []*cachedContainer
	for _, e := range p.s.entries {
		if (e.dirty || !e.current()) && !p.r.Started.Before(e.retryAt) {
			due = append(due, e)
		}
	}
	stable.Sort(due, func(a, b *cachedContainer) int { // what was never read first, what failed last
		return cmp.Or(cmp.Compare(a.fails, b.fails), a.inspected.Compare(b.inspected), a.id.Compare(b.id))
	})
	p.waiting = fanOut(p, "inspect "+p.s.deps.ID, due, func(ctx context.Context, e *cachedContainer) inspected {
		ins, err := p.eng.inspect(ctx, e.id.Raw())
		return inspected{ins, err}
	}, p.inspected)
}

func (p *poll) inspected(e *cachedContainer, r inspected) {
	now := p.s.deps.Now()
	switch {
	case r.err == nil:
		if e.ins != nil && e.ins.started != r.ins.started { // its counters began anew
			e.last, e.usage, e.insight = nil, backend.Unknown[backend.Usage](), insight{far: e.far}
		} else if e.ins != nil {
			r.ins.checks = failingOn(e.ins.checks, r.ins.checks)
		}
		e.ins, e.inspected, e.readAt, e.dirty, e.fails, e.touched = r.ins, now, now, false, 0, true
		if !p.listed {
			e.sum = nil
		} else if e.sum != nil {
			e.mark = markOf(e.sum)
		}
	case backend.KindOf(r.err) == backend.ErrGone:
		p.end(e.id.Raw(), e.id)
	default:
		e.fails++
		e.retryAt = now.Add(p.s.backOff(e.fails))
		e.touched = true
		e.failed = backend.Problem{Kind: backend.KindOf(r.err), Subject: p.s.key(e.id), At: now,
			Where: backend.Textf("GET /containers/%s/json", e.id), What: backend.Join([]backend.Safe{backend.Text("it cannot be inspected"), p.s.reason(r.err)}, ": ")}
		p.listNext()
	}
}

// reason is the cause of an error without its place.
func (s *Source) reason(err error) backend.Safe {
	if e, ok := s.sign(err).(*backend.Error); ok {
		return s.clean(e.Err.Error(), 300)
	}
	return s.clean(err.Error(), 300)
}

// listNext makes the next poll list: the list tells the state of what could not be inspected, and an engine that went
// away shows as such and not as many containers.
func (p *poll) listNext() {
	if p.listed {
		return
	}
	p.s.mu.Lock()
	p.s.pend.gap = true
	p.s.mu.Unlock()
}

func (s *Source) backOff(fails int) time.Duration {
	return min(maxRetry, s.interval()<<min(fails, 10))
}
