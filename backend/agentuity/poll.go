package agentuity

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// poll is the work of one Poll.
type poll struct {
	s          *Source
	ctx, slice context.Context
	r          backend.Reading
	now        time.Time
	first      bool
	attention  attention
	scopes     []backend.Scope // of executions and jobs that were read
	left       []backend.ID    // live sandboxes that the newest live list no longer names
	partial    bool
	swept      int // sandboxes whose executions, jobs and events are read in turn
}

// attention is what people, rules and logs look at.
type attention struct {
	asked                       string
	alerting, visible, sessions map[backend.ID]bool
	reports, joins              []backend.Report // joins apart: a fleet has many
}

// Poll reads a slice: the lists that are due, then as much about single sandboxes and sessions as the budget allows.
func (s *Source) Poll(ctx context.Context) (backend.Reading, error) {
	now := s.deps.Now()
	p := &poll{s: s, ctx: ctx, now: now, first: s.polls == 0,
		r: backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "agentuity", Started: now}}
	if b := s.budget.State(); b.Silence > 0 {
		return p.r, &backend.Error{Kind: backend.ErrThrottled, Source: s.deps.ID, RetryAfter: b.Silence,
			Err: fmt.Errorf("the platform asked for silence for another %v", b.Silence.Round(time.Second))}
	}
	slice, cancel := context.WithTimeout(ctx, time.Duration(float64(s.deps.Interval)*sliceShare))
	defer cancel()
	p.slice = slice
	s.polls++
	s.mu.Lock()
	p.attention = attention{asked: s.asked, alerting: s.alerting, visible: s.visible, sessions: s.watched}
	for _, r := range s.reports {
		if r.Kind == backend.ReportJoin {
			p.attention.joins = append(p.attention.joins, r)
		} else {
			p.attention.reports = append(p.attention.reports, r)
		}
	}
	s.mu.Unlock()
	p.lists()
	if err := p.down(); err != nil {
		p.finish()
		return p.r, err
	}
	p.readAgain()
	p.readHub()
	p.lookAtAsked()
	p.lookAtSuspects() // first: the sweep may use up what the budget has
	p.readBoxes()
	p.suspects()
	p.partial = p.partial || len(p.dueSuspects()) > 0 // what was just read gives reason to look again at once
	p.assemble()
	p.finish()
	return p.r, nil
}

// lookAtAsked looks at the sandboxes that a command asks about as at those that alert.
func (p *poll) lookAtAsked() {
	asked := p.attention.asked
	if len(asked) < askedLeast {
		return
	}
	p.attention.alerting = maps.Clone(p.attention.alerting)
	means := func(key backend.ID) bool { return strings.Contains(key.Raw(), asked) }
	for key, b := range p.s.boxes {
		if means(key) || b.entity.Name.String() == asked || means(b.session) {
			p.attention.alerting[key] = true
		}
	}
}

// askedLeast is how long a part of an id must be to be looked for.
const askedLeast = 4

// job is one piece of reading. What it returns is called by the poll itself, after it.
type job func(ctx context.Context) (done func())

// run does jobs, a few at once, in their order. Jobs that did not begin before the slice ended are returned.
func (p *poll) run(jobs []job) (unbegun int) {
	done := make([]func(), len(jobs))
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := 0
	take := func() int {
		mu.Lock()
		defer mu.Unlock()
		if next >= len(jobs) || p.slice.Err() != nil {
			return -1
		}
		next++
		return next - 1
	}
	for range min(inFlight, len(jobs)) {
		wg.Add(1)
		p.s.deps.Spawn.Go("read "+p.s.deps.ID, func() {
			defer wg.Done()
			for i := take(); i >= 0; i = take() {
				done[i] = jobs[i](p.ctx)
			}
		})
	}
	wg.Wait()
	for _, apply := range done {
		if apply != nil {
			apply()
		}
	}
	return len(jobs) - next
}

// lists reads the lists of all regions that are due.
func (p *poll) lists() {
	var jobs []job
	for _, r := range p.s.regions {
		jobs = append(jobs, func(ctx context.Context) func() {
			p.s.readLists(ctx, p.slice, r)
			return func() { p.take(r) }
		})
	}
	p.run(jobs)
	p.recall()
	for _, r := range p.s.regions {
		p.partial = p.partial || r.err == nil && (r.full.done.IsZero() || r.full.walk != nil)
	}
}

