package agentuity

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

const (
	rowsAsked   = 100 // executions, jobs and events of a sandbox each: the most that the platform gives
	statusAsked = 40  // status requests of one poll
)

// urgent reports whether a sandbox is looked at as often as the budget allows.
func (p *poll) urgent(b *box) bool {
	return p.attention.alerting[b.id] || b.suspect.since(p.now) || b.work.unsettled()
}

// subjects are the sandboxes whose executions, jobs and events may be read.
func (p *poll) subjects() []wire.SweepSubject {
	type life struct {
		status string
		count  int
	}
	var out []wire.SweepSubject
	for key, b := range p.s.boxes {
		seen := p.attention.alerting[key] || p.attention.visible[key]
		if b.unread() || !live(b.status) && !transit(b.status) && !seen && !b.fellAsleep() {
			continue
		}
		x := wire.SweepSubject{ID: key, Life: life{b.status, b.executions}, Former: p.s.readOf[key]}
		switch {
		case p.urgent(b):
			x.Rank = wire.SweepAlerting
		case p.attention.visible[key]:
			x.Rank = wire.SweepVisible
		}
		out = append(out, x)
	}
	return out
}

// fellAsleep reports whether a sandbox sleeps and its events were not read since.
func (b *box) fellAsleep() bool {
	return classOf(b.status) == backend.SandboxAsleep && !b.events.at.After(b.since)
}

// readBoxes reads what is due about single sandboxes: the status of those in doubt first, then executions, jobs and events.
func (p *poll) readBoxes() {
	var jobs, looked []job
	doubtful, inTrouble := p.doubtful()
	for i, key := range doubtful {
		ask := p.readStatus
		if p.s.boxes[key].unread() {
			ask = p.readFormer
		}
		if one := ask(p.s.boxes[key]); i < inTrouble {
			jobs = append(jobs, one)
		} else {
			looked = append(looked, one)
		}
	}
	due := p.s.backlog
	subjects := p.subjects()
	p.swept = len(subjects)
	for _, key := range p.s.sweep.Due(p.now, subjects) {
		if b := p.s.boxes[key]; b != nil {
			b.hasRead = [3]bool{} // it changed since a turn that the budget cut short
		}
		if !slices.Contains(due, key) {
			due = append(due, key)
		}
	}
	urgent := func(key backend.ID) int {
		if b := p.s.boxes[key]; b != nil && p.urgent(b) {
			return 0
		}
		return 1
	}
	stable.Sort(due, func(a, b backend.ID) int { return cmp.Compare(urgent(a), urgent(b)) })
	status := len(jobs)
	for _, key := range due {
		if b := p.s.boxes[key]; b != nil {
			jobs = append(jobs, p.readBox(b))
		}
	}
	p.s.backlog = nil
	unbegun := p.run(append(jobs, looked...)) // the status of what is only looked at comes last: the sweep may not wait for it
	if begun := len(jobs) + len(looked) - unbegun; begun < len(jobs) {
		p.s.backlog = append(p.s.backlog, due[max(0, min(len(due), begun-status)):]...)
	}
	p.partial = p.partial || unbegun > 0
}

// doubtful are the sandboxes whose status is asked for: those that left a list or that alert, so many first, then those on a
// screen.
func (p *poll) doubtful() (out []backend.ID, inTrouble int) {
	out = slices.Clone(p.left)
	for key, b := range p.s.boxes {
		if (b.lost || p.attention.alerting[key] || p.attention.visible[key]) && !slices.Contains(p.left, key) {
			out = append(out, key)
		}
	}
	rank := func(key backend.ID) int {
		if b := p.s.boxes[key]; b.lost || p.attention.alerting[key] {
			return 0
		}
		return 1
	}
	stable.Sort(out, func(x, y backend.ID) int {
		if c := rank(x) - rank(y); c != 0 {
			return c
		}
		if c := p.s.boxes[x].views.at.Compare(p.s.boxes[y].views.at); c != 0 {
			return c
		}
		return x.Compare(y)
	})
	out = out[:min(len(out), statusAsked)]
	for _, key := range out {
		if rank(key) == 0 {
			inTrouble++
		}
	}
	return out, inTrouble
}

// ask asks a route of a sandbox in its region.
func (p *poll) ask(ctx context.Context, b *box, route, path string, query url.Values) (*answer, *failure) {
	if !p.pay(b) {
		return nil, errLater
	}
	return p.askPaid(ctx, b, route, path, query)
}

// pay takes one request to the region of a sandbox out of the budget.
func (p *poll) pay(b *box) bool { return p.s.regionOf(b).place.budget.Wait(p.slice) }

