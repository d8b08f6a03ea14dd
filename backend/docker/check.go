package docker

import (
	"context"
	"io/fs"
	"math/rand/v2"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/backend/workdir"
)

const (
	// checksPerSecond bounds the looks at working directories. One costs a 20.10 engine 0.3 ms of CPU.
	checksPerSecond = 20
	// firstChecks are so many seconds of checks: a first poll, and so a command that polls once, looks at 200 containers.
	firstChecks = 10 * time.Second
	// firstPatience is how long the first poll starts such checks.
	firstPatience = time.Second
	// topEvery is how often the processes of a container on another machine are looked at, as far as frozen_looks allows.
	topEvery = 5 * time.Minute
	// checkers are how many checks run at once; enough of the requests in flight are left for inspections.
	checkers = 4
	// refusedFor is how long nothing is asked of an engine whose proxy refuses such questions.
	refusedFor = 10 * time.Minute
)

// checker looks at what containers are inside, beside the polls and without side effects.
type checker struct {
	host  workdir.Host
	roots *wire.Sweep   // working directories, and main processes of this machine
	tops  *wire.Sweep   // main processes of another machine
	first time.Duration // how long the first poll's checks may take

	// What follows is guarded by Source.mu.
	running bool
	done    []checkResult
	// refused is until when a kind of question is not asked: "archive", "top".
	refused map[string]time.Time
	states  map[backend.ID]workdir.State // newest of each container
	news    bool                         // one of them changed since the last poll
}

// checkJob is one container to look at. The inspection is never written again.
type checkJob struct {
	id  backend.ID
	ins *inspection
}

// checkResult is what one look found.
type checkResult struct {
	checkJob
	at      time.Time
	process *workdir.Process // nil: not to be seen
	root    *rootResult      // nil: not looked at
	topped  bool
}

type rootResult struct {
	workdir.Root
	denial *workdir.Denial
	took   time.Duration
	err    error
}

func newChecker(o Options, deps backend.Deps, every time.Duration) *checker {
	limits := wire.SweepLimits{Every: o.WorkdirSweep.Std(), Gap: min(10*time.Second, o.WorkdirSweep.Std()/3), Period: every,
		PerSecond: checksPerSecond, Hold: firstChecks, AtOnce: checkers}
	if o.WorkdirSweep <= 0 { // only the processes of this machine, which cost the engine nothing
		limits.Every, limits.Gap = o.FrozenAfter.Std(), o.FrozenAfter.Std()/2
	}
	tops := wire.SweepLimits{Every: topEvery, Gap: o.FrozenAfter.Std() / 2, Period: every, PerSecond: float64(o.FrozenLooks) / 60, Hold: topEvery, AtOnce: 1}
	return &checker{first: 2 * firstPatience, host: workdir.Host{Proc: "/proc", Passive: true}, refused: map[string]time.Time{}, states: map[backend.ID]workdir.State{},
		roots: wire.NewSweep(limits, deps.Now, rand.Float64), tops: wire.NewSweep(tops, deps.Now, rand.Float64)} // #nosec G404 -- spreads work
}

// mergeChecks takes what was found since the last poll.
func (p *poll) mergeChecks() {
	s := p.s
	s.mu.Lock()
	done := s.check.done
	s.check.done = nil
	s.mu.Unlock()
	for _, r := range done {
		p.checked(r)
	}
}

func (p *poll) checked(r checkResult) {
	e := p.s.entries[r.id.Raw()]
	if e == nil || !e.alive() || e.started() != r.ins.started {
		return // it was started again or ended since
	}
	if r.root != nil {
		p.rootSeen(e, r)
	}
	switch {
	case p.s.opt.FrozenAfter <= 0:
	case e.state() != "running":
		e.frozenSince = time.Time{}
	case r.process != nil || r.topped:
		p.processSeen(e, r)
	default:
		e.far = true
	}
}