// take folds the pages of a region into what is known.
func (p *poll) take(r *region) {
	bad := 0
	for _, g := range r.got {
		for i := range g.rows {
			p.takeRow(r, &g.rows[i], g.at)
		}
		if g.full { // other lists hold the same rows
			bad += g.bad
		}
	}
	for _, l := range r.finished {
		switch l {
		case &r.live:
			p.leftLive(r)
		case &r.full:
			p.leftFull(r)
		}
	}
	r.got, r.finished = nil, nil
	if bad > 0 {
		p.problem(backend.Key{}, backend.ErrInvalid, r.place.base+"/sandbox", rowsLeft(bad).String())
	}
	for _, l := range append([]*list{&r.full, &r.live}, r.ended...) {
		if !l.changed.IsEmpty() {
			p.problem(backend.Key{}, backend.ErrInvalid, r.place.base+"/sandbox", l.changed.String())
		}
	}
}

// takeRow takes over what a list says of a sandbox.
func (p *poll) takeRow(r *region, x *row, at time.Time) {
	b := p.s.boxes[x.id]
	if b == nil {
		b = &box{}
		p.s.boxes[x.id] = b
	}
	if at.Before(b.readAt) {
		return
	}
	if b.status != x.status {
		b.changed(x.status, p.s.statusSince(b, x.id, x.status, p.now))
	}
	b.row, b.region, b.readAt = *x, r, at
	b.lost, b.touched = false, true
}

// changed notes that a sandbox took another status.
func (b *box) changed(status string, since time.Time) {
	if b.region != nil && live(status) && !live(b.status) { // it woke, or it was started
		b.suspect, b.checks, b.woke = suspicion{}, nil, since
	}
	b.since = since
}

// transit reports whether a sandbox should leave a status soon.
func transit(status string) bool { return status == "creating" || status == "stopping" }

// leftLive notes the sandboxes that the newest live list no longer names although they were live: their status is asked for.
func (p *poll) leftLive(r *region) {
	for key, b := range p.s.boxes {
		if b.region == r && r.liveBefore[key] && !r.live.ids[key] && (live(b.status) || transit(b.status)) {
			p.left = append(p.left, key)
		}
	}
	r.liveBefore = r.live.ids
	stable.Sort(p.left, backend.ID.Compare)
}

// leftFull notes the sandboxes that the newest full list leaves out. Their own routes tell whether they are gone.
func (p *poll) leftFull(r *region) {
	named := func(key backend.ID) bool {
		return r.full.ids[key] || slices.ContainsFunc(r.ended, func(l *list) bool { return l.ids[key] })
	}
	for key, b := range p.s.boxes {
		if b.region == r && !named(key) {
			if over(b.status) { // the platform forgets what has ended
				p.end(key)
				continue
			}
			b.lost = true
		}
	}
}

// end forgets a sandbox that its platform calls gone.
func (p *poll) end(key backend.ID) {
	if b := p.s.boxes[key]; b != nil {
		p.s.forget(key, b.status)
	}
	delete(p.s.boxes, key)
	p.r.Ended = append(p.r.Ended, backend.Key{Kind: backend.KindSandbox, Source: p.s.deps.ID, ID: key})
}

func (p *poll) problem(subject backend.Key, kind backend.ErrorKind, where, what string) {
	switch n := len(p.r.Problems); {
	case n < maxProblems:
		p.r.Problems = append(p.r.Problems, backend.Problem{Kind: kind, Where: p.clean(where, 300), What: p.clean(what, 400), Subject: subject, At: p.s.deps.Now()})
	case n == maxProblems:
		p.r.Problems = append(p.r.Problems, backend.Problem{Kind: kind, At: p.s.deps.Now(), What: backend.Textf("more than %d problems; the rest is not listed", maxProblems)})
	}
}

func (p *poll) note(format backend.Literal, args ...any) {
	p.r.Notes = append(p.r.Notes, backend.Textf(format, args...))
}

func (p *poll) clean(raw string, limit int) backend.Safe {
	return p.s.regions[0].place.client.Cleaner().Clean(raw, limit)
}