// askPaid asks where the budget has room. A region that says that another one has the sandbox (421) is believed once, where
// that one is configured.
func (p *poll) askPaid(ctx context.Context, b *box, route, path string, query url.Values) (*answer, *failure) {
	in := p.s.regionOf(b)
	a, f := in.place.get(ctx, route, path, query)
	in.answers.add(counted{p.s.deps.Now(), b.id, f != nil && f.status >= 500})
	if !f.is(http.StatusMisdirectedRequest) {
		return a, f
	}
	i := slices.IndexFunc(p.s.regions, func(r *region) bool { return r.name == f.region && r != in })
	if i < 0 {
		return a, f
	}
	a, f = p.askIn(ctx, p.s.regions[i], route, path, query)
	if f == nil {
		p.s.found(b.id, p.s.regions[i])
	}
	return a, f
}

func (p *poll) askIn(ctx context.Context, r *region, route, path string, query url.Values) (*answer, *failure) {
	if !r.place.budget.Wait(p.slice) {
		return nil, errLater
	}
	return r.place.get(ctx, route, path, query)
}

// errLater stands for a request that the budget of this poll has no room for.
var errLater = &failure{err: context.DeadlineExceeded}

// readBox reads executions, jobs and events of a sandbox. What the budget of this poll has no room for is first in the next.
func (p *poll) readBox(b *box) job {
	parts := [3]struct {
		route string
		query url.Values
		take  func(*box, *answer)
	}{
		{"executions", url.Values{"limit": {strconv.Itoa(rowsAsked)}}, p.takeExecutions}, {"jobs", url.Values{"limit": {strconv.Itoa(rowsAsked)}}, p.takeJobs},
		{"events", url.Values{"limit": {strconv.Itoa(rowsAsked)}, "direction": {"desc"}}, p.takeEvents},
	}
	read := b.hasRead
	if b.fellAsleep() && !p.attention.alerting[b.id] && !p.attention.visible[b.id] {
		read[0], read[1] = true, true // nothing runs in it: its events tell when it was suspended
	}
	return func(ctx context.Context) func() {
		at := "/sandbox/sandboxes/" + url.PathEscape(b.id.Raw()) + "/"
		var answers [3]*answer
		var failures [3]*failure
		for i, x := range parts {
			if !read[i] {
				answers[i], failures[i] = p.ask(ctx, b, x.route, at+x.route, x.query)
			}
		}
		where := location{}
		for _, f := range failures {
			if f != nil && f != errLater && !where.asked {
				where = p.locate(ctx, b, f)
			}
		}
		return func() {
			if p.s.boxes[b.id] != b {
				return // it ended meanwhile
			}
			if p.located(b, where) {
				p.end(b.id)
				return
			}
			b.hasRead, b.touched, b.work.shapeless = [3]bool{}, true, nil
			later := slices.Contains(failures[:], errLater)
			for i, f := range failures {
				if answers[i] != nil && f == nil {
					parts[i].take(b, answers[i])
				}
				b.hasRead[i] = later && f != errLater
			}
			if later {
				p.s.backlog = append(p.s.backlog, b.id)
			}
			if f := failures[0]; f != nil && f != errLater {
				b.observe(backend.Verdict{Plane: backend.PlaneQueue, Outcome: backend.OutcomeUnknown, At: p.now, Passive: true,
					What: backend.Text("its executions cannot be read"), Evidence: []backend.Safe{p.clean(f.said(), 400)}})
			}
			for _, f := range failures {
				if f != nil && f != errLater {
					p.failed(b, f)
					b.fails++
					return
				}
			}
			if !later && b.work.shapeless == nil {
				b.fails, p.s.readOf[b.id] = 0, p.now
				if b.problem != nil && b.problem.At.Before(p.now) { // what another route said in this poll stays
					b.problem = nil
				}
			} else if b.work.shapeless != nil {
				p.failed(b, b.work.shapeless)
				b.fails++
			}
		}
	}
}

// failed notes why something about a sandbox cannot be read.
func (p *poll) failed(b *box, f *failure) {
	kind, where, what := p.explain(f, b)
	if b.barred = p.refusedAlone(b, f); b.barred {
		b.observe(backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeUnknown, Kind: backend.FailUnauthorised, At: p.now, Passive: true,
			What: p.clean(what, 300), Evidence: []backend.Safe{p.clean(f.said(), 400)}})
	}
	b.problem = &backend.Problem{Kind: kind, Where: p.clean(where, 300), What: p.clean(what, 400), Subject: b.key(p.s), At: p.now}
}

func (b *box) key(s *Source) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: s.deps.ID, ID: b.id}
}