// startChecks begins what is due. The first poll waits for its checks for a moment, so that a console begins with them; the polls of
// a command wait for all of theirs.
func (p *poll) startChecks(first bool) {
	s := p.s
	s.mu.Lock()
	running := s.check.running
	s.mu.Unlock()
	if running {
		return
	}
	jobs := p.subjects()
	p.checking = len(jobs.roots)
	roots, tops := s.check.roots.Due(p.r.Started, jobs.roots), s.check.tops.Due(p.r.Started, jobs.tops)
	check := func(ctx context.Context, id backend.ID) checkResult { return s.look(ctx, p.eng, jobs.of[id]) }
	if first && !p.waits {
		quick := *p
		ctx, cancel := context.WithTimeout(p.ctx, s.check.first)
		defer cancel()
		quick.ctx = ctx
		quick.checkNow(roots, check, func(r checkResult) {
			if r.root == nil || r.root.err == nil || backend.KindOf(r.root.err) != backend.ErrTimeout { // a slow engine has time later
				p.checked(r)
			}
		})
		return
	}
	if p.waits {
		p.checkNow(roots, check, p.checked)
		p.checkNow(tops, func(ctx context.Context, id backend.ID) checkResult { return s.top(ctx, p.eng, jobs.of[id]) }, p.checked)
		return
	}
	if len(roots)+len(tops) == 0 {
		return
	}
	s.mu.Lock()
	s.check.running = true
	s.mu.Unlock()
	keep := func(r checkResult) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.check.done = append(s.check.done, r)
		if r.root != nil && r.root.err == nil && s.check.states[r.id] != r.root.State {
			s.check.news = s.check.news || s.check.states[r.id] != "" || r.root.State != workdir.There
			s.check.states[r.id] = r.root.State
		}
	}
	s.check.roots.Run(s.life, s.deps.Spawn, "check "+s.deps.ID, roots, func(ctx context.Context, id backend.ID) {
		s.inSlot(ctx, func(ctx context.Context) { keep(check(ctx, id)) })
	}, func() {
		s.check.tops.Run(s.life, s.deps.Spawn, "look at processes of "+s.deps.ID, tops, func(ctx context.Context, id backend.ID) {
			s.inSlot(ctx, func(ctx context.Context) { keep(s.top(ctx, p.eng, jobs.of[id])) })
		}, s.checksEnded)
	})
}

// checkNow checks containers before it returns, and leaves out those that have no time.
func (p *poll) checkNow(ids []backend.ID, check func(context.Context, backend.ID) checkResult, found func(checkResult)) {
	due := make([]*cachedContainer, 0, len(ids))
	for _, id := range ids {
		due = append(due, p.s.entries[id.Raw()])
	}
	fanOut(p, "check "+p.s.deps.ID, due, func(ctx context.Context, e *cachedContainer) checkResult { return check(ctx, e.id) },
		func(_ *cachedContainer, r checkResult) { found(r) })
}

// checksEnded asks for a poll when something was found that is news.
func (s *Source) checksEnded() {
	s.mu.Lock()
	news, changed := s.check.news, s.changed
	s.check.running, s.check.news = false, false
	s.mu.Unlock()
	if news && changed != nil {
		changed()
	}
}

// inSlot runs one look within the requests in flight and its deadline.
func (s *Source) inSlot(ctx context.Context, do func(context.Context)) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-s.slots }()
	ctx, cancel := context.WithTimeout(ctx, s.deadline(ctx))
	defer cancel()
	do(ctx)
}

// checkSubjects are the containers that may be looked at.
type checkSubjects struct {
	roots, tops []wire.SweepSubject
	of          map[backend.ID]checkJob
}

