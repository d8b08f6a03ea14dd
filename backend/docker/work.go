package docker

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sandglass/backend"
)

// maxRetry caps the wait after a failed inspection or sample of one container.
const maxRetry = time.Minute

// visibleEvery is the shortest time between two samples of a container that is looked at. One sample costs a 20.10
// engine about 2.6 ms of CPU, so that 50 rows cost it 1.6 s a minute.
const visibleEvery = 5 * time.Second

// maxVisible bounds the samples of one poll that attention asks for; more rows take turns, oldest figures first.
const maxVisible = 50

// fanOut runs do on every item, at most inFlight at once, and each on the caller's goroutine as results come. Items
// that cannot be started within patience are left out and counted.
func fanOut[R any](p *poll, name string, items []*entry, do func(context.Context, *entry) R, each func(*entry, R)) (left int) {
	type result struct {
		e *entry
		r R
	}
	if len(items) == 0 {
		return 0
	}
	patience := p.s.deadline(p.ctx)
	gate, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	results := make(chan result, len(items))
	slots := make(chan struct{}, inFlight)
	running := 0
	finish := func(r result) {
		running--
		each(r.e, r.r)
	}
	for i, e := range items {
		for free := false; !free; {
			select {
			case slots <- struct{}{}:
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
			<-slots
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
	var due []*entry
	for _, e := range p.s.entries {
		if (e.dirty || !e.current()) && !p.r.Started.Before(e.retryAt) {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *entry) int { // what was never read first, what failed last
		return cmp.Or(cmp.Compare(a.fails, b.fails), a.inspected.Compare(b.inspected), a.id.Compare(b.id))
	})
	p.waiting = fanOut(p, "inspect "+p.s.deps.ID, due, func(ctx context.Context, e *entry) inspected {
		ins, err := p.eng.inspect(ctx, e.id.Raw())
		return inspected{ins, err}
	}, p.inspected)
}

func (p *poll) inspected(e *entry, r inspected) {
	now := p.s.deps.Now()
	switch {
	case r.err == nil:
		if e.ins != nil && e.ins.started != r.ins.started { // its counters began anew
			e.last, e.usage = nil, backend.Unknown[backend.Usage]()
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

type sampled struct {
	sample *sample
	err    error
}

// sample takes figures: of what is looked at, then a slice of the rest.
func (p *poll) sample() {
	now := p.r.Started
	p.s.mu.Lock()
	looked := p.s.attn
	p.s.mu.Unlock()
	sweep := p.s.opt.StatsSweep.Std()
	often := max(p.s.interval(), visibleEvery)
	slack := often / 10 // polls are not exactly an interval apart
	var seen, rest []*entry
	population := 0
	for _, e := range p.s.entries {
		if !e.alive() {
			continue
		}
		age := now.Sub(e.sampled) // of a never sampled one: centuries
		held := e.sampleFail > 0 && age < p.s.backOff(e.sampleFail)
		isSandbox := p.s.sel.isSandbox(e.labels(), e.mounts())
		if isSandbox {
			population++
		}
		switch {
		case held:
		case looked[e.id]:
			if age >= often-slack {
				seen = append(seen, e)
			}
		case isSandbox && sweep > 0 && age >= sweep-slack && p.s.polls > 1:
			rest = append(rest, e)
		}
	}
	oldest := func(a, b *entry) int { return cmp.Or(a.sampled.Compare(b.sampled), a.id.Compare(b.id)) }
	slices.SortFunc(seen, oldest)
	slices.SortFunc(rest, oldest)
	quota := 0
	if sweep > 0 { // spread over the sweep, so that the engine's work has no peaks
		quota = int((int64(population)*int64(p.s.interval()) + int64(sweep) - 1) / int64(sweep))
	}
	due := append(seen[:min(len(seen), maxVisible)], rest[:min(len(rest), max(quota, 1))]...)
	fanOut(p, "sample "+p.s.deps.ID, due, func(ctx context.Context, e *entry) sampled {
		s, err := p.eng.stats(ctx, e.id.Raw())
		return sampled{s, err}
	}, p.sampled)
}

func (p *poll) sampled(e *entry, r sampled) {
	now := p.s.deps.Now()
	e.sampled = p.r.Started
	if r.err != nil {
		if k := backend.KindOf(r.err); k != backend.ErrGone { // one that has just ended is no problem
			e.sampleFail++
			p.problem(backend.Problem{Kind: k, Subject: p.s.key(e.id), At: now, Where: backend.Textf("GET /containers/%s/stats", e.id),
				What: backend.Join([]backend.Safe{backend.Text("its figures cannot be read and stay as old as they are"), p.s.reason(r.err)}, ": ")})
			p.listNext()
		}
		return
	}
	e.sampleFail = 0
	if r.sample == nil {
		return
	}
	limit := int64(0)
	if e.ins != nil {
		limit = e.ins.memLimit
	}
	e.usage = backend.Known(usage(e.last, r.sample, limit, now))
	e.last, e.touched = r.sample, true
}