// subjects lists the running and paused containers that are judged.
func (p *poll) subjects() checkSubjects {
	s, now := p.s, p.r.Started
	out := checkSubjects{of: map[backend.ID]checkJob{}}
	s.mu.Lock()
	attn := s.attn
	alerting := make(map[backend.ID]bool, len(s.alerting))
	for _, id := range s.alerting {
		alerting[id] = true
	}
	noTop := now.Before(s.check.refused["top"])
	s.mu.Unlock()
	for _, e := range s.entries {
		if !e.current() || !e.alive() || !s.judged(e) || now.Before(e.rootRetry) || e.ins.raw.Platform == "windows" {
			continue
		}
		x := wire.SweepSubject{ID: e.id, Life: e.ins.started}
		switch {
		case alerting[e.id]:
			x.Rank = wire.SweepAlerting
		case attn[e.id]:
			x.Rank = wire.SweepVisible
		}
		if !e.frozenSince.IsZero() { // proved within the threshold and a gap
			x.Rank = wire.SweepAlerting
		}
		out.of[e.id] = checkJob{e.id, e.ins}
		if s.opt.FrozenAfter > 0 || s.checksRoot(e.ins) {
			out.roots = append(out.roots, x)
		}
		if s.opt.FrozenAfter > 0 && e.far && !noTop && e.state() == "running" {
			if x.Rank == wire.SweepRest && e.idle {
				x.Rank = wire.SweepVisible
			}
			out.tops = append(out.tops, x)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.check.states {
		if _, here := out.of[id]; !here {
			delete(s.check.states, id)
		}
	}
	return out
}

func (s *Source) checksRoot(ins *inspection) bool {
	return s.opt.WorkdirSweep > 0 && (ins.place.Dir != "/" || !ins.place.Superuser()) // who may enter / is seen at no cost to the engine
}

// look looks at one container: its main process through this machine's kernel, its working directory through its engine.
func (s *Source) look(ctx context.Context, eng engine, j checkJob) checkResult {
	out := checkResult{checkJob: j, at: s.deps.Now()}
	if s.opt.FrozenAfter > 0 && j.ins.state == "running" {
		if x, seen := s.check.host.Process(&j.ins.place); seen {
			out.process = &x
		}
	}
	if !s.checksRoot(j.ins) || s.refuses("archive") {
		return out
	}
	if j.ins.place.Dir == "/" && !s.check.host.Local(&j.ins.place) {
		return out
	}
	r := &rootResult{}
	stat := func(ctx context.Context, path string) (fs.FileMode, string, error) {
		began := s.deps.Now()
		mode, target, err := eng.stat(ctx, j.id.Raw(), path)
		s.learn("archive", err, s.deps.Now().Sub(began))
		return mode, target, err
	}
	r.Root, r.err = s.check.host.Look(ctx, &j.ins.place, stat)
	if r.err == nil && (r.State == workdir.Missing || r.State == workdir.Dangling) && len(r.Looked) > 0 {
		// Of a container that was just removed every path is missing.
		if _, _, err := stat(ctx, "/"); err != nil {
			r.err = err
		}
	}
	if d, denied := s.check.host.Denied(&j.ins.place, r.Root); r.err == nil && denied {
		r.denial = &d
	}
	out.root, r.took = r, s.deps.Now().Sub(out.at)
	out.at = s.deps.Now()
	return out
}

// top asks the engine for the processes of one container.
func (s *Source) top(ctx context.Context, eng engine, j checkJob) checkResult {
	out := checkResult{checkJob: j, topped: true}
	titles, rows, err := eng.top(ctx, j.id.Raw())
	if s.learn("top", err, 0); err == nil {
		if x, seen := workdir.ProcessOf(&j.ins.place, titles, rows); seen {
			out.process = &x
		}
	}
	out.at = s.deps.Now()
	return out
}

// learn slows the checks down when the engine complains, and stops those that its proxy refuses.
func (s *Source) learn(what string, err error, took time.Duration) {
	switch kind := backend.KindOf(err); {
	case err == nil || kind == backend.ErrGone:
		if what == "archive" {
			s.check.roots.Observe(200, took, 0)
		}
	case kind == backend.ErrThrottled:
		s.check.roots.Observe(429, took, retryAfter(err))
	case kind == backend.ErrTimeout:
		s.check.roots.Observe(503, took, 0)
	case kind == backend.ErrUnauthorised, what == "top" && kind != backend.ErrUnreachable:
		s.mu.Lock()
		s.check.refused[what] = s.deps.Now().Add(refusedFor)
		s.mu.Unlock()
	}
}

// checkWords says what the checks lack.
func (p *poll) checkWords() {
	s := p.s
	if s.opt.WorkdirSweep <= 0 {
		return
	}
	if longest := s.check.roots.Longest(p.checking); longest > s.opt.WorkdirSweep.Std() {
		p.note("working directories: %d containers are looked at every %s, %d a second", p.checking, backend.Age(longest), checksPerSecond)
	}
	if s.refuses("archive") {
		p.note("working directories are not looked at: HEAD on /containers/{id}/archive is refused")
	}
}

func (s *Source) refuses(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deps.Now().Before(s.check.refused[what])
}
